/** What stands before the WordPress, as a host's proxy does: https ends here. To the service it is the internet of `sandbox.example`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A running front. */
export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

/** Passes every request on to PHP's port under the site's public name, whatever name it came by. */
export async function openFront(host: string, phpPort: number): Promise<Front> {
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url?.startsWith('/control/dns')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"txt":[],"cname":null}');
      return;
    }
    const headers = { ...request.headers, host, 'x-forwarded-proto': 'https' };
    const { url: path, method } = request;
    const sent = forward({ host: '127.0.0.1', port: phpPort, path, method, headers }, (answer) => {
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
