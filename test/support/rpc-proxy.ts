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
  /** The node hears it twice; the second reply is given. */
  | { readonly kind: 'duplicate' }
  /** Every other reply says that there is nothing (`null`). */
  | { readonly kind: 'flip' }
  /** An HTTP status, as gateways answer that are tired of us. */
  | { readonly kind: 'refuse'; readonly status: number };

/** A running proxy on 127.0.0.1. */
export interface RpcProxy {
  readonly url: string;
  /** Does this with each call of a method (`*`: any) until told otherwise; null lets them pass. */
  set(method: string, action: LineAction | null): void;
  /** How many calls of a method came. */
  count(method: string): number;
  close(): Promise<void>;
}

/** Starts a proxy in front of a node. The caller closes it. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const actions = new Map<string, LineAction>();
  const calls = new Map<string, number>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => request.destroy());
  });
  const forward = async (body: string): Promise<string> =>
    (await fetch(target, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).text();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const { method, id } = JSON.parse(body) as { method: string; id: number };
    const count = (calls.get(method) ?? 0) + 1;
    calls.set(method, count);
    const action = actions.get(method) ?? actions.get('*');
    if (action?.kind === 'cut') return void request.destroy();
    if (action?.kind === 'refuse') return void response.writeHead(action.status).end('{}');
    if (action?.kind === 'delay') await sleep(action.ms);
    if (action?.kind === 'duplicate') await forward(body);
    const reply = await forward(body);
    if (action?.kind === 'drop reply') return void request.destroy();
    const nothing = action?.kind === 'flip' && count % 2 === 0;
    response.setHeader('content-type', 'application/json');
    response.end(nothing ? JSON.stringify({ jsonrpc: '2.0', id, result: null }) : reply);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (method, action) => void (action ? actions.set(method, action) : actions.delete(method)),
    count: (method) => calls.get(method) ?? 0,
    close: () => close(server),
  };
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
