/** One URL and what is known of its health: a breaker, its chain, the age and height of its head. */
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import type { Finality } from '../network.ts';
import type { NodeFacts } from './choice.ts';
import { questionOf } from './choice.ts';
import { finalityTag } from './finality.ts';
import type { Ask } from './transport.ts';
import { Outage, RpcError } from './transport.ts';

/** A block as a look showed it. */
interface Seen {
  readonly number: bigint;
  readonly hash: Hex;
  readonly timeSeconds: number;
  readonly baseFeeWei: bigint;
}

/** How a node is judged. */
export interface NodeSettings {
  /** Null: a network whose id names no chain; its nodes are not compared with it. */
  readonly chainId: number | null;
  readonly blockTimeMs: number;
  readonly lookLimitMs: number;
  /** Where its safe block is asked for. */
  readonly finality: Finality;
}

/** So many calls without an answer one after the other open the breaker. */
const FAILURES_TO_OPEN = 3;
const FIRST_PAUSE_MS = 1_000;
/** Recovery is noticed at the latest after this; a look every five seconds costs a tired node nothing. */
const LONGEST_PAUSE_MS = 5_000;
/** How long a head counts after it was last looked at: the best one outlives its node for so long. */
const REMEMBERED_MS = 60_000;
/** A head older than this at the first look is not moving; less may be a clock that is wrong. */
const OLD_AT_FIRST_MS = 60_000;
const LEAST_STILL_MS = 30_000;
const STILL_BLOCKS = 10;

/** Keeps count of what one URL answers. Until a look has found our chain behind it, and while its breaker is open, it is not up. */
export class ChainNode implements NodeFacts {
  readonly url: string;
  /** Its block at the safe tag, at the last look; null where the node has none. */
  safeBlock: Seen | null = null;
  /** True when its safe block is not the one that the node with the highest safe head has at that height. */
  disagrees = false;
  /** True while it answers for another chain than ours. */
  isForeign = false;
  /** Our clock minus the time of its newest block when that was first seen; null before, and for a head that may stand still. */
  headAgeMs: number | null = null;
  readonly #ask: Ask;
  readonly #settings: NodeSettings;
  #isVerified = false;
  /** Calls without an answer one after the other: of the state of now, on which a node may hang alone, and of everything else. */
  readonly #failures = { state: 0, other: 0 };
  #openings = 0;
  #openUntilMs = 0;
  #head: Seen | null = null;
  #lookedAtMs = 0;
  #movedAtMs = 0;
  #looking: Promise<boolean> | null = null;

  constructor(url: string, ask: Ask, settings: NodeSettings) {
    this.url = url;
    this.#ask = ask;
    this.#settings = settings;
  }

  get isUp(): boolean {
    return this.#isVerified && this.#openUntilMs === 0;
  }

  /** True when a look is due: it is up, or its pause is over. */
  get isDue(): boolean {
    return this.isUp || performance.now() >= this.#openUntilMs;
  }

  get head(): bigint | null {
    return this.headBlock?.number ?? null;
  }

  get headSeconds(): number | null {
    return this.headBlock?.timeSeconds ?? null;
  }

  /** Its newest block, unless the last look that showed one is too long ago. */
  get headBlock(): Seen | null {
    return performance.now() - this.#lookedAtMs > REMEMBERED_MS ? null : this.#head;
  }

  get safe(): bigint | null {
    return this.safeBlock?.number ?? null;
  }

  get isStill(): boolean {
    return this.standstillMs > Math.max(LEAST_STILL_MS, STILL_BLOCKS * this.#settings.blockTimeMs);
  }

  /** For how long its head has not moved, up to the last look. */
  get standstillMs(): number {
    return Math.max(0, this.#lookedAtMs - this.#movedAtMs);
  }

  /** One call, which counts for the breaker. What it answers of looks says nothing of calls. Throws RpcError or Outage. */
  async ask<T>(method: string, params: readonly unknown[], limitMs: number): Promise<T> {
    const kind = questionOf(method, params) === 'state' ? 'state' : 'other';
    try {
      const answer = await this.#ask<T>(this.url, method, params, limitMs);
      this.#failures[kind] = 0;
      return answer;
    } catch (error) {
      if (error instanceof Outage && error.isSick) this.#fail(kind);
      else this.#failures[kind] = 0;
      throw error;
    }
  }

  /** Reads chain id (when it is not known to be ours) and heads; true when it is up afterwards. A look at a time; never rejects. */
  look(): Promise<boolean> {
    this.#looking ??= this.#look()
      .catch(() => undefined)
      .then(() => {
        this.#looking = null;
        return this.isUp;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { chainId, lookLimitMs, finality } = this.#settings;
    const block = (tag: string) => this.ask<RawBlock | null>('eth_getBlockByNumber', [tag, false], lookLimitMs);
    const expected = this.#isVerified ? null : chainId;
    const latest = block('latest');
    const below = async (): Promise<RawBlock | null> => {
      const newest = typeof finality === 'number' ? await latest : null;
      return await block(finalityTag(finality, newest && BigInt(newest.number)));
    };
    const [id, head, safe] = await Promise.all([
      expected === null ? null : this.ask<Hex | null>('eth_chainId', [], lookLimitMs),
      latest,
      below().catch(noneWhereUnknown),
    ]);
    if (expected !== null && id === null) return;
    this.isForeign = expected !== null && Number(id) !== expected;
    if (this.isForeign) return this.#pause();
    this.#isVerified = true;
    if (this.#failures.state < FAILURES_TO_OPEN) this.#openings = 0;
    this.#openUntilMs = 0;
    this.safeBlock = seen(safe);
    if (head) this.#note(seen(head));
  }

  #note(head: Seen | null): void {
    if (head === null) return;
    const isFirst = this.#head === null;
    const isMoved = head.number !== this.#head?.number || head.hash !== this.#head.hash;
    this.#lookedAtMs = performance.now();
    const ageMs = Date.now() - head.timeSeconds * 1_000;
    const isOld = isFirst && ageMs > OLD_AT_FIRST_MS;
    if (isMoved) this.#movedAtMs = this.#lookedAtMs - (isOld ? ageMs : 0);
    if (isMoved && !isOld) this.headAgeMs = ageMs;
    this.#head = head;
  }

  #fail(kind: 'state' | 'other'): void {
    this.#failures[kind] += 1;
    if (this.#failures[kind] >= FAILURES_TO_OPEN) this.#pause();
  }

  /**
   * Opens the breaker; what comes back afterwards may be another node, so its chain is asked for again. One that answers looks and hangs on calls has
   * a single call before it is away again.
   */
  #pause(): void {
    if (performance.now() < this.#openUntilMs) return;
    this.#openUntilMs = performance.now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#openings);
    this.#openings += 1;
    this.#failures.other = 0;
    this.#isVerified = false;
  }
}

interface RawBlock {
  readonly number: Hex;
  readonly hash: Hex;
  readonly timestamp: Hex;
  readonly baseFeePerGas?: Hex;
}

function seen(block: RawBlock | null): Seen | null {
  if (!block) return null;
  const { number, hash, timestamp, baseFeePerGas } = block;
  return { number: BigInt(number), hash, timeSeconds: Number(timestamp), baseFeeWei: BigInt(baseFeePerGas ?? 0) };
}

/** A node without the safe tag answers an error, or that it does not have it. */
function noneWhereUnknown(error: unknown): null {
  if (error instanceof RpcError || (error instanceof Outage && !error.isSick)) return null;
  throw error;
}
