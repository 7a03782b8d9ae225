import type { Check, Finding } from '../finding.ts';
import { ok, problem, unknown, warning } from '../finding.ts';
import { readOffer } from '../offer.ts';
import { urlOf } from '../site.ts';
import type { Reply } from '../visitor.ts';

interface Facts {
  readonly site: string;
  readonly isHttps: boolean;
  readonly isElsewhere: boolean;
  readonly front: Reply;
  /** The same page by plain http, as an agent; null when it was not asked. */
  readonly plain: Reply | null;
  /** The address that the offer of the page names; null without an offer. */
  readonly offered: string | null;
}

/** Is the site reached by https, and does its gate know the public address behind its proxy? */
export const addressCheck: Check<Facts> = {
  id: 'address',
  probe: async (world) => {
    const { site, connectTo } = world;
    const page = (await world.page()) ?? '/';
    const front = await world.asAgent(page);
    const isHttps = site.protocol === 'https:';
    const isStandard = isHttps && connectTo === undefined && site.port === '';
    const plain = isStandard ? await world.visit(page, { as: 'agent', plainHttp: true }) : null;
    const read = front.came ? readOffer(front.headers['payment-required'], front.body) : null;
    const offered = read?.ok ? read.offer.resource : null;
    return { site: site.host, isHttps, isElsewhere: connectTo !== undefined, front, plain, offered };
  },
  judge: (facts) => {
    if (!facts.front.came) return [unreached(facts, facts.front.why)];
    return [...tlsFindings(facts), ...plainFindings(facts), ...offerFindings(facts)];
  },
};

function unreached({ site, isElsewhere }: Facts, why: Exclude<Reply, { came: true }>['why']): Finding {
  if (why === 'budget') return unknown('The site was not asked: this run has asked all it may.', 'Run it with fewer pages.');
  if (why === 'tls')
    return problem(
      `${site} has no TLS certificate that is good for it.`,
      'Renew the certificate, for this very name and with its chain.',
    );
  const how = why === 'timeout' ? 'does not answer within 10 s' : 'cannot be reached';
  const todo = isElsewhere
    ? 'See that a server runs at the address of --connect-to.'
    : 'See that the site runs and that this machine may connect to it. For a server that is not public, name it: --connect-to http://127.0.0.1:8080';
  return problem(`${site} ${how}.`, todo);
}

function tlsFindings({ site, isHttps, isElsewhere }: Facts): Finding[] {
  if (isElsewhere)
    return [unknown('TLS was not tested, because --connect-to bypasses it.', 'Run this once without --connect-to.')];
  if (isHttps) return [ok(`${site} answers by https.`)];
  return [warning('The site was asked by plain http.', 'Name its public address: --site https://…')];
}

function plainFindings({ plain }: Facts): Finding[] {
  if (!plain?.came || plain.status !== 200) return [];
  return [problem('By plain http an agent gets the page free.', 'Redirect http to https before anything else answers.')];
}

function offerFindings({ site, offered }: Facts): Finding[] {
  const url = offered === null ? null : urlOf(offered);
  if (url === null)
    return [
      unknown('Which address the gate gives to its pages could not be told: no offer came.', 'See the finding about the offer.'),
    ];
  if (url.protocol === 'https:' && url.host === site) return [ok(`Offers name the page as https://${site}/….`)];
  return [
    problem(
      `Offers name the page as ${url.origin}/…, not https://${site}/…: the gate does not see through the proxy in front of it.`,
      `Let the proxy forward the host (nginx: proxy_set_header Host $host;). If it cannot, and this is the site's only host, give the package origin: 'https://${site}'.`,
    ),
  ];
}
