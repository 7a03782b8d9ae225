/** What lies between a site and our service, so that a test can play every way in which the service is away. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `through`: as it is. `killed`: nobody listens any more, connections end. `hung`: the service takes in what is sent, and no answer comes back.
 * `broken`: every answer is 500.
 */
export type FrontMode = 'through' | 'killed' | 'hung' | 'broken';

/** A running front. */
export interface Front {
  readonly url: string;
  mode: FrontMode;
  /** Calls of a path that came since the start, whatever became of them. */
  count(path: string): number;
  close(): Promise<void>;
}

/** Starts a front on 127.0.0.1; `target` gives the address of the service at each call. */
export async function startFront(target: () => string): Promise<Front> {
  const calls = new Map<string, number>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    calls.set(path, (calls.get(path) ?? 0) + 1);
    const { mode } = front;
    if (mode === 'killed') return void request.socket.destroy();
    if (mode === 'broken') return void response.writeHead(500, { 'content-type': 'text/plain' }).end('broken');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
    const answer = await fetch(`${target()}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...body,
    });
    const text = Buffer.from(await answer.arrayBuffer());
    if (mode === 'hung') return; // the caller gives up
    const { 'content-encoding': _encoding, 'transfer-encoding': _transfer, ...rest } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, rest).end(text);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'through',
    count: (path) => calls.get(path) ?? 0,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return front;
}
