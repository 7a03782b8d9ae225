/** What two nodes must say, where the word of one would cost a buyer or a publisher: asked only once one has said no. */
import type { Rpc } from './rpc.ts';
import { chainUnavailable, hasOthers, isChainUnavailable, isEvmRefusal, RpcError } from './rpc.ts';

/** Nodes that must say it. */
export const QUORUM = 2;
/** True once two of so many nodes say the same of a yes or no: what others would say changes nothing any more. */
export function isDecided(yes: number, outOf: number): boolean {
  return yes >= QUORUM || outOf - yes >= QUORUM;
}

/** How long a node has for all of its word: what waits for it is a sale, and one that hangs must not hold up a batch. */
const WORD_MS = 1_500;

/**
 * Asks each node that may give a second word about the present by `ask`, at the same time: what those say that answer within 1.5 s, in the order in
 * which they do, until that `isEnough`. `ask` may make several calls, each to its own node alone, so that what a node invents costs the others
 * nothing. An answer by which `ask` fails is no word of its node; what fails by the answer of every node is thrown. Empty in an outage.
 */
export async function askEach<T>(
  rpc: Rpc,
  ask: (node: Rpc) => Promise<T>,
  isEnough: (words: readonly T[]) => boolean = () => false,
): Promise<readonly T[]> {
  const endMs = performance.now() + WORD_MS;
  const nodeAt = (ofNode: number): Rpc => ({
    ...rpc,
    urlCount: 1,
    request: async <R>(method: string, params: readonly unknown[]): Promise<R> => {
      const timeoutMs = Math.max(1, Math.ceil(endMs - performance.now()));
      try {
        return await rpc.request<R>(method, params, { ofNode, timeoutMs });
      } catch (error) {
        // What the EVM refuses is an answer; any other error is none.
        throw error instanceof RpcError && !isEvmRefusal(error) ? chainUnavailable(rpc.networkId) : error;
      }
    },
  });
  const words: T[] = [];
  const faults: unknown[] = [];
  const askOne = async (place: number): Promise<void> => {
    try {
      words.push(await ask(nodeAt(place)));
    } catch (error) {
      if (!isChainUnavailable(error)) faults.push(error);
    }
  };
  const asked = Array.from({ length: rpc.urlCount ?? 1 }, (_, place) => askOne(place));
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      if (isEnough(words)) resolve();
    };
    for (const one of asked) one.then(end).catch(reject);
    void Promise.all(asked).then(() => resolve());
  });
  if (faults.length === asked.length) throw faults[0]; // no node alone makes this: it is ours
  return [...words];
}

/** In place of an answer: one node refuses, and too few others answer to confirm or to contradict it. */
export const UNCONFIRMED = 'unconfirmed';

/** How the answers about one entry of a list are read. */
interface Reading<T> {
  readonly isRefusal: (answer: T) => boolean;
  /** What other nodes would say changes nothing any more. */
  readonly isAgreed: (answers: readonly T[]) => boolean;
}

/**
 * The answers of all nodes about each entry of a list, where the first node refuses one: `first` is its answer about each, and `ask` asks a
 * node again for its own, or gives null where that does not count. An entry that the first node does not refuse has its answer alone. Where
 * nothing is refused, or there is one URL, nobody is asked. Nodes that are silent are waited for until all entries are agreed on, for 1.5 s at most.
 */
export async function answersOfAll<T>(
  rpc: Rpc,
  first: readonly T[],
  { isRefusal, isAgreed }: Reading<T>,
  ask: (node: Rpc) => Promise<readonly T[] | null>,
): Promise<readonly (readonly T[])[]> {
  if (!hasOthers(rpc) || !first.some(isRefusal)) return first.map((answer) => [answer]);
  const about = (ofNodes: readonly (readonly T[] | null)[], at: number): readonly T[] =>
    ofNodes.flatMap((answers) => answers?.slice(at, at + 1) ?? []);
  const ofNodes = await askEach(rpc, ask, (soFar) =>
    first.every((answer, at) => !isRefusal(answer) || isAgreed(about(soFar, at))),
  );
  return first.map((answer, at) => (isRefusal(answer) ? about(ofNodes, at) : [answer]));
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
  const isAgreed = (answers: readonly T[]): boolean => isDecided(answers.filter(isRefusal).length, answers.length);
  return (await answersOfAll(rpc, first, { isRefusal, isAgreed }, ask)).map((answers) => {
    const refusals = answers.filter(isRefusal);
    if (refusals.length >= QUORUM && refusals[0] !== undefined) return refusals[0];
    return answers.find((answer) => !isRefusal(answer)) ?? UNCONFIRMED;
  });
}
