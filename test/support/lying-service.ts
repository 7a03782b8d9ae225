/** A service played by a test: well-formed answers unless the test lies about one. Money is never moved; the real service is for that. */
import type { PublisherSite } from './publisher-site.ts';
import { UA } from './publisher-site.ts';

/** Settings as the service has them. */
export const CONFIG = {
  enforcement: {
    articlePrefixes: ['/articles/'],
    gateScope: { mode: 'prefixes' },
    seoAllowlist: [],
    crawlerPolicy: { allow: [], charge: [], block: [] },
    licenseIdentity: 'https://svc.example',
  },
  manifest: { resources: ['https://alpha.example/'] },
  version: 1,
};
/** A quote as the service has it. */
export const QUOTE = {
  price: 1_000,
  kind: 'read',
  slug: 'solo',
  resource: 'https://alpha.example/articles/solo',
  legs: [],
  quoteToken: 't',
  payees: [{ authorId: 'ann', share: 1 }],
  expiresAt: Date.now() + 600_000,
  x402: { header: btoa('{"x402Version":2}'), body: { x402Version: 1 } },
};
/** A receipt as the service has it. */
export const RECEIPT = { ok: true, payer: '0x1', licenseJws: 'a.b.c', chargedMicro: '1000' };

/** What is asked, by the ends of paths. */
export type Lies = Readonly<Partial<Record<'enforce-config' | 'quote' | 'verify', () => Response | Promise<Response>>>>;

/** An answer of JSON. */
export function told(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
}

/** A `fetch` to the service; `lies` are asked at each call. */
export function serviceThat(lies: Lies): typeof fetch {
  const truth = { 'enforce-config': CONFIG, quote: QUOTE, verify: RECEIPT, observe: { ok: true, accepted: 1 } };
  return async (input) => {
    const name = new URL(String(input)).pathname.split('/').at(-1) as keyof typeof truth;
    return (await (lies as Record<string, () => Response | Promise<Response>>)[name]?.()) ?? told(truth[name]);
  };
}

/** A payment for a page, of which the service says what it likes. */
export function buy(shop: Pick<PublisherSite, 'get'>, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return shop.get('/articles/solo', { 'user-agent': UA.agent, 'x-payment': 'junk', ...headers });
}
