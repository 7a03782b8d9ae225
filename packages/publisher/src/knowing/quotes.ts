/**
 * What pages cost, kept for a minute, or until the service says that a rule begins or ends; while the service is away, for as long as the
 * quote lives. What bounds the cost of a flood: one call for a page at a time, 64 at once, 100 a second (half of what a key may ask, so
 * that payments get through), and memory for 5,000 pages with a price and 5,000 without.
 */
import type { Client, Failure, Quote, QuoteRequest, Result } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import { Lru } from '../core/lru.ts';
import { isQuote } from '../shapes.ts';
import type { Failures } from '../telling/failures.ts';
import { factsOf, isAway, isKeyRefused, wordsOf } from '../telling/failures.ts';

const FRESH_MS = 60_000;
/** An answer that is said to change sooner is asked for anew no sooner than this. */
const LEAST_FRESH_MS = 50;
const FREE_STALE_MS = 600_000;
const BUSY_MS = 2_000;
const PAGES = 5_000;
const AT_ONCE = 64;
const A_SECOND = 100;

/** A page's price as far as it is known. */
export type Price =
  | { readonly state: 'priced'; readonly quote: Quote }
  | { readonly state: 'free'; readonly because: string | null }
  | { readonly state: 'away' }
  | { readonly state: 'busy'; readonly retryAfter: number }
  /** The site's owner does not give the page to this agent. */
  | { readonly state: 'refused' }
  | { readonly state: 'bad' };

/** What is known of who asks: whose price it is. */
export type Asker = Pick<QuoteRequest, 'agent' | 'category'>;

/** The quotes of a site. */
export interface Quotes {
  /** The price of a page, from memory when it is fresh there; of what another agent is asked nothing is used. */
  find(resource: string, kind: 'read' | 'citation', asker?: Asker): Promise<Price>;
  /** Forgets that a quote is fresh: a payment for it was refused. It stays for when the service is away. */
  doubt(resource: string, kind: 'read' | 'citation', asker?: Asker): void;
}

interface Kept {
  readonly price: Price;
  readonly freshUntilMs: number;
  readonly untilMs: number;
}

/** Opens the memory of quotes. */
export function openQuotes(deps: {
  readonly client: Client;
  readonly now: () => number;
  readonly breaker: Breaker;
  readonly failures: Failures;
  /** Whether offers are signed, and in whose name; not unless told. */
  readonly sign?: '1' | 'host' | null;
}): Quotes {
  const { client, now, breaker, failures, sign = null } = deps;
  const priced = new Lru<Kept>(PAGES);
  const unpriced = new Lru<Kept>(PAGES);
  const flights = new Map<string, Promise<Price>>();

  const second = { at: 0, asked: 0 };
  const isTooMuch = (): boolean => {
    const at = Math.floor(now() / 1_000);
    if (at !== second.at) Object.assign(second, { at, asked: 0 });
    second.asked += 1;
    return second.asked > A_SECOND;
  };
  const keep = (key: string, price: Price, freshMs: number, untilMs: number): Price => {
    const [into, outOf] = price.state === 'priced' ? [priced, unpriced] : [unpriced, priced];
    outOf.delete(key);
    into.set(key, { price, freshUntilMs: now() + freshMs, untilMs });
    return price;
  };
  async function ask(key: string, question: QuoteRequest): Promise<Price> {
    const stale = priced.get(key) ?? unpriced.get(key);
    const known = stale && now() < stale.untilMs ? stale.price : null;
    if (flights.size >= AT_ONCE || isTooMuch()) return known ?? { state: 'busy', retryAfter: 1 };
    if (!breaker.mayCall()) return known ?? awayNow('the service failed five times in a row and is left alone for ten seconds');
    const answer = await client.quote({ ...question, signIn: '1', ...(sign === null ? {} : { sign }) });
    const isRefused = !answer.ok && answer.code === 'agent_refused';
    const isGood = answer.ok && (answer.status === 204 || isQuote(answer.body));
    breaker.note(answer.ok ? !isGood : !isRefused && (isAway(answer) || isKeyRefused(answer)));
    if (isRefused)
      return keep(key, { state: 'refused' }, freshMs((answer.retryAfter ?? Infinity) * 1_000), now() + FREE_STALE_MS);
    if (isGood) return keepAnswer(key, answer);
    const failure: Failure = answer.ok ? { ok: false, why: 'status', status: 502 } : answer;
    if (failure.status === 400) return keep(key, { state: 'bad' }, FRESH_MS, 0);
    if (known) return tell(failure, 'known quotes are used', known);
    if (isAway(failure) || isKeyRefused(failure)) return tell(failure, 'agents read free', { state: 'away' });
    const busy = { state: 'busy', retryAfter: failure.retryAfter ?? 5 } as const;
    return tell(failure, 'agents are told to come back', keep(key, busy, BUSY_MS, 0));
  }
  const keepAnswer = (key: string, { status, headers, body }: Result<Quote | null> & { readonly ok: true }): Price => {
    const fresh = freshMs(Number(headers.get('x-svc-changes-in') ?? Number.NaN));
    if (body && status !== 204)
      return keep(key, { state: 'priced', quote: body }, fresh, Math.min(body.expiresAt, now() + FREE_STALE_MS));
    return keep(key, { state: 'free', because: headers.get('x-svc-free-because') }, fresh, now() + FREE_STALE_MS);
  };
  const tell = (failure: Failure, meanwhile: string, price: Price): Price => {
    const what = isKeyRefused(failure) ? 'key' : 'quote';
    failures.note({ what, message: `${wordsOf(failure)}; ${meanwhile}`, ...factsOf(failure) });
    return price;
  };
  const awayNow = (words: string): Price => {
    failures.note({ what: 'quote', message: `${words}; agents read free` });
    return { state: 'away' };
  };

  return {
    find: (resource, kind, asker = {}) => {
      const key = keyOf(resource, kind, asker);
      const kept = priced.get(key) ?? unpriced.get(key);
      if (kept && now() < kept.freshUntilMs) return Promise.resolve(kept.price);
      const flight = flights.get(key) ?? ask(key, { resource, kind, ...asker }).finally(() => flights.delete(key));
      flights.set(key, flight);
      return flight;
    },
    doubt: (resource, kind, asker = {}) => {
      const key = keyOf(resource, kind, asker);
      const kept = priced.get(key);
      if (kept) priced.set(key, { ...kept, freshUntilMs: 0 });
    },
  };
}

/** For how long an answer is fresh that changes in so many milliseconds; NaN: nobody says when. */
function freshMs(changesInMs: number): number {
  return Number.isNaN(changesInMs) ? FRESH_MS : Math.min(FRESH_MS, Math.max(changesInMs, LEAST_FRESH_MS));
}

/** Neither a host nor an address holds a space. */
function keyOf(resource: string, kind: 'read' | 'citation', { agent, category }: Asker): string {
  return `${kind} ${agent ?? ''} ${category ?? ''} ${resource}`;
}
