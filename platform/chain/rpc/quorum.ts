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

/**
 * Has what one node refuses said by two, where there are several: `first` is its word on a list, and `ask` asks a node again for its own. What
 * two refuse stays refused. Of the rest another node's word counts, and null where none but the one that refuses it answers. Where
 * nothing is refused, or there is one URL, nobody is asked.
 */
export async function refusedByTwo<T>(
  rpc: Rpc,
  first: readonly T[],
  isRefusal: (word: T) => boolean,
  ask: (node: Rpc) => Promise<readonly T[] | null>,
): Promise<readonly (T | null)[]> {
  if (!hasOthers(rpc) || !first.some(isRefusal)) return first;
  const said = (await askEach(rpc, ask)).filter((words) => words !== null);
  return first.map((word, at) => {
    if (!isRefusal(word)) return word;
    const words = said.flatMap((one) => one.slice(at, at + 1));
    const refusals = words.filter(isRefusal);
    if (refusals.length >= QUORUM) return refusals[0] ?? null;
    return words.find((one) => !isRefusal(one)) ?? null;
  });
}
