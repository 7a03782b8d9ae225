/** What a request buys, and where it may go. */
import { createHash } from 'node:crypto';
import { AgentError } from '../errors.ts';

/** One thing to buy: the same one has the same `key`. */
export interface Purchase {
  readonly key: string;
  readonly url: URL;
}

/** What `request` buys. Payments travel over https, or stay on this machine. */
export async function purchaseOf(request: Request): Promise<Purchase> {
  const url = addressOf(request.url);
  const body = request.body === null ? Buffer.alloc(0) : Buffer.from(await request.clone().arrayBuffer());
  const digest = body.length === 0 ? '' : ` ${createHash('sha256').update(body).digest('hex')}`;
  return { key: `${request.method} ${url.href}${digest}`, url };
}

/** An address that may be asked, without its fragment; `address_refused` for any other. */
export function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url)
    throw new AgentError(
      'address_refused',
      'This is not the address of a page. Write it in full: https://news.example/articles/trio',
    );
  url.hash = '';
  if (url.username !== '' || url.password !== '')
    throw new AgentError('address_refused', 'An address that contains a password is not requested.');
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url;
  throw new AgentError('address_refused', `Only https addresses are requested, and this one is ${url.protocol}//.`);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
