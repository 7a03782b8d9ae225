/** A webhook receiver on 127.0.0.1 that keeps what it got and answers as the test says. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One POST as it came in. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A running receiver. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** How many requests were open at once, at most. */
  readonly mostAtOnce: number;
  /** Answers from now on. */
  answer(handler: (response: ServerResponse, count: number) => void): void;
  /** Resolves when `count` requests have arrived. */
  until(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a receiver; it answers 200 `ok` until told otherwise. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  let handler: (response: ServerResponse, count: number) => void = (response) => response.end('ok');
  let open = 0;
  let mostAtOnce = 0;
  const server = createServer((request, response) => {
    open += 1;
    mostAtOnce = Math.max(mostAtOnce, open);
    response.once('close', () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
      for (const look of waiting) look();
      handler(response, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    get mostAtOnce() {
      return mostAtOnce;
    },
    answer: (next) => {
      handler = next;
    },
    until: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (received.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
