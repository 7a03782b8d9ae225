import { usdText } from '../../kernel/money/money.ts';

/**
 * What an agent who asked a site for a page was answered, judged against the price. Everything of the answer is a stranger's text: nothing of it is
 * repeated but figures.
 */

/** What came of the request: an answer, or why there was none. */
export type PageSight =
  | { readonly ok: true; readonly status: number; readonly paymentRequired: string | undefined }
  | { readonly ok: false; readonly reason: string };

/** What the page is sold for. */
export interface SoldFor {
  /** Micro-USDC. */
  readonly priceMicro: bigint;
  /** Who may be paid on each network (CAIP-2), lower case. */
  readonly payTo: ReadonlyMap<string, string>;
}

/** True when the site offers the page as it is sold; a sentence for its owner, whichever. */
export interface SightVerdict {
  readonly passed: boolean;
  readonly says: string;
}

const SILENCE: Readonly<Record<string, string>> = {
  invalid_url: 'the address of the page cannot be asked for',
  blocked_address: 'the name of the host leads to an address inside a network: it has to be public',
  dns_error: 'the name of the host is not found: its DNS record is missing, or not seen yet',
  timeout: 'the site did not answer within ten seconds',
  tls_error: 'the certificate of the site is not good for this name',
  connection_failed: 'the server does not answer at this name',
  bad_response: 'the server answers with something that is no web page',
  too_large: 'the server answers with something that is no web page',
};

const ANSWERS: Readonly<Record<number, string>> = {
  401: 'the site asks for a password before the gate is reached (401)',
  403: 'the site turns agents away (403): take this kind of agent off the block list, or look at the firewall in front of it',
  404: 'the site has no page at this address (404): name one that exists, or set the article prefixes right',
  429: 'the site says that it was asked too often (429): wait a minute',
};

/** Judges what an agent was answered. */
export function judgeSight(sight: PageSight, sold: SoldFor): SightVerdict {
  if (!sight.ok) return failed(SILENCE[sight.reason] ?? 'the site could not be asked');
  const { status } = sight;
  if (status === 402) return judgeOffer(sight.paymentRequired, sold);
  if (status >= 200 && status < 300) {
    return failed('an agent reads this page free: the package is not in front of it, or its key is of another site');
  }
  if (status >= 300 && status < 400) {
    return failed(`the site sends agents elsewhere (${status}): sell at the address that is redirected to`);
  }
  if (status >= 500) return failed(`the site fails (${status}): look into its log, and whether the gate reaches this service`);
  return failed(ANSWERS[status] ?? `the site answers ${status}, not with an offer (402)`);
}

function judgeOffer(header: string | undefined, { priceMicro, payTo }: SoldFor): SightVerdict {
  const entries = entriesOf(header);
  if (entries === null || entries.length === 0) {
    return failed('the site answers 402 without an offer that can be paid: something else than the package answers');
  }
  const other = entries.find(({ amount }) => amount !== priceMicro);
  if (other) {
    const asked = other.amount === null ? 'no price' : `${usdText(other.amount)} USD`;
    return failed(
      `the site offers ${asked}, and the price is ${usdText(priceMicro)} USD: wait a minute after a change, or look for a cache`,
    );
  }
  if (entries.some(({ network, to }) => payTo.get(network) !== to)) {
    return failed("the offer of the site pays somebody else: the gate's key is of another site, or of another service");
  }
  return { passed: true, says: `an agent is offered the page for ${usdText(priceMicro)} USD, to the authors of the page` };
}

/** The entries of an offer of version 2, with what can be read of them; null for what is none. */
function entriesOf(header: string | undefined) {
  if (header === undefined) return null;
  try {
    const offer: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
    if (!isRecord(offer) || offer['x402Version'] !== 2 || !Array.isArray(offer['accepts'])) return null;
    return offer['accepts'].filter(isRecord).map(({ amount, network, payTo }) => ({
      amount: typeof amount === 'string' && /^\d{1,18}$/.test(amount) ? BigInt(amount) : null,
      network: String(network),
      to: String(payTo).toLowerCase(),
    }));
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function failed(says: string): SightVerdict {
  return { passed: false, says };
}
