/**
 * How often each caller may call. Callers are told apart by what they cannot make up for free: their address while they show no
 * credential or a wrong one, and then the key, the site, or the account that the credential turned out to be. Limits are of one process.
 *
 * What bounds the memory: so many buckets of a kind, the ones used last. Addresses have buckets of their own kind, so that a flood of
 * addresses pushes out no key. To push out the bucket of an address takes calls from as many other addresses as there are buckets within
 * the seconds that one takes to fill; whoever has so many may make as many times what one may anyway, so it gains him nothing.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isServiceError, ServiceError } from '../domain/errors.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { Rate } from '../domain/rate.ts';
import { giveBack, spend } from '../domain/rate.ts';

/** What is counted: addresses of anonymous calls and of refused credentials, keys and their sites, accounts and their addresses. */
const KINDS = ['address', 'refused', 'key', 'tenant', 'account', 'account_address'] as const;
/** One of them. */
export type RateKind = (typeof KINDS)[number];

/** Points a second of each kind, and for how many seconds a bucket that is full lasts. */
export interface RateLimits {
  readonly perSecond: Readonly<Record<RateKind, number>>;
  readonly burstSeconds: number;
}

/** Whom a credential names: buckets that all must hold what a call costs. */
export type Holder = readonly (readonly [kind: RateKind, name: string])[];

/** A call with a credential that is not looked at yet. */
export interface Presented {
  readonly token: string;
  readonly address: string;
  readonly cost: number;
}

/** The rates of one process. */
export interface Rates {
  /** Counts a call of this holder. Throws throttled (429) with the seconds to wait, in which case nothing is counted. */
  count(holder: Holder, cost: number): void;
  /**
   * Lets a credential in and counts the call, before `letIn` when the credential was let in before: then for its holder, else for what the
   * address may get wrong, which it gets back when the credential is right. Throws throttled and what `letIn` throws.
   */
  present<T>(call: Presented, letIn: () => Promise<T>, holderOf: HolderOf<T>): Promise<T>;
}

/** Whom a caller that was let in counts for; `name` stands for its credential, and does not show it. */
export type HolderOf<T> = (caller: T, name: string) => Holder | Promise<Holder>;

const MOST_BUCKETS = 50_000;
const MOST_HOLDERS = 50_000;

/** A call above its caller's rate (429). */
export class RateExceeded extends ServiceError {
  constructor(waitMs: number) {
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
    super('throttled', 'too many calls; ask again after the time that Retry-After says', { retryAfterSeconds });
  }
}

/** Opens them, every bucket full. */
export function openRates(options: {
  readonly limits: RateLimits;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  readonly metrics?: Pick<Metrics, 'count'> | undefined;
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

class BucketRates implements Rates {
  readonly #clock: () => number;
  readonly #metrics: Pick<Metrics, 'count'> | undefined;
  readonly #rates: Readonly<Record<RateKind, Rate>>;
  readonly #buckets: Readonly<Record<RateKind, LRUCache<string, Bucket>>>;
  /** By the hash of a credential that was let in. That it still is decides `letIn`, each time; this says only who pays for the question. */
  readonly #holders = new LRUCache<string, Holder>({ max: MOST_HOLDERS });
  /** Credentials whose first question is on its way: those who ask the same meanwhile share its answer, and so its price. */
  readonly #asking = new Set<string>();

  constructor({ limits, clock, metrics }: Parameters<typeof openRates>[0]) {
    const { perSecond, burstSeconds } = limits;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#rates = byKind((kind) => ({ perSecond: perSecond[kind], burst: perSecond[kind] * burstSeconds }));
    this.#buckets = byKind(() => new LRUCache<string, Bucket>({ max: MOST_BUCKETS }));
  }

  count(holder: Holder, cost: number): void {
    const nowMs = this.#clock();
    const spent = holder.map(([kind, name]) => {
      const bucket = this.#bucket(kind, name);
      return { kind, bucket, ...spend(bucket.fullAtMs, cost, this.#rates[kind], nowMs) };
    });
    const refused = spent.reduce((most, one) => (one.waitMs > most.waitMs ? one : most), {
      kind: KINDS[0] as RateKind,
      waitMs: 0,
    });
    if (refused.waitMs > 0) {
      this.#metrics?.count('svc.rate_limited', 1, { by: refused.kind });
      throw new RateExceeded(refused.waitMs);
    }
    for (const { bucket, fullAtMs } of spent) bucket.fullAtMs = fullAtMs;
  }

  async present<T>(call: Presented, letIn: () => Promise<T>, holderOf: HolderOf<T>): Promise<T> {
    const name = hash('sha256', call.token, 'base64');
    const known = this.#holders.get(name);
    if (known) {
      this.count(known, call.cost);
      return await letIn().catch((error: unknown) => {
        if (isRefusal(error)) this.#holders.delete(name);
        throw error;
      });
    }
    const caller = await this.#ask(name, call.address, letIn);
    const holder = await holderOf(caller, name);
    this.#holders.set(name, holder);
    this.count(holder, call.cost);
    return caller;
  }

  async #ask<T>(name: string, address: string, letIn: () => Promise<T>): Promise<T> {
    if (this.#asking.has(name)) return await letIn();
    this.count([['refused', address]], 1);
    this.#asking.add(name);
    let isRight = true;
    try {
      return await letIn();
    } catch (error) {
      isRight = !isRefusal(error);
      // A credential that exists but may not do this is counted by itself from now on: nobody can make up another.
      if (isServiceError(error) && (error.kind === 'forbidden' || error.kind === 'plan'))
        this.#holders.set(name, [['key', name]]);
      throw error;
    } finally {
      this.#asking.delete(name);
      const bucket = this.#bucket('refused', address);
      if (isRight) bucket.fullAtMs = giveBack(bucket.fullAtMs, 1, this.#rates.refused);
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

function isRefusal(error: unknown): boolean {
  return isServiceError(error) && error.kind === 'unauthenticated';
}
