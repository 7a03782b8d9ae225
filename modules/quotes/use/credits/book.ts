import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../../db/database.ts';
import type { Outbound } from '../../../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../../../platform/tokens/secretBox.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PageCredits } from '../../../kernel/money/credits.ts';
import type { CreditsSource } from '../../../pricing/rules/pricing.ts';
import { PRICING_GRACE_MS } from '../../../pricing/rules/pricing.ts';
import { payeeRule } from '../../../tenants/use/payees.ts';
import { readCredits } from '../../rules/creditsContract.ts';
import type { CreditsKey } from '../../store/creditsCopies.ts';
import { findCreditsCopy, storeCreditsCopy } from '../../store/creditsCopies.ts';
import { fetchCredits } from './client.ts';
import { openFlights } from './flights.ts';
import { openImports } from './imports.ts';
import type { LookedUpFor, LookupRates, TakeTurn, Turn } from './lookups.ts';
import { openLookups } from './lookups.ts';
import { openCreditsToken } from './token.ts';

/**
 * How long a quote waits for the site's credits API. Gates wait 2 s for a quote, and take a service that is silent for longer as away, for which
 * they give pages free: an agent that slows that API down must not get any.
 */
export const CREDITS_PATIENCE_MS = 1_200;

/**
 * What is known of a page: its credits, `none` when neither its import nor the API names anybody, `free` when the API says so, or `failed` when
 * nobody can say it now.
 */
export type KnownCredits = PageCredits | 'none' | 'free' | 'failed';

/** Questions to a site's API about pages that no copy knows: anybody may invent slugs, at a gate and at the service. */
const UNKNOWN_PAGES: LookupRates = {
  site: { perSecond: 20, burst: 400 },
  strangers: { perSecond: 5, burst: 100 },
  address: { perSecond: 1, burst: 50 },
};
/** Questions about pages whose copy is stale. Each page is asked about once in `freshMs`, so that strangers have no common rate to use up. */
const STALE_PAGES: LookupRates = { site: null, strangers: null, address: { perSecond: 5, burst: 200 } };
/**
 * Reads of paths of a site with imported credits that memory does not have. Anybody may invent those, too, and an invented one costs one look at an
 * index: a common rate would cost the site the sales of its pages.
 */
const UNKNOWN_PATHS: LookupRates = { site: null, strangers: null, address: { perSecond: 10, burst: 100 } };

/** Whose authors are looked up, and where. */
export interface LookedUpPage extends CreditsSource {
  readonly tenantId: string;
  /** Canonical: pages are imported by it. */
  readonly path: string;
  /** The API is asked by it. */
  readonly slug: string;
}

/** The credits of pages that inline credits do not name: as the site imported them, else as its credits API says. */
export interface CreditsBook {
  /** What is known now, from memory alone; undefined: ask `load` first. */
  find(page: LookedUpPage): KnownCredits | undefined;
  /** What was known before the present answer, while a payment may rest on it (safety 17). */
  findPrevious(page: LookedUpPage): KnownCredits | undefined;
  /**
   * Gets an answer into memory: what was imported, else what the shared copies have, else what the API says. Callers at once share one request,
   * which counts for the first of them. Rejects with CreditsNeeded, and asks nobody, where `by` had too many pages looked up; `site` unless told.
   */
  load(page: LookedUpPage, by?: LookedUpFor): Promise<void>;
}

/** What a book is made from. */
export interface CreditsBookOptions {
  readonly database: Database;
  readonly outbound: Outbound;
  /** Opens the tokens that APIs are asked with. */
  readonly secretBox: Pick<SecretBox, 'open'>;
  readonly clock: () => number;
  readonly log: Log;
  /** The asset and the router: never paid. */
  readonly forbidden: readonly string[];
  /** How long an answer is fresh; 5 minutes unless told. */
  readonly freshMs?: number;
  /** How long it serves while the API fails; 24 hours unless told. */
  readonly staleMs?: number;
  /** After a failure of the API or the database: how long nobody asks again; 10 s unless told. */
  readonly pauseMs?: number;
}

interface Held {
  readonly known: KnownCredits;
  /** When the API gave it. */
  readonly atMs: number;
  readonly untilMs: number;
  readonly previous?: { readonly known: KnownCredits; readonly untilMs: number };
}

type CreditsCopy = NonNullable<Awaited<ReturnType<typeof findCreditsCopy>>>;

const MAX_HELD = 50_000;
const PAUSE_MS = 10_000;

/** Opens a book; memory is this process's, the rows behind it are everybody's and outlive a restart. */
export function openCreditsBook(options: CreditsBookOptions): CreditsBook {
  const paths = openLookups(UNKNOWN_PATHS, options.clock);
  const imports = openImports({ ...options, pauseMs: options.pauseMs ?? PAUSE_MS, mostHeld: MAX_HELD });
  const answers = openAnswers(options);
  const find = (page: LookedUpPage): KnownCredits | undefined => {
    const imported = imports.find(page);
    if (imported !== 'none') return imported;
    return hasApi(page) ? answers.find(page) : 'none';
  };
  return {
    find,
    findPrevious: (page) => {
      const former = imports.findPrevious(page);
      if (former !== undefined && former !== 'none') return former;
      if (former === 'none') return hasApi(page) ? answers.find(page) : 'none';
      return imports.find(page) === 'none' && hasApi(page) ? answers.findPrevious(page) : undefined;
    },
    load: async (page, by = 'site') => {
      await imports.load(page, () => void requireTurn(paths, page, by));
      if (imports.find(page) === 'none' && hasApi(page)) await answers.load(page, by);
    },
  };
}

/** A page of a site that has a credits API. */
type ApiPage = LookedUpPage & CreditsKey;

function hasApi(page: LookedUpPage): page is ApiPage {
  return page.apiUrl !== null;
}

/** What credits APIs say, as `CreditsBook` has it. */
interface Answers {
  find(key: ApiPage): KnownCredits | undefined;
  findPrevious(key: ApiPage): KnownCredits | undefined;
  load(key: ApiPage, by: LookedUpFor): Promise<void>;
}

function openAnswers(options: CreditsBookOptions): Answers {
  const { database, outbound, secretBox, clock, log } = options;
  const rule = payeeRule(options.forbidden);
  const freshMs = options.freshMs ?? 300_000;
  const staleMs = options.staleMs ?? 86_400_000;
  const pauseMs = options.pauseMs ?? PAUSE_MS;
  const held = new LRUCache<string, Held>({ max: MAX_HELD });
  const unknown = openLookups(UNKNOWN_PAGES, clock);
  const stale = openLookups(STALE_PAGES, clock);
  const reads = openFlights<CreditsCopy | null>();
  const questions = openFlights<Held>();
  const read = (entry: unknown, page: string): KnownCredits => (entry === null ? 'none' : readCredits(entry, { ...rule, page }));
  const readKept = (entry: unknown, page: string): KnownCredits => {
    try {
      return read(entry, page);
    } catch {
      return 'failed';
    }
  };
  const heldOf = (copy: CreditsCopy, page: string, untilMs: number): Held => {
    const before = copy.previous;
    const previous = before && { known: readKept(before.credits, page), untilMs: before.until.getTime() };
    return { known: readKept(copy.credits, page), atMs: copy.fetchedAt.getTime(), untilMs, ...(previous ? { previous } : {}) };
  };
  const ask = async (key: ApiPage, copy: CreditsCopy | null): Promise<Held> => {
    const nowMs = clock();
    const before = held.get(nameOf(key));
    const ageMs = copy ? nowMs - copy.fetchedAt.getTime() : Number.POSITIVE_INFINITY;
    try {
      const token = await openCreditsToken({ database, secretBox }, key);
      const answer = await fetchCredits(outbound, { ...key, token });
      const entry = answer.kind === 'none' ? null : answer.entry;
      const known = read(entry, key.slug); // before it is kept: a broken answer never replaces a good copy
      const found = { key, credits: entry, at: new Date(nowMs), wasNobody: before?.known === 'none' };
      const kept = await storeCreditsCopy(database, found).catch(() => null);
      return kept ? heldOf(kept, key.slug, nowMs + freshMs) : afterwards(before, known, nowMs);
    } catch (error) {
      const last = copy && ageMs < staleMs ? heldOf(copy, key.slug, nowMs + pauseMs) : stillGood(before, nowMs);
      log.warn({ tenantId: key.tenantId, slug: key.slug, error: String(error), stale: last !== null }, 'a credits API failed');
      return last ?? { known: 'failed', atMs: nowMs, untilMs: nowMs + pauseMs };
    }
  };
  /** What no copy is kept of is known here alone: what it was before, too. */
  const afterwards = (before: Held | undefined, known: KnownCredits, atMs: number): Held => {
    const now = { known, atMs, untilMs: atMs + freshMs };
    if (!before || before.known === 'failed') return now;
    const previous = isDeepStrictEqual(before.known, known) ? before.previous : { known: before.known, untilMs: atMs };
    return previous ? { ...now, previous } : now;
  };
  const stillGood = (before: Held | undefined, nowMs: number): Held | null => {
    const isUsable = before !== undefined && before.known !== 'failed' && nowMs - before.atMs < staleMs;
    return isUsable ? { ...before, untilMs: nowMs + pauseMs } : null;
  };
  const find = (key: ApiPage): KnownCredits | undefined => {
    const found = held.get(nameOf(key));
    return found && clock() < found.untilMs ? found.known : undefined;
  };
  return {
    find,
    findPrevious: (key) => {
      const previous = held.get(nameOf(key))?.previous;
      return previous && clock() - previous.untilMs <= PRICING_GRACE_MS ? previous.known : undefined;
    },
    load: async (key, by) => {
      const name = nameOf(key);
      const copy = await reads(name, () => findCreditsCopy(database, key).catch(() => null));
      if (find(key) !== undefined) return; // another call's answer came meanwhile
      const freshUntilMs = copy ? copy.fetchedAt.getTime() + freshMs : 0;
      if (copy && clock() < freshUntilMs) return void held.set(name, heldOf(copy, key.slug, freshUntilMs));
      await questions(name, () => {
        const turn = requireTurn(copy ? stale : unknown, key, by);
        return ask(key, copy).then((answer) => {
          if (answer.known !== 'failed') turn.ended(answer.known !== 'none');
          held.set(name, answer);
          return answer;
        });
      });
    },
  };
}

function requireTurn(take: TakeTurn, page: LookedUpPage, by: LookedUpFor): Turn {
  const turn = take(page.tenantId, by);
  if (turn.waitMs > 0) throw new CreditsNeeded(page, Math.max(SOON_SECONDS, Math.ceil(turn.waitMs / 1_000)));
  return turn;
}

function nameOf({ tenantId, apiUrl, slug }: CreditsKey): string {
  return `${tenantId} ${apiUrl} ${slug}`;
}

/** A page's credits are not in memory; `key` says which. To a caller that does not load them it is an outage. */
export class CreditsNeeded extends ServiceError {
  readonly key: LookedUpPage;

  constructor(key: LookedUpPage, retryAfterSeconds = 30) {
    super('credits_unavailable', 'the authors of this page are not known right now', { retryAfterSeconds });
    this.key = key;
  }
}

const MAX_LOADS = 12;

/**
 * Runs `work`, which reads credits from memory alone, and again whenever it lacked some and these were loaded. Work that needs
 * none is run once, without waiting for anything but itself. With `patienceMs`, loads that together take longer go on by themselves, and what is
 * lacking is credits_unavailable for the moment.
 */
export async function withCredits<T>(
  book: Pick<CreditsBook, 'load'>,
  work: () => T,
  patienceMs?: number,
  by: LookedUpFor = 'site',
): Promise<T> {
  const endsAtMs = performance.now() + (patienceMs ?? 0);
  for (let loads = 0; ; loads++) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof CreditsNeeded) || loads >= MAX_LOADS) throw error;
      const load = book.load(error.key, by);
      if (patienceMs === undefined) await load;
      else if (!(await endsWithin(load, Math.max(0, endsAtMs - performance.now()))))
        throw new CreditsNeeded(error.key, SOON_SECONDS);
    }
  }
}

/** When a load that still runs has ended, one way or the other. */
const SOON_SECONDS = 3;

/** True when the work ended in time. */
async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
