/** One JSON-RPC call to one URL: what the node answers is returned or thrown as RpcError, everything else is an Outage. */
import { Agent, request as httpRequest } from 'undici';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { isReadable } from './answers.ts';

/** A node answered with an error of its own: a revert, a refused transaction, an unknown block. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: Hex | null;

  /** What other nodes answered to the same bytes. */
  readonly besides: readonly RpcError[];

  constructor(code: number, message: string, data: Hex | null, besides: readonly RpcError[] = []) {
    super(message);
    this.besides = besides;
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/** No usable answer from one URL; another one is asked. Its message holds no address. */
export class Outage extends Error {
  /** False when the node is well and only this question cannot be answered: an unknown method, a block it does not have. */
  readonly isSick: boolean;

  constructor(message: string, isSick = true) {
    super(message);
    this.isSick = isSick;
  }
}

/** An answer came that has not the shape of its method's answers. */
export class Unreadable extends Outage {}

/** A call to one URL, ended after `limitMs`. Throws RpcError or Outage. */
export type Ask = <T>(url: string, method: string, params: readonly unknown[], limitMs: number) => Promise<T>;

/** Sockets to the URLs of one network; `close` ends them, and every call afterwards is an Outage. */
export interface Transport {
  readonly ask: Ask;
  close(): Promise<void>;
}

/** Error codes by which a node says that it cannot answer now: limits and internal faults. */
const SICK_CODES = new Set([-32001, -32002, -32005, -32603, -32097, 429]);
/** Error codes by which it says that it never answers this: a missing method. */
const MISSING_CODES = new Set([-32004, -32601]);
/** A node that is behind, or keeps no old states: another one may have what was asked for. */
const MISSING_BLOCK = /header not found|unknown block|block not found|missing trie node|no state available/i;
/** What the EVM itself said; some nodes (anvil) report it under the code of an internal fault. */
const EVM_MESSAGE = /revert|out of ?gas|evm error|invalid opcode|stack (?:under|over)flow|invalid jump/i;
/** The largest answer we read: receipts of 100 payments stay far below. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Sockets to each URL: one that hangs holds up no other. */
const CONNECTIONS = 16;

/** Opens connections lazily. */
export function openTransport(connectMs: number): Transport {
  const agent = new Agent({ connections: CONNECTIONS, connect: { timeout: connectMs }, maxResponseSize: MAX_ANSWER_BYTES });
  return {
    ask: async <T>(url: string, method: string, params: readonly unknown[], limitMs: number) => {
      const result = read<T>(await post(agent, url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), limitMs));
      if (!isReadable(method, params, result)) throw new Unreadable('the node gave an answer that cannot be read');
      return result;
    },
    close: () => agent.destroy(),
  };
}

/** True when the EVM refused (a revert, out of gas), as opposed to a node that could not run the call at all. */
export function isEvmRefusal(error: unknown): error is RpcError {
  return error instanceof RpcError && (error.code === 3 || error.data !== null || EVM_MESSAGE.test(error.message));
}

function read<T>(answer: unknown): T {
  if (typeof answer !== 'object' || answer === null) throw new Outage('not a JSON-RPC answer');
  const { error, result } = answer as { error?: { code?: unknown; message?: unknown; data?: unknown }; result?: T };
  if (error === undefined || error === null) {
    if (result === undefined) throw new Outage('neither result nor error');
    return result;
  }
  const code = typeof error.code === 'number' ? error.code : 0;
  const message = typeof error.message === 'string' ? error.message.slice(0, 500) : '';
  const refusal = new RpcError(code, message, hexOf(error.data));
  if (isEvmRefusal(refusal)) throw refusal;
  if (SICK_CODES.has(code)) throw new Outage('the node cannot answer now');
  if (MISSING_CODES.has(code) || MISSING_BLOCK.test(message)) throw new Outage('the node does not have it', false);
  throw refusal;
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
