/** A node's line as networks make it: a JSON-RPC proxy that delays, cuts, loses replies, sends twice, refuses, or tells stories. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the proxy does with a call. */
export type LineAction =
  | { readonly kind: 'delay'; readonly ms: number }
  /** The connection ends before the node hears of it. */
  | { readonly kind: 'cut' }
  /** The node does what is asked; its reply is lost. */
  | { readonly kind: 'drop reply' }
  /** The node hears it twice, with or without a block between; the second reply is given. */
  | { readonly kind: 'duplicate'; readonly isMinedBetween: boolean }
  /** Every other reply says that there is nothing (`null`). */
  | { readonly kind: 'flip' }
  /** An HTTP status, as gateways answer that are tired of us. */
  | { readonly kind: 'refuse'; readonly status: number }
  /** The node stands still: nothing after this block exists for it. What is sent through it goes on all the same. */
  | { readonly kind: 'freeze'; readonly block: number }
  /** The node knows no block at this tag, and says so in the words of Polygon's. */
  | { readonly kind: 'no tag'; readonly tag: string }
  /** Each reply is another one, as a node that lies makes it. */
  | { readonly kind: 'alter'; readonly change: (reply: string) => string }
  /** The node answers that there is nothing, and does nothing of what it is asked. */
  | { readonly kind: 'nothing'; readonly result: unknown }
  /** The node refuses logs of more blocks than these, as public ones do. */
  | { readonly kind: 'short ranges'; readonly blocks: number }
  /** The node is always so many blocks behind. */
  | { readonly kind: 'behind'; readonly blocks: number };

const MINE = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'evm_mine', params: [] });

/** A running proxy on 127.0.0.1. */
export interface RpcProxy {
  readonly url: string;
  /** Does this with each call of a method (`*`: any) until told otherwise; null lets them pass. */
  set(method: string, action: LineAction | null): void;
  /** How many calls of a method came. */
  count(method: string): number;
  close(): Promise<void>;
}

/** How many blocks a filter of logs asks for. */
function blocksOf(filter: unknown): number {
  const { fromBlock, toBlock } = (filter ?? {}) as { readonly fromBlock?: string; readonly toBlock?: string };
  return Number(toBlock) - Number(fromBlock) + 1;
}

/** Starts a proxy in front of a node. The caller closes it. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const actions = new Map<string, LineAction>();
  const calls = new Map<string, number>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => request.socket.destroy());
  });
  const forward = async (body: string): Promise<string> =>
    (await fetch(target, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).text();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const { method, id, params = [] } = JSON.parse(body) as { method: string; id: number; params?: unknown[] };
    const count = (calls.get(method) ?? 0) + 1;
    calls.set(method, count);
    const action = actions.get(method) ?? actions.get('*');
    if (action?.kind === 'cut') return void request.socket.destroy();
    if (action?.kind === 'refuse') return void response.writeHead(action.status).end('{}');
    if (action?.kind === 'no tag' && params.includes(action.tag)) {
      const error = { code: -32000, message: `${action.tag} block not found` };
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }
    if (action?.kind === 'short ranges' && blocksOf(params[0]) > action.blocks) {
      const error = { code: -32005, message: `query exceeds max block range ${action.blocks}` };
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }
    if (action?.kind === 'nothing') {
      response.setHeader('content-type', 'application/json');
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result: action.result }));
    }
    if (action?.kind === 'delay') await sleep(action.ms);
    if (action?.kind === 'duplicate') await forward(body);
    if (action?.kind === 'duplicate' && action.isMinedBetween) await forward(MINE);
    const reply = action?.kind === 'freeze' || action?.kind === 'behind' ? await old(body, action, forward) : await forward(body);
    if (action?.kind === 'drop reply') return void request.socket.destroy();
    const nothing = action?.kind === 'flip' && count % 2 === 0;
    response.setHeader('content-type', 'application/json');
    const told = action?.kind === 'alter' ? action.change(reply) : reply;
    response.end(nothing ? JSON.stringify({ jsonrpc: '2.0', id, result: null }) : told);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (method, action) => void (action ? actions.set(method, action) : actions.delete(method)),
    count: (method) => calls.get(method) ?? 0,
    close: () => close(server),
  };
}

/** The answer of a node that ends at an earlier block: its tags mean blocks up to that one, and what came later is not there. */
async function old(
  body: string,
  action: Extract<LineAction, { kind: 'freeze' | 'behind' }>,
  forward: (body: string) => Promise<string>,
): Promise<string> {
  const call = JSON.parse(body) as { id: number; method: string; params: unknown[] };
  const head = Number(resultOf(await forward(JSON.stringify({ ...call, method: 'eth_blockNumber', params: [] }))));
  const last = action.kind === 'freeze' ? action.block : head - action.blocks;
  const hex = `0x${last.toString(16)}`;
  if (call.method === 'eth_blockNumber') return JSON.stringify({ jsonrpc: '2.0', id: call.id, result: hex });
  const tags: Record<string, string> = { latest: hex, pending: hex, safe: `0x${(last - 1).toString(16)}` };
  const params = call.params.map((param) => (typeof param === 'string' ? (tags[param] ?? param) : param));
  const reply = await forward(JSON.stringify({ ...call, params }));
  const result = resultOf(reply) as { blockNumber?: string } | null;
  const isLater = call.method === 'eth_getTransactionReceipt' && Number(result?.blockNumber ?? 0) > last;
  return isLater ? JSON.stringify({ jsonrpc: '2.0', id: call.id, result: null }) : reply;
}

function resultOf(reply: string): unknown {
  return (JSON.parse(reply) as { result?: unknown }).result ?? null;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
