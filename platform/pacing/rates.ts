/**
 * How often each caller may call. Callers are told apart by what they cannot make up for free: their address while they show no
 * credential or a wrong one, and then the key, the site, or the account that the credential turned out to be. Limits are of one process.
 *
 * What bounds the memory: so many buckets of a kind, the ones used last. Addresses have buckets of their own kind, so that a flood of
 * addresses pushes out no key. To push out the bucket of an address takes calls from as many other addresses as there are buckets within
 * the seconds that one takes to fill; a caller with so many may make as many times what one may anyway, and gains nothing.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isServiceError, ServiceError } from '../../modules/kernel/errors.ts';
import type { Metrics } from '../../modules/kernel/metrics.ts';
import type { Rate } from '../../modules/kernel/rate.ts';
import { giveBack, queue, spend } from '../../modules/kernel/rate.ts';

/** What is counted: addresses of anonymous calls and of refused credentials, keys and their sites, accounts and their addresses. */
const KINDS = ['address', 'refused', 'key', 'tenant', 'account', 'account_address'] as const;
/** One of them. */
export type RateKind = (typeof KINDS)[number];

/** Points a second of each kind, and for how many seconds a bucket that is full lasts. */
export interface RateLimits {
  readonly perSecond: Readonly<Record<RateKind, number>>;
  readonly burstSeconds: number;
}

/** Whom a credential names, wherever it is shown: buckets that all must hold what a call costs. */
export type Holder = readonly (readonly [kind: RateKind, name: string])[];

/** A call with a credential that is not looked at yet. */
export interface Presented {
  readonly token: string;
  /** Where this call came from; an account counts for the address of each of its calls. */
  readonly address: string;
  readonly cost: number;
  /** `letIn` does all of the call, and may take as long as its caller likes: nobody waits for its answer, so each is counted. */
  readonly isWhole?: true;
}

/** The rates of one process. */
export interface Rates {
  /** Counts a call of this holder. Throws throttled (429) with the seconds to wait, in which case nothing is counted. */
  count(holder: Holder, cost: number): void;
  /**
   * Counts a call that is not refused for its rate but waits for its turn: the milliseconds it must wait. Null: it would be more than
   * `mostMs`, and nothing is counted.
   */
  queue(holder: Holder[number], cost: number, mostMs: number): number | null;
  /**
   * Lets a credential in and counts the call, before `letIn` when the credential was let in before: then for its holder, else for what the
   * address may get wrong, which it gets back when the credential is right. Many first calls of one credential at once wait for the first
   * of them; when it was wrong the next one pays and asks. Throws throttled and what `letIn` throws.
   */
  present<T>(call: Presented, letIn: () => Promise<T>, holderOf: HolderOf<T>): Promise<T>;
}

/**
 * Whom a credential counts for; `caller` is null when it exists and may not do this. `name` stands for the credential, and does not show it.
 */
export type HolderOf<T> = (caller: T | null, name: string) => Holder | Promise<Holder>;

const MOST_BUCKETS = 50_000;
const MOST_HOLDERS = 50_000;

/** A call above its caller's rate (429). */
export class RateExceeded extends ServiceError {
  /** Whose bucket was empty. */
  readonly by: string;
  /** True where an address has shown too many wrong credentials: this one was not looked at. */
  readonly isUnproven: boolean;

  constructor(waitMs: number, by: string) {
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
    super('throttled', 'too many calls; ask again after the time that Retry-After says', { retryAfterSeconds });
    this.by = by;
    this.isUnproven = by.startsWith('refused ');
  }
}

/** Opens them, every bucket full. */
export function openRates(options: {
  readonly limits: RateLimits;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  readonly metrics?: Pick<Metrics, 'count'> | undefined;
  /** Told of each refusal: whose bucket was empty. */
  readonly onLimited?: (kind: RateKind, name: string) => void;
}): Rates {
  return new BucketRates(options);
}

/** The holder of a publisher key. */
export function holderOfKey({ keyId, tenantId }: { readonly keyId: string; readonly tenantId: string }): Holder {
  return [
    ['key', keyId],
    ['tenant', tenantId],
  ];
}

interface Bucket {
  fullAtMs: number;
}

/** A credential that nobody was let in with yet, and how to find out. */
interface Question<T> {
  readonly name: string;
  readonly call: Presented;
  readonly letIn: () => Promise<T>;
  readonly holderOf: HolderOf<T>;
}

/** Why a question has no answer, right or wrong. */
interface Outage {
  readonly error: unknown;
}

class BucketRates implements Rates {
  readonly #clock: () => number;
  readonly #metrics: Pick<Metrics, 'count'> | undefined;
  readonly #onLimited: ((kind: RateKind, name: string) => void) | undefined;
  readonly #rates: Readonly<Record<RateKind, Rate>>;
  readonly #buckets: Readonly<Record<RateKind, LRUCache<string, Bucket>>>;
  /** By the hash of a credential that was let in. That it still is decides `letIn`, each time; this says only who pays for the question. */
  readonly #holders = new LRUCache<string, Holder>({ max: MOST_HOLDERS });
  /** Credentials whose first question is on its way, for those who ask the same meanwhile; null: it has an answer. */
  readonly #asking = new Map<string, Promise<Outage | null>>();

  constructor({ limits, clock, metrics, onLimited }: Parameters<typeof openRates>[0]) {
    const { perSecond, burstSeconds } = limits;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#onLimited = onLimited;
    this.#rates = byKind((kind) => ({ perSecond: perSecond[kind], burst: perSecond[kind] * burstSeconds }));
    this.#buckets = byKind(() => new LRUCache<string, Bucket>({ max: MOST_BUCKETS }));
  }

  count(holder: Holder, cost: number): void {
    const nowMs = this.#clock();
    const spent = holder.map(([kind, name]) => {
      const bucket = this.#bucket(kind, name);
      return { kind, name, bucket, ...spend(bucket.fullAtMs, cost, this.#rates[kind], nowMs) };
    });
    const refused = spent.reduce((most, one) => (one.waitMs > most.waitMs ? one : most), {
      kind: KINDS[0] as RateKind,
      name: '',
      waitMs: 0,
    });
    if (refused.waitMs > 0) {
      this.#metrics?.count('svc.rate_limited', 1, { by: refused.kind });
      this.#onLimited?.(refused.kind, refused.name);
      throw new RateExceeded(refused.waitMs, `${refused.kind} ${refused.name}`);
    }
    for (const { bucket, fullAtMs } of spent) bucket.fullAtMs = fullAtMs;
  }

  queue([kind, name]: Holder[number], cost: number, mostMs: number): number | null {
    const nowMs = this.#clock();
    const bucket = this.#bucket(kind, name);
    const { fullAtMs, waitMs } = queue(bucket.fullAtMs, cost, this.#rates[kind], nowMs);
    if (waitMs > mostMs) return null;
    bucket.fullAtMs = fullAtMs;
    return waitMs;
  }

  async present<T>(call: Presented, letIn: () => Promise<T>, holderOf: HolderOf<T>): Promise<T> {
    const name = hash('sha256', call.token, 'base64');
    for (;;) {
      const known = this.#holders.get(name);
      if (known) {
        this.count(calledFrom(known, call.address), call.cost);
        return await letIn().catch((error: unknown) => {
          if (isRefusal(error)) this.#holders.delete(name);
          throw error;
        });
      }
      const asking = call.isWhole ? undefined : this.#asking.get(name);
      if (!asking) return await this.#askFirst({ name, call, letIn, holderOf });
      const outage = await asking;
      if (outage) throw outage.error;
    }
  }

  async #askFirst<T>(question: Question<T>): Promise<T> {
    const { name, call } = question;
    this.count([['refused', call.address]], 1);
    const { promise, resolve: tellOthers } = Promise.withResolvers<Outage | null>();
    if (!call.isWhole) this.#asking.set(name, promise);
    let [isRight, outage] = [true, null as Outage | null];
    try {
      const { caller, holder } = await this.#look(question);
      this.count(calledFrom(holder, call.address), call.cost);
      return caller;
    } catch (error) {
      isRight = !isRefusal(error);
      if (isRight && !this.#holders.has(name)) outage = { error };
      throw error;
    } finally {
      if (!call.isWhole) this.#asking.delete(name);
      const bucket = this.#bucket('refused', call.address);
      if (isRight) bucket.fullAtMs = giveBack(bucket.fullAtMs, 1, this.#rates.refused);
      tellOthers(outage);
    }
  }

  async #look<T>({ name, letIn, holderOf }: Question<T>): Promise<{ readonly caller: T; readonly holder: Holder }> {
    try {
      const caller = await letIn();
      const holder = await holderOf(caller, name);
      this.#holders.set(name, holder);
      return { caller, holder };
    } catch (error) {
      // A credential that exists but may not do this is counted as what it is from now on: nobody can make up another.
      if (isForbidden(error)) this.#holders.set(name, await holderOf(null, name));
      throw error;
    }
  }

  #bucket(kind: RateKind, name: string): Bucket {
    const known = this.#buckets[kind].get(name);
    if (known) return known;
    const made = { fullAtMs: Number.NEGATIVE_INFINITY };
    this.#buckets[kind].set(name, made);
    return made;
  }
}

function byKind<T>(make: (kind: RateKind) => T): Readonly<Record<RateKind, T>> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as Record<RateKind, T>;
}

/** A holder's buckets for a call from this address: an account shares what its address may, wherever it was seen before. */
export function calledFrom(holder: Holder, address: string): Holder {
  return holder.some(([kind]) => kind === 'account') ? [...holder, ['account_address', address]] : holder;
}

function isForbidden(error: unknown): boolean {
  return isServiceError(error) && (error.kind === 'forbidden' || error.kind === 'plan');
}

function isRefusal(error: unknown): boolean {
  return isServiceError(error) && error.kind === 'unauthenticated';
}
