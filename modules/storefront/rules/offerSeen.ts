import type { ResourceUrl } from '../../kernel/hosts/host.ts';
import { parseResource, resourceKeyOf } from '../../kernel/hosts/host.ts';
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

/** A 402 as it came. */
export interface OfferText {
  /** PAYMENT-REQUIRED. */
  readonly header: string | undefined;
  /** '' where it was too long. */
  readonly body: string;
}

/**
 * True when a 402 is our gate's own, for this very page: a readable offer of version 2 for its address, with the hash of the legs that it pays, in the
 * header or, where the header has no room for it, in the body. Any other 402 would be answered to the licence as well. Neither price nor recipient is
 * compared: a gate knows a change of either up to a minute later, and pays by what it offered.
 */
export function isOfferedHere({ header, body }: OfferText, page: Pick<ResourceUrl, 'host' | 'path'>): boolean {
  const offer = readOffer(header);
  if (offer === null || offer.accepts.length === 0) return false;
  const { resource } = offer;
  const offered = isRecord(resource) && typeof resource['url'] === 'string' ? parseResource(resource['url']) : null;
  if (offered === null || resourceKeyOf(offered) !== resourceKeyOf(page)) return false;
  return hasLegsHash(offer) || hasLegsHash(parsed(body));
}

function hasLegsHash(offer: unknown): boolean {
  const extensions = isRecord(offer) ? offer['extensions'] : null;
  const legs = isRecord(extensions) ? extensions['svc-legs'] : null;
  const info = isRecord(legs) ? legs['info'] : null;
  return isRecord(info) && typeof info['legsHash'] === 'string' && /^0x[0-9a-f]{64}$/i.test(info['legsHash']);
}

/** The entries of an offer of version 2, with what can be read of them; null for what is none. */
function entriesOf(header: string | undefined) {
  const offer = readOffer(header);
  if (offer?.accepts.some(({ network, payTo }) => typeof network !== 'string' || typeof payTo !== 'string')) return null;
  return (
    offer?.accepts.map(({ amount, network, payTo }) => ({
      amount: typeof amount === 'string' && /^\d{1,18}$/.test(amount) ? BigInt(amount) : null,
      network: String(network),
      to: String(payTo).toLowerCase(),
    })) ?? null
  );
}

/** An offer of version 2, its entries as far as they are objects; null for what is none. */
function readOffer(header: string | undefined) {
  const offer = header === undefined ? null : parsed(Buffer.from(header, 'base64').toString('utf8'));
  if (!isRecord(offer) || offer['x402Version'] !== 2 || !Array.isArray(offer['accepts'])) return null;
  return { ...offer, accepts: offer['accepts'].filter(isRecord) } as { readonly [member: string]: unknown } & {
    readonly accepts: readonly Readonly<Record<string, unknown>>[];
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
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
