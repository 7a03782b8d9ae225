/**
 * What becomes of a request, decided from plain facts: no clock, no network, no memory. What cannot be decided yet is asked for, one fact at a
 * time, in the order in which asking costs least.
 */
import type { Who } from './who.ts';

/** What is known of a request. */
export interface Facts {
  /** True for a path that the package answers by itself (`wellKnown.ts`). */
  readonly isOurs: boolean;
  readonly who: Who;
  /** The site's settings: here, not looked for yet, or not to be had. */
  readonly config: 'known' | 'unasked' | 'away';
  readonly isInScope: boolean;
  /** True for an address that has the name of no page (`aside.ts`). */
  readonly isAside: boolean;
  /** Anything but GET and HEAD is `other`: a server may send the page for those, too. */
  readonly method: 'GET' | 'HEAD' | 'other';
  /** `two`: both headers, with different payments. `long`: more than any payment has. `laden`: with a body, which no page takes. */
  readonly payment: 'none' | 'one' | 'two' | 'long' | 'laden';
  /** `busy`: it could not be looked at now. */
  readonly licence: 'none' | 'shown' | 'good' | 'bad' | 'busy';
  /** Of the wallet that it bought the page. `busy`: it could not be looked at now. */
  readonly proof: 'none' | 'shown' | 'good' | 'bad' | 'busy';
  /**
   * `away`: nobody answers, or our key is refused. `busy`: the service answers, and cannot price this page now. `bad`: it never can. `refused`:
   * its owner does not give it to this agent.
   */
  readonly quote: 'unasked' | 'free' | 'priced' | 'away' | 'busy' | 'refused' | 'bad';
}

/** A verdict that the gate reports; the service itself writes those about money. */
export type Verdict = 'served-free' | 'agent-reread' | 'denied' | 'blocked';

/** What to do. `ask` names the fact that is wanting; all others are final. */
export type Decision =
  | { readonly act: 'serve'; readonly as: 'reader' | 'open' | 'free' | 'licensed' | 'away'; readonly verdict?: Verdict }
  | { readonly act: 'offer'; readonly error?: string; readonly next?: 'fix_request'; readonly verdict?: Verdict }
  /** The site answers; what proves to be a page is offered for money. */
  | { readonly act: 'look' }
  | { readonly act: 'settle' }
  | { readonly act: 'refuse'; readonly status: 400 | 403 | 503; readonly verdict?: Verdict }
  | { readonly act: 'discover' }
  | { readonly act: 'ask'; readonly about: 'config' | 'licence' | 'quote' | 'proof' };

const OFFERS = {
  none: { act: 'offer', verdict: 'denied' },
  two: { act: 'offer', error: 'authorization_invalid: two payments in one request' },
  long: { act: 'offer', error: 'malformed_payment: the payment is too long' },
} as const;

/** Decides about a page without a price from the service, for a caller who would pay. */
export function decideUnpriced(quote: Exclude<Facts['quote'], 'unasked' | 'priced'>): Exclude<Decision, { act: 'ask' }> {
  if (quote === 'free') return { act: 'serve', as: 'free', verdict: 'served-free' };
  if (quote === 'away') return { act: 'serve', as: 'away', verdict: 'served-free' };
  if (quote === 'busy') return { act: 'refuse', status: 503 };
  return quote === 'refused' ? { act: 'refuse', status: 403, verdict: 'blocked' } : { act: 'refuse', status: 400 };
}

/** Decides about one request. Readers, search engines and whom the owner lets in are served before anything is asked. */
export function decide(facts: Facts): Decision {
  const { who, method } = facts;
  if (facts.isOurs) return { act: 'discover' };
  if (who !== 'agent' && who !== 'blocked') return { act: 'serve', as: 'reader' };
  if (facts.config === 'unasked') return { act: 'ask', about: 'config' };
  if (facts.config === 'away') return { act: 'serve', as: 'away', verdict: 'served-free' };
  if (!facts.isInScope) return { act: 'serve', as: 'open' };
  if (who === 'blocked') return { act: 'refuse', status: 403, verdict: 'blocked' };
  if (facts.licence === 'shown') return { act: 'ask', about: 'licence' };
  if (facts.licence === 'good') return { act: 'serve', as: 'licensed', verdict: 'agent-reread' };
  // It may open the page: an offer would have its reader pay again. One that pays as well has decided.
  if (facts.licence === 'busy' && facts.payment === 'none') return { act: 'refuse', status: 503 };
  // Webhooks, forms, feeds, styles: nobody is asked, and nobody waits, for what is no page.
  if (method === 'other' || (facts.isAside && facts.payment === 'none')) return { act: 'look' };
  if (facts.quote === 'unasked') return { act: 'ask', about: 'quote' };
  if (facts.quote !== 'priced') return decideUnpriced(facts.quote);
  if (facts.proof === 'shown' && method === 'GET') return { act: 'ask', about: 'proof' };
  if (facts.proof === 'good') return { act: 'serve', as: 'licensed', verdict: 'agent-reread' };
  // It may have bought the page: an offer would have it pay again. One that pays as well has decided.
  if (facts.proof === 'busy' && facts.payment === 'none') return { act: 'refuse', status: 503 };
  if (facts.payment === 'laden') return { act: 'refuse', status: 400 };
  if (method === 'HEAD') return { act: 'offer' };
  return facts.payment === 'one' ? { act: 'settle' } : OFFERS[facts.payment];
}

/** What verify answered; status 0 when it did not. */
export interface VerifyAnswer {
  readonly status: number;
  /** `x-svc-error-code`. */
  readonly code: string | null;
}

/**
 * What the buyer gets after verify: the page, a fresh offer that says why, or `wait`, which never carries an offer, since a client would pay a
 * second time. `needsOwner`: the site's owner has to mend something.
 */
export function decideSettled({ status, code }: VerifyAnswer): {
  readonly act: 'page' | 'offer' | 'wait';
  readonly needsOwner: boolean;
} {
  if (status === 200) return { act: 'page', needsOwner: false };
  if (status === 402 && code !== 'settlement_pending') return { act: 'offer', needsOwner: false };
  if (code === 'agent_refused') return { act: 'wait', needsOwner: false };
  return { act: 'wait', needsOwner: status === 400 || status === 401 || status === 403 };
}

/** True for a page that may be sold: made whole, with something in it. Everything else costs nothing. */
export function isServable(status: number, bytes: number): boolean {
  return status >= 200 && status < 300 && bytes > 0;
}
