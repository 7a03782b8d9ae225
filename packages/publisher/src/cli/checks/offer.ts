import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import { readOffer } from '../offer.ts';
import type { PageVerdict } from '../sample.ts';
import { verdictOf } from '../sample.ts';
import type { Came, Reply } from '../visitor.ts';
import { headerBytes, MOST_HEADER_BYTES, SHORTER_HEADERS } from '../visitor.ts';

interface Facts {
  readonly page: string | null;
  readonly agentName: string;
  readonly reply: Reply | null;
  /** What the service says the page costs. */
  readonly verdict: PageVerdict;
}

const VARY = ['user-agent', 'payment-signature', 'x-payment', 'authorization'];

/** Does an agent get a 402 that it can pay, and that no cache keeps? */
export const offerCheck: Check<Facts> = {
  id: 'offer',
  probe: async (world) => {
    const [page, agentName] = [await world.page(), await world.agentName()];
    if (page === null) return { page, agentName, reply: null, verdict: 'failed' };
    return { page, agentName, reply: await world.asAgent(page), verdict: verdictOf(await world.quote(page)) };
  },
  judge: ({ page, agentName, reply, verdict }) => {
    if (page === null || reply === null) return [noPage()];
    if (!reply.came) return [unknown(`${page} could not be asked.`, 'See the finding about the address.')];
    if (reply.status !== 402) return [notSold(page, agentName, reply, verdict)];
    const read = readOffer(reply.headers['payment-required'], reply.body);
    if (!read.ok)
      return [
        problem(
          `${agentName} gets a 402 that no client can pay: ${read.says}.`,
          'Send the offer as the package makes it, header and body.',
        ),
      ];
    return [ok(`${agentName} gets a 402 with an offer that can be paid.`), ...lengthFindings(reply), ...cacheFindings(reply)];
  },
};

/** No page is known to try. */
export function noPage(): Finding {
  return unknown('No page that is for sale is known.', 'Name one: --page /articles/…');
}

function notSold(page: string, agentName: string, { status, headers }: Came, verdict: PageVerdict): Finding {
  if (status >= 300 && status < 400) {
    return unknown(`${page} is redirected to ${headers['location'] ?? 'nowhere'}.`, 'Name the page where it leads with --page.');
  }
  if (status === 404) return problem(`${page} answers 404.`, 'Name a page that exists with --page.');
  if (status === 403 || status === 401 || status === 429) {
    return problem(
      `${agentName} gets ${status} for ${page}.`,
      'See whether a firewall refuses agents before they can pay, or your crawler policy does.',
    );
  }
  if (status === 502) {
    return problem(
      `${agentName} gets 502 for ${page}: your proxy got no answer of your app, or one whose headers do not fit its buffer.`,
      'Look into the log of the proxy; nginx writes “upstream sent too big header”. See “Proxies and header sizes” in the docs.',
    );
  }
  if (status >= 500) return problem(`${agentName} gets ${status} for ${page}.`, 'Look into the log of your app.');
  if (verdict === 'priced') {
    return problem(
      `${agentName} gets ${page} free, although it has a price.`,
      'See that the package stands in front of this page, that the CDN or proxy forwards the User-Agent, that its origin is the public ' +
        'address, and that its key is good.',
    );
  }
  if (verdict === 'failed')
    return unknown(
      `${agentName} gets ${status} for ${page}; whether it has a price could not be asked.`,
      'Settle the findings about service and key first.',
    );
  return warning(`${page} is free (${verdict}), so it shows nothing about selling.`, 'Name a page that has a price with --page.');
}

function lengthFindings(reply: Came): Finding[] {
  const bytes = headerBytes(reply);
  if (bytes <= MOST_HEADER_BYTES) return [];
  return [
    problem(`The headers of the 402 have ${bytes} bytes: a proxy with default settings answers 502 instead.`, SHORTER_HEADERS),
  ];
}

function cacheFindings({ headers }: Came): Finding[] {
  const control = (headers['cache-control'] ?? '').toLowerCase();
  const vary = (headers['vary'] ?? '').toLowerCase().split(/\s*,\s*/);
  const missing = vary.includes('*') ? [] : VARY.filter((name) => !vary.includes(name));
  const findings: Finding[] = [];
  if (!/\bno-store\b/.test(control)) {
    findings.push(
      problem(
        'The 402 may be kept by caches: its Cache-Control lacks no-store.',
        'Send Cache-Control: private, no-store, and let nothing after the package change it.',
      ),
    );
  }
  if (missing.length > 0)
    findings.push(
      warning(`The 402 has no Vary for ${missing.join(', ')}.`, 'Send Vary as the package does, and let the proxy keep it.'),
    );
  return findings.length > 0 ? findings : [ok('It says that no cache may keep it.')];
}
