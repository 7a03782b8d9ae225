/** The nodes of one network and the looks at them: each question refreshes what is known, at most once a block, and no timer runs. */
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { bestHead, plausibleNodes, supportedHead, timelyNodes } from './choice.ts';
import type { NodeSettings } from './node.ts';
import { ChainNode } from './node.ts';
import type { Ask } from './transport.ts';

/** What one node's health is, for metrics, alerts and the doctor. It names no address: `node` is its place in the configuration, from 1. */
export interface NodeReport {
  readonly node: number;
  readonly state: 'up' | 'away' | 'foreign';
  /** Blocks behind the best head known; null: its head is not known. */
  readonly behindBlocks: number | null;
  /** Seconds for which its head has not moved. */
  readonly standstillSeconds: number | null;
  /** Our clock minus the time of its newest block, in seconds; null: its head is not known. */
  readonly headAgeSeconds: number | null;
  /** Seconds that the chain's clock is ahead of ours, by its newest block; 0 while that was at most one block old when first seen. */
  readonly clockSkewSeconds: number | null;
  /** Its safe block is not the one that the node with the highest safe head has at that height, or its head and another one's refute each other. */
  readonly disagrees: boolean;
}

const SHORTEST_LOOK_MS = 500;
const LONGEST_LOOK_MS = 2_000;

/** Keeps what is known of the nodes of one network. */
export class NodePool {
  readonly nodes: readonly ChainNode[];
  readonly #ask: Ask;
  readonly #settings: NodeSettings;
  readonly #everyMs: number;
  readonly #patienceMs: number;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  /** `patienceMs` is how long a look waits for the other nodes once one has answered. */
  constructor(urls: readonly string[], ask: Ask, settings: NodeSettings, patienceMs: number) {
    this.nodes = urls.map((url) => new ChainNode(url, ask, settings));
    this.#ask = ask;
    this.#settings = settings;
    this.#everyMs = Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, settings.blockTimeMs));
    this.#patienceMs = patienceMs;
  }

  /**
   * Resolves when enough is known to choose: at once while the last look is not older than two blocks, and otherwise after one that all
   * callers share. With no node up every call waits for such a look, which is how one that came back is found.
   */
  async ready(): Promise<void> {
    const ageMs = performance.now() - this.#lookedAtMs;
    const isUsable = this.nodes.some(({ isUp }) => isUp);
    if (isUsable && ageMs < this.#everyMs) return;
    const look = this.#look();
    if (!isUsable || ageMs >= 2 * this.#everyMs) await look;
  }

  /** The nodes whose head no other one refutes. */
  plausible(): readonly ChainNode[] {
    return plausibleNodes(this.nodes, this.#settings.blockTimeMs, Date.now() / 1_000);
  }

  /** The best head that is known now and not refuted; null: none is. */
  knownHead(): bigint | null {
    return bestHead(this.plausible());
  }

  /** The lower of the two highest safe blocks of the timely nodes, so that none alone says what is safe; the only one where one shows any. */
  supportedSafe(): ChainNode['safeBlock'] {
    const timely = timelyNodes(this.nodes, this.#settings.blockTimeMs, Date.now() / 1_000);
    const shown = timely.flatMap(({ safeBlock }) => safeBlock ?? []);
    const [highest = null, second = highest] = shown.toSorted((a, b) => Number(b.number - a.number));
    return second;
  }

  /** The lowest base fee of the newest blocks of the nodes that are up, wei: one that names a high fee closes no till. Null: none is known. */
  lowestBaseFee(): bigint | null {
    const fees = this.nodes.flatMap(({ isUp, headBlock }) => (isUp && headBlock ? [headBlock.baseFeeWei] : []));
    return fees.reduce<bigint | null>((lowest, fee) => (lowest === null || fee < lowest ? fee : lowest), null);
  }

  /** The newest block that two nodes have reached, after a look that begins now: one on its way may have seen less. Never rejects. */
  async newestBlock(): Promise<bigint | null> {
    await this.#looking;
    await this.#look();
    return supportedHead(this.plausible());
  }

  /** Looks at every node, compares their safe blocks, and says what it found. Never rejects. */
  async report(): Promise<readonly NodeReport[]> {
    await Promise.all(this.nodes.map((node) => (node.isDue ? node.look() : false)));
    await this.#compare();
    const plausible = this.plausible();
    const best = bestHead(plausible);
    return this.nodes.map((node, at) => {
      const { head, headBlock, isUp, isForeign, disagrees, headAgeMs } = node;
      return {
        node: at + 1,
        state: isUp ? 'up' : isForeign ? 'foreign' : 'away',
        behindBlocks: head === null || best === null || !plausible.includes(node) ? null : Number(best - head),
        standstillSeconds: head === null ? null : node.standstillMs / 1_000,
        headAgeSeconds: headBlock === null ? null : Date.now() / 1_000 - headBlock.timeSeconds,
        clockSkewSeconds: headAgeMs === null ? null : this.#skewSeconds(headAgeMs),
        disagrees: disagrees || !plausible.includes(node),
      };
    });
  }

  #skewSeconds(headAgeMs: number): number {
    return (headAgeMs < 0 ? -headAgeMs : -Math.max(0, headAgeMs - this.#settings.blockTimeMs)) / 1_000;
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** Ends when all have answered, or a while after the first that is up did: one that hangs holds up nobody. */
  async #lookOnce(): Promise<void> {
    const startedMs = performance.now();
    const isUsable = this.nodes.some(({ isUp }) => isUp);
    const looks = this.nodes.filter(({ isDue }) => isDue || !isUsable).map((node) => node.look());
    await new Promise<void>((resolve) => {
      let patience: NodeJS.Timeout | undefined;
      for (const look of looks) {
        void look.then((isUp) => {
          if (isUp) patience ??= setTimeout(resolve, this.#patienceMs);
        });
      }
      void Promise.all(looks).then(() => {
        clearTimeout(patience);
        resolve();
      });
    });
    this.#lookedAtMs = startedMs;
  }

  async #compare(): Promise<void> {
    const known = this.nodes.filter(({ isUp, safeBlock }) => isUp && safeBlock !== null);
    const highest = known.toSorted((a, b) => Number((b.safe ?? 0n) - (a.safe ?? 0n)))[0];
    for (const node of known) {
      const { safeBlock } = node;
      if (!highest || !safeBlock) continue;
      node.disagrees = node !== highest && (await this.#hasOther(highest, safeBlock));
    }
  }

  /** True when the node has another block at this height. What it does not answer is no disagreement. */
  async #hasOther(node: ChainNode, block: { readonly number: bigint; readonly hash: Hex }): Promise<boolean> {
    const params = [`0x${block.number.toString(16)}`, false];
    const found = await this.#ask<{ hash: Hex } | null>(
      node.url,
      'eth_getBlockByNumber',
      params,
      this.#settings.lookLimitMs,
    ).catch(() => null);
    return found !== null && found.hash !== block.hash;
  }
}
