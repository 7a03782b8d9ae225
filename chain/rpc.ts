/**
 * JSON-RPC to a chain's nodes: one try at each URL in turn, a short time limit, nothing hidden. What a node *answers* is
 * returned or thrown as RpcError; when no node answers, ServiceError `chain_unavailable` (safety 15: an outage is never a
 * payment failure).
 */
import { Agent, request as httpRequest } from 'undici';
import { isServiceError, ServiceError } from '../domain/errors.ts';
import type { Hex } from '../domain/payload.ts';
import type { Network } from './network.ts';

/** A connection to one network. `close` ends its sockets; afterwards every request is an outage. */
export interface Rpc {
  readonly networkId: string;
  /** One call; throws RpcError for an error answer, ServiceError `chain_unavailable` when no node answers. */
  request<T>(method: string, params: readonly unknown[], options?: { readonly timeoutMs?: number }): Promise<T>;
  /** The same call to every URL, without failover; for checks at boot and health. */
  each<T>(method: string, params: readonly unknown[]): Promise<readonly { readonly index: number; readonly result: T }[]>;
  close(): Promise<void>;
}

/** A node answered with an error of its own: a revert, a refused transaction, an unknown block. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: Hex | null;

  constructor(code: number, message: string, data: Hex | null) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/** No usable answer from one URL; the next one is tried. Its message holds no address. */
class Outage extends Error {}

/** Error codes by which a node says that it cannot answer now: limits, internal faults, missing methods or blocks. */
const OUTAGE_CODES = new Set([-32001, -32002, -32004, -32005, -32601, -32603, -32097, 429]);
/** What the EVM itself said; some nodes (anvil) report it under the code of an internal fault. */
const EVM_MESSAGE = /revert|out of ?gas|evm error|invalid opcode|stack (?:under|over)flow|invalid jump/i;
const RETRY_AFTER_SECONDS = 5;
/** The largest answer we read: receipts of 100 payments stay far below. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Opens connections lazily; `timeoutMs` (3,000 unless told) holds for each URL. */
export function createRpc(network: Pick<Network, 'id' | 'rpcUrls'>, options: { readonly timeoutMs?: number } = {}): Rpc {
  const timeoutMs = options.timeoutMs ?? 3_000;
  const agent = new Agent({ connections: 16, connect: { timeout: timeoutMs }, maxResponseSize: MAX_ANSWER_BYTES });
  const ask = <T>(url: string, method: string, params: readonly unknown[], limitMs: number) =>
    askOnce<T>(agent, url, method, params, limitMs);
  return {
    networkId: network.id,
    close: () => agent.destroy(),
    async request<T>(method: string, params: readonly unknown[], own: { readonly timeoutMs?: number } = {}): Promise<T> {
      for (const url of network.rpcUrls) {
        try {
          return await ask<T>(url, method, params, own.timeoutMs ?? timeoutMs);
        } catch (error) {
          if (!(error instanceof Outage)) throw error;
        }
      }
      throw chainUnavailable(network.id);
    },
    each: <T>(method: string, params: readonly unknown[]) =>
      Promise.all(
        network.rpcUrls.map(async (url, index) => {
          try {
            return { index, result: await ask<T>(url, method, params, timeoutMs) };
          } catch (error) {
            throw error instanceof Outage ? chainUnavailable(network.id) : error;
          }
        }),
      ),
  };
}

/** The error of an outage, with the seconds to wait. */
export function chainUnavailable(networkId: string): ServiceError {
  return new ServiceError('chain_unavailable', `no node of ${networkId} answers; try again`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** True for the error of an outage. */
export function isChainUnavailable(error: unknown): boolean {
  return isServiceError(error) && error.code === 'chain_unavailable';
}

/** A read that every node can answer: an error answer is `chain_unavailable`, too. */
export async function askNode<T>(rpc: Rpc, method: string, params: readonly unknown[]): Promise<T> {
  try {
    return await rpc.request<T>(method, params);
  } catch (error) {
    throw error instanceof RpcError ? chainUnavailable(rpc.networkId) : error;
  }
}

/** True when the EVM refused (a revert, out of gas), as opposed to a node that could not run the call at all. */
export function isEvmRefusal(error: unknown): error is RpcError {
  return error instanceof RpcError && (error.code === 3 || error.data !== null || EVM_MESSAGE.test(error.message));
}

/** Hex quantity of a number for RPC parameters. */
export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

async function askOnce<T>(agent: Agent, url: string, method: string, params: readonly unknown[], limitMs: number): Promise<T> {
  const answer = await post(agent, url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), limitMs);
  if (typeof answer !== 'object' || answer === null) throw new Outage('not a JSON-RPC answer');
  const { error, result } = answer as { error?: { code?: unknown; message?: unknown; data?: unknown }; result?: T };
  if (error === undefined || error === null) {
    if (result === undefined) throw new Outage('neither result nor error');
    return result;
  }
  const code = typeof error.code === 'number' ? error.code : 0;
  const message = typeof error.message === 'string' ? error.message.slice(0, 500) : '';
  const data = hexOf(error.data);
  if (OUTAGE_CODES.has(code) && data === null && !EVM_MESSAGE.test(message)) throw new Outage('the node cannot answer now');
  throw new RpcError(code, message, data);
}

async function post(agent: Agent, url: string, body: string, limitMs: number): Promise<unknown> {
  try {
    const response = await httpRequest(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      dispatcher: agent,
      signal: AbortSignal.timeout(limitMs),
    });
    const answer: unknown = await response.body.json();
    // Some nodes put a JSON-RPC error under a status of 4xx; without one, the status is all we have.
    const answered = typeof answer === 'object' && answer !== null && 'error' in answer && response.statusCode === 400;
    if (response.statusCode !== 200 && !answered) throw new Outage('the node refused to answer');
    return answer;
  } catch {
    throw new Outage('the node did not answer');
  }
}

/** Revert data, which nodes put at `data` or at `data.data`. */
function hexOf(data: unknown): Hex | null {
  if (typeof data === 'string') return /^0x[0-9a-fA-F]*$/.test(data) ? (data as Hex) : null;
  if (typeof data === 'object' && data !== null && 'data' in data) return hexOf(data.data);
  return null;
}
