/**
 * JSON-RPC to a chain's nodes: health by URL decides who is asked (rpc/choice.ts), and a silent node is overtaken by the next. What a
 * node *answers* is returned or thrown as RpcError, in the shape of its method (rpc/answers.ts); when no node may or does answer, ServiceError `chain_unavailable` (safety 15: an
 * outage is never a payment failure).
 */
import { isServiceError, ServiceError } from '../../../modules/kernel/errors.ts';
import type { Network } from '../network.ts';
import { chooseNodes, questionOf } from './choice.ts';
import { finalityTag, quantity } from './finality.ts';
import { firstAnswer, firstTaken } from './hedge.ts';
import type { NodeReport } from './pool.ts';
import { NodePool } from './pool.ts';
import { isEvmRefusal, Outage, openTransport, RpcError, Unreadable } from './transport.ts';

export { isEvmRefusal, quantity, RpcError };

/** What one URL answered, by its place in the configuration from 0. */
export interface Answer<T> {
  readonly index: number;
  readonly result: T;
}

/** How a call is made. */
export interface RequestOptions {
  readonly timeoutMs?: number;
  /** Asks this node alone, by its place from 0, as far as it may give a second word about the present; `chain_unavailable` where it may not. */
  readonly ofNode?: number;
}

/** How a call to every URL is made. */
export interface EachOptions<T> {
  readonly timeoutMs?: number;
  /** Stands for an answer that cannot be read; left out: such a one is none. */
  readonly unreadable?: T;
}

/** A connection to one network. `close` ends its sockets; afterwards every request is an outage. */
export interface Rpc {
  readonly networkId: string;
  /** URLs that can be asked; one unless told (`hasOthers`). */
  readonly urlCount?: number;
  /**
   * One call, answered by the first of the nodes that may answer it; throws RpcError for an error answer, ServiceError
   * `chain_unavailable` when no node answers, or when none knows the present well enough to answer about it.
   */
  request<T>(method: string, params: readonly unknown[], options?: RequestOptions): Promise<T>;
  /** The same call to every URL; those that answer, by their place from 0. Throws `chain_unavailable` when none does. */
  each<T>(method: string, params: readonly unknown[], options?: EachOptions<T>): Promise<readonly Answer<T>[]>;
  /** Looks at every node and says how it is; never rejects. */
  nodes?(): Promise<readonly NodeReport[]>;
  /** The newest block that two nodes have reached (`supportedHead`), by a look at all that begins now; null: none is known. Never rejects. */
  newestBlock?(): Promise<bigint | null>;
  /** The best head that the looks show and that no other node refutes, at most two blocks old; null: none is known. Costs no call. Never rejects. */
  knownHead?(): Promise<bigint | null>;
  /**
   * The block up to which two nodes call the chain safe: the lower of the two highest that the looks at timely nodes (`timelyNodes`) show, at
   * most two blocks old; the only one where one node shows any, null where none does. Costs no call. Never rejects.
   */
  safeBlock?(): Promise<{ readonly number: bigint; readonly timeSeconds: number } | null>;
  /** The lowest base fee that a node shows in its newest block, wei, at most two blocks old; null: none is known. Never rejects. */
  baseFee?(): Promise<bigint | null>;
  close(): Promise<void>;
}

const RETRY_AFTER_SECONDS = 5;
/** How long a node may be silent before the next one is asked besides: above what a healthy one takes. */
export const HEDGE_MS = 250;
const SEND_METHOD = 'eth_sendRawTransaction';
const LOOK_LIMIT_MS = 1_500;
const BLOCK_TIME_MS = 2_000;

/** Opens connections lazily; `timeoutMs` (3,000 unless told) holds for each URL. */
export function createRpc(
  network: Pick<Network, 'id' | 'rpcUrls'> & Partial<Pick<Network, 'blockTimeMs' | 'finality'>>,
  options: { readonly timeoutMs?: number } = {},
): Rpc {
  const { id, rpcUrls, blockTimeMs = BLOCK_TIME_MS, finality = 'safe' } = network;
  const timeoutMs = options.timeoutMs ?? 3_000;
  const transport = openTransport(timeoutMs);
  const settings = { chainId: chainIdOf(id), blockTimeMs, lookLimitMs: Math.min(timeoutMs, LOOK_LIMIT_MS), finality };
  const pool = new NodePool(rpcUrls, transport.ask, settings, HEDGE_MS);
  /** What is asked at `safe` is asked at the network's finality. Below a head that is not known yet, nothing is. */
  const atFinality = (params: readonly unknown[]): readonly unknown[] => {
    if (finality === 'safe' || !params.includes('safe')) return params;
    return params.map((param) => (param === 'safe' ? finalityTag(finality, pool.knownHead()) : param));
  };
  return {
    networkId: id,
    urlCount: rpcUrls.length,
    close: () => transport.close(),
    nodes: () => pool.report(),
    newestBlock: () => pool.newestBlock(),
    knownHead: () => pool.ready().then(() => pool.knownHead()),
    safeBlock: () => pool.ready().then(() => pool.supportedSafe()),
    baseFee: () => pool.ready().then(() => pool.lowestBaseFee()),
    async request<T>(method: string, params: readonly unknown[], own: RequestOptions = {}): Promise<T> {
      await pool.ready();
      const { timeoutMs: limitMs = timeoutMs, ofNode } = own;
      const given = atFinality(params);
      const able = chooseNodes(pool.nodes, ofNode === undefined ? questionOf(method, params) : 'second', pool.plausible());
      const asked = ofNode === undefined ? able : able.filter((node) => node === pool.nodes[ofNode]);
      const tries = asked.map((node) => () => node.ask<T>(method, given, limitMs));
      try {
        // A node may take a transaction and drop it: the same bytes go to all.
        return await (method === SEND_METHOD ? firstTaken(tries) : firstAnswer(tries, HEDGE_MS));
      } catch (error) {
        throw error instanceof Outage ? chainUnavailable(id) : error;
      }
    },
    async each<T>(method: string, params: readonly unknown[], own: EachOptions<T> = {}) {
      const { timeoutMs: limitMs = timeoutMs, unreadable } = own;
      if (typeof finality === 'number' && params.includes('safe')) await pool.ready();
      const given = atFinality(params);
      const asked = pool.nodes.map(({ url }) => transport.ask<T>(url, method, given, limitMs));
      const answers = (await Promise.allSettled(asked)).flatMap((answer, index): Answer<T>[] => {
        if (answer.status === 'fulfilled') return [{ index, result: answer.value }];
        return unreadable !== undefined && answer.reason instanceof Unreadable ? [{ index, result: unreadable }] : [];
      });
      if (answers.length === 0) throw chainUnavailable(id);
      return answers;
    },
  };
}

/** The number in a CAIP-2 id, such as 8453 in `eip155:8453`; null where there is none. */
function chainIdOf(id: string): number | null {
  const [, number] = /^eip155:(\d+)$/.exec(id) ?? [];
  return number === undefined ? null : Number(number);
}

/** The error of an outage, with the seconds to wait. `who` did not answer; no node unless told. */
export function chainUnavailable(networkId: string, who = 'no node'): ServiceError {
  const what = who === 'no node' ? `no node of ${networkId} answers` : `${who} of ${networkId} does not answer`;
  return new ServiceError('chain_unavailable', `${what}; try again`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** True for the error of an outage. */
export function isChainUnavailable(error: unknown): boolean {
  return isServiceError(error) && error.code === 'chain_unavailable';
}

/** For what an outage leaves unknown: `fallback` in place of `chain_unavailable`; whatever else is thrown stays thrown. */
export function whereAway<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (!isChainUnavailable(error)) throw error;
    return fallback;
  };
}

/** True where a node's word can be compared with another's. */
export function hasOthers({ urlCount = 1 }: Pick<Rpc, 'urlCount'>): boolean {
  return urlCount > 1;
}

/** The block that a node says its answer is of, or the best known head where that is lower: what is searched from there on is not hidden by it. */
export async function believedBlock(rpc: Rpc, said: bigint): Promise<bigint> {
  const head = (await rpc.knownHead?.()) ?? said;
  return head < said ? head : said;
}

/** A read that every node can answer: an error answer is `chain_unavailable`, too. */
export async function askNode<T>(rpc: Rpc, method: string, params: readonly unknown[]): Promise<T> {
  try {
    return await rpc.request<T>(method, params);
  } catch (error) {
    throw error instanceof RpcError ? chainUnavailable(rpc.networkId) : error;
  }
}
