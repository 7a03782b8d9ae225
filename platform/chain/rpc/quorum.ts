/** What two nodes must say, where the word of one would cost a buyer or a publisher: asked only once one has said no. */
import type { Answer, Rpc } from './rpc.ts';
import { chainUnavailable, hasOthers, RpcError, whereAway } from './rpc.ts';

/** Nodes that must say it. */
export const QUORUM = 2;
/** How long a node has for its word: what waits for it is a sale, and one that hangs must not hold up a batch. */
const WORD_MS = 1_500;

/**
 * Asks each node that may answer about the present by `ask`, at the same time: what they say that answer. `ask` may make several calls; the
 * same one of several nodes is made once. Empty in an outage.
 */
export async function askEach<T>(rpc: Rpc, ask: (node: Rpc) => Promise<T>): Promise<readonly T[]> {
  const made = new Map<string, Promise<readonly Answer<unknown>[]>>();
  const nodeAt = (place: number): Rpc => ({
    ...rpc,
    urlCount: 1,
    request: async <R>(method: string, params: readonly unknown[]) => {
      const key = JSON.stringify([method, params]);
      const answers = made.get(key) ?? rpc.each<unknown>(method, params, { ofPresent: true, timeoutMs: WORD_MS });
      made.set(key, answers);
      const own = (await answers).find(({ index }) => index === place);
      if (!own) throw chainUnavailable(rpc.networkId);
      if (own.result instanceof RpcError) throw own.result;
      return own.result as R;
    },
  });
  const words = await Promise.all(
    Array.from({ length: rpc.urlCount ?? 1 }, (_, place) =>
      ask(nodeAt(place))
        .then((word) => [word])
        .catch(whereAway<T[]>([])),
    ),
  );
  return words.flat();
}

/** In place of an answer: one node refuses, and too few others answer to confirm or to contradict it. */
export const UNCONFIRMED = 'unconfirmed';

/**
 * The answers of all nodes about each entry of a list, where the first node refuses one: `first` is its answer about each, and `ask` asks a
 * node again for its own, or gives null where that does not count. An entry that the first node does not refuse has its answer alone. Where
 * nothing is refused, or there is one URL, nobody is asked.
 */
export async function answersOfAll<T>(
  rpc: Rpc,
  first: readonly T[],
  isRefusal: (answer: T) => boolean,
  ask: (node: Rpc) => Promise<readonly T[] | null>,
): Promise<readonly (readonly T[])[]> {
  if (!hasOthers(rpc) || !first.some(isRefusal)) return first.map((answer) => [answer]);
  const ofNodes = (await askEach(rpc, ask)).filter((answers) => answers !== null);
  return first.map((answer, at) => (isRefusal(answer) ? ofNodes.flatMap((answers) => answers.slice(at, at + 1)) : [answer]));
}

/**
 * The answer to act on for each entry of a list: a refusal where two nodes refuse it, else the answer of one that does not, else `UNCONFIRMED`.
 * Asks as `answersOfAll` does; with one URL the first answer stands.
 */
export async function confirmRefusals<T>(
  rpc: Rpc,
  first: readonly T[],
  isRefusal: (answer: T) => boolean,
  ask: (node: Rpc) => Promise<readonly T[] | null>,
): Promise<readonly (T | typeof UNCONFIRMED)[]> {
  if (!hasOthers(rpc)) return first;
  return (await answersOfAll(rpc, first, isRefusal, ask)).map((answers) => {
    const refusals = answers.filter(isRefusal);
    if (refusals.length >= QUORUM && refusals[0] !== undefined) return refusals[0];
    return answers.find((answer) => !isRefusal(answer)) ?? UNCONFIRMED;
  });
}
