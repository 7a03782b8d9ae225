/** What stands before the WordPress, as a host's proxy does: https ends here. To the service it is the internet of `sandbox.example`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A running front. */
export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

/** How the front treats what comes: passes it on, keeps it without an answer, or answers 500 by itself. */
export type Mood = 'passes' | 'hangs' | 'fails';

/**
 * Passes every request on to a port of this machine; with `host`, under that name, whatever name it came by. Where nobody listens, the
 * connection is cut.
 */
export async function openFront(to: {
  readonly host?: string;
  readonly port: () => number;
  readonly mood?: () => Mood;
}): Promise<Front> {
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const mood = to.mood?.() ?? 'passes';
    if (mood === 'hangs') return;
    if (mood === 'fails') {
      response.writeHead(500).end('broken');
      return;
    }
    if (request.url?.startsWith('/control/dns')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"txt":[],"cname":null}');
      return;
    }
    const named = to.host === undefined ? {} : { host: to.host, 'x-forwarded-proto': 'https' };
    const { url: path, method } = request;
    const headers = { ...request.headers, ...named };
    const sent = forward({ host: '127.0.0.1', port: to.port(), path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  };
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
