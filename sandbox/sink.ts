import { createServer } from 'node:http';
import { listenOnFreePort, releasePort } from './parts/ports.ts';

/** One delivery as it came in. */
export interface SunkDelivery {
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The raw text, which the signature covers. */
  readonly body: string;
}

/** A webhook receiver that answers 200 and keeps what it got. */
export interface Sink {
  /** Where deliveries are POSTed. */
  readonly url: string;
  /** GET lists them, oldest first. */
  readonly deliveriesUrl: string;
  readonly port: number;
  readonly deliveries: readonly SunkDelivery[];
  close(): Promise<void>;
}

/** The oldest go first beyond this. */
const MOST_KEPT = 10_000;
const MAX_BODY_BYTES = 1_048_576;

/** Starts the sink on 127.0.0.1; `preferred` is tried first, then the next free port; 0: any. */
export async function startSink(preferred: number): Promise<Sink> {
  const deliveries: SunkDelivery[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/deliveries') {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(deliveries));
      return;
    }
    if (request.method !== 'POST' || request.url !== '/hook') {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      deliveries.push({ receivedAt: Date.now(), headers: request.headers, body });
      if (deliveries.length > MOST_KEPT) deliveries.shift();
      response.end('ok');
    });
  });
  const port = await listenOnFreePort(server, preferred);
  const base = `http://127.0.0.1:${port}`;
  return {
    url: `${base}/hook`,
    deliveriesUrl: `${base}/deliveries`,
    port,
    deliveries,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          releasePort(port);
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
