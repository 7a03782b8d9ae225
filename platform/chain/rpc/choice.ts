/** Which nodes may answer a question, and in which order: pure. */

/** What is known of a node. */
export interface NodeFacts {
  /** It answers, and for our chain. */
  readonly isUp: boolean;
  /** Its newest block; null: not known lately. */
  readonly head: bigint | null;
  /** Time of that block, epoch seconds; null: not known lately. */
  readonly headSeconds: number | null;
  /** Its safe block; null: not known. */
  readonly safe: bigint | null;
  /** Its head has stood still for so long that it tells nothing of now. */
  readonly isStill: boolean;
}

/**
 * `state`: balances, code and simulations as they are now, which may decide against a buyer. `second`: the same of every node that may confirm
 * or contradict another one, where one alone decides nothing. `safe`: what the safe block says.
 * `other`: blocks, logs, receipts and sending, where an old answer only means waiting.
 */
export type Question = 'state' | 'second' | 'safe' | 'other';

/** Blocks a node may be behind the best one and still be asked about the present: looks at two nodes are not made at one moment. */
export const NEAR_BLOCKS = 2n;

/** Heads that are farther apart than this must be so for a reason. */
const FAR_BLOCKS = 64n;
/** A newest block of less than this age is not late, however fast blocks come. */
const LEAST_LATE_SECONDS = 60;
/** How far a head's time may be ahead of our clock. */
const AHEAD_SECONDS = 60;

const STATE_METHODS = new Set(['eth_call', 'eth_getCode']);

/** What a call asks about. */
export function questionOf(method: string, params: readonly unknown[]): Question {
  if (params.includes('safe') || params.includes('finalized')) return 'safe';
  const block = params[1] ?? 'latest';
  return STATE_METHODS.has(method) && (block === 'latest' || block === 'pending') ? 'state' : 'other';
}

/**
 * The nodes to ask, best first; the order of the configuration holds among equals. About the state of now only those are asked that are
 * near the best head known and still moving, the highest first, so that a node which stands still does not say that a buyer has no money:
 * none is an outage. What came within the last block may be unknown to any of them. The state of now is asked of `plausible` ones alone. Who gives
 * a second word is near the head that two nodes have reached: one that runs ahead of all others would otherwise be the only one asked.
 */
export function chooseNodes<N extends NodeFacts>(nodes: readonly N[], question: Question, plausible = nodes): readonly N[] {
  const isOfPresent = question === 'state' || question === 'second';
  const best = question === 'second' ? supportedHead(plausible) : bestHead(isOfPresent ? plausible : nodes);
  const isNear = ({ head }: N): boolean => head !== null && best !== null && head + NEAR_BLOCKS >= best;
  const byHead = (a: N, b: N): number => compare(b.head, a.head);
  const up = nodes.filter(({ isUp }) => isUp);
  if (isOfPresent) return up.filter((node) => plausible.includes(node) && isNear(node) && !node.isStill).sort(byHead);
  if (question === 'safe') return up.toSorted((a, b) => compare(b.safe, a.safe));
  return [...up.filter(isNear), ...up.filter((node) => !isNear(node)).sort(byHead)];
}

/**
 * The nodes whose head no other one refutes. Two that are up and far apart refute each other, unless the lower one is late: its newest
 * block is older by about as much, and the higher one's is not of the future. Which of the two is right nobody can tell, so neither is in,
 * but for one that more nodes stand by.
 */
export function plausibleNodes<N extends NodeFacts>(nodes: readonly N[], blockTimeMs: number, nowSeconds: number): readonly N[] {
  const gap = (a: N, b: N): bigint => (a.head === null || b.head === null ? 0n : a.head - b.head);
  const isFar = (a: N, b: N): boolean => gap(a, b) > FAR_BLOCKS || gap(b, a) > FAR_BLOCKS;
  const support = (node: N): number => nodes.filter((one) => one.isUp && one.head !== null && !isFar(one, node)).length;
  const isLate = (low: N, high: N): boolean => {
    const seconds = (high.headSeconds ?? 0) - (low.headSeconds ?? 0);
    // A quarter: blocks may come faster than the network is configured for.
    return (high.headSeconds ?? 0) <= nowSeconds + AHEAD_SECONDS && seconds * 4_000 >= Number(gap(high, low)) * blockTimeMs;
  };
  const isRefuted = (node: N): boolean =>
    nodes.some((other) => {
      if (!node.isUp || !other.isUp || !isFar(node, other)) return false;
      const [high, low] = gap(node, other) > 0n ? [node, other] : [other, node];
      return !isLate(low, high) && support(other) >= support(node);
    });
  return nodes.filter((node) => !isRefuted(node));
}

/**
 * The nodes whose word of what is safe is waited for: those that are up, move, and whose newest block is by our clock at most 64 blocks old, or a
 * minute; where none is, as on a chain that stands still, all that are up. Another node's head makes none late: a liar would run ahead.
 */
export function timelyNodes<N extends NodeFacts>(nodes: readonly N[], blockTimeMs: number, nowSeconds: number): readonly N[] {
  const oldestSeconds = nowSeconds - Math.max(LEAST_LATE_SECONDS, (Number(FAR_BLOCKS) * blockTimeMs) / 1_000);
  const up = nodes.filter(({ isUp }) => isUp);
  const timely = up.filter(({ isStill, headSeconds }) => !isStill && headSeconds !== null && headSeconds >= oldestSeconds);
  return timely.length > 0 ? timely : up;
}

/** The highest head any node has shown lately, whether it is up now or not. */
export function bestHead(nodes: readonly NodeFacts[]): bigint | null {
  return nodes.reduce<bigint | null>((best, { head }) => (compare(head, best) > 0 ? head : best), null);
}

/**
 * The head that two nodes have reached, as far as the looks show: the second highest, though at most 64 blocks below the highest, since one that
 * is further behind is late; the only one where one node shows any.
 */
export function supportedHead(nodes: readonly NodeFacts[]): bigint | null {
  const heads = nodes.flatMap(({ head }) => (head === null ? [] : [head])).sort((a, b) => compare(b, a));
  const [highest = null, second = highest] = heads;
  return highest === null || second === null || highest - second <= FAR_BLOCKS ? second : highest - FAR_BLOCKS;
}

function compare(a: bigint | null, b: bigint | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a > b ? 1 : -1;
}
