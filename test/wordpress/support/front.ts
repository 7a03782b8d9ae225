/** What stands before the WordPress, as a host's proxy does: https ends here. To the service it is the internet of `sandbox.example`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A running front. */
export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

function renamed(text: string, host: string, own: string): string {
  const escaped = (address: string): string => address.replaceAll('/', '\\/');
  const asParameter = (address: string): string => `redirect_uri=${encodeURIComponent(address)}`;
  return text
    .replaceAll(asParameter(`https://${host}/`), asParameter(`http://${own}/`))
    .replaceAll(`https://${host}`, `http://${own}`)
    .replaceAll(escaped(`https://${host}`), escaped(`http://${own}`))
    .replaceAll(/; secure/gi, '');
}

/** An answer with other addresses in its head and, where it is text, in its body. */
function translate(answer: IncomingMessage, response: ServerResponse, rename: (text: string) => string): void {
  const { 'content-length': _length, 'transfer-encoding': _transfer, ...headers } = answer.headers;
  const changed = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(rename) : rename(value ?? ''),
  ]);
  response.writeHead(answer.statusCode ?? 502, Object.fromEntries(changed));
  if (!/^(text\/|application\/(json|javascript))/.test(String(headers['content-type'] ?? ''))) return void answer.pipe(response);
  const chunks: Buffer[] = [];
  answer.on('data', (chunk: Buffer) => void chunks.push(chunk));
  answer.on('end', () => response.end(rename(Buffer.concat(chunks).toString('utf8'))));
}

/**
 * Passes every request on to PHP's port under the site's public name, whatever name it came by. `isForPeople`: who comes by the front's own address
 * finds links to that in the pages, where the site has its public name, which no browser can reach. `hosts`: further names of a network, each of which
 * stays the one that was asked by, in `Host` or, where fetch may not set it, in `x-host`.
 */
export async function openFront(
  host: string,
  phpPort: number,
  { isForPeople = false, hosts = [] }: { readonly isForPeople?: boolean; readonly hosts?: readonly string[] } = {},
): Promise<Front> {
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url?.startsWith('/control/dns')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"txt":[],"cname":null}');
      return;
    }
    const named = String(request.headers['x-host'] ?? request.headers.host);
    const asked = hosts.includes(named) ? named : host;
    const headers: Record<string, string | string[] | undefined> = {
      ...request.headers,
      host: asked,
      'x-forwarded-proto': 'https',
    };
    const { url: path, method } = request;
    if (isForPeople) headers['accept-encoding'] = 'identity';
    const own = request.headers.host ?? host;
    const sent = forward({ host: '127.0.0.1', port: phpPort, path, method, headers }, (answer) => {
      if (isForPeople && own.startsWith('127.')) return translate(answer, response, (text) => renamed(text, host, own));
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
