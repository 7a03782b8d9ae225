import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../../api/app.ts';
import { withSafetyHeaders } from '../../api/everyAnswer.ts';
import { ALPHA_PRICING, startTestApi } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let site: Awaited<ReturnType<typeof api.site>>;
let plain: { readonly url: string; readonly stop: () => void };

beforeAll(async () => {
  api = await startTestApi();
  site = await api.site();
  const server = createServer(withSafetyHeaders(api.deps.baseUrl, createApi(api.deps, { withRouter: false })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  plain = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
});

afterAll(async () => {
  plain.stop();
  await api.stop();
});

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Heard {
  readonly status: number | undefined;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Status, raw headers and bytes of one answer. */
function ask(url: string, { method = 'GET', path, headers = {}, body }: Sent): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const request = send(
      { host: '127.0.0.1', port, method, path, headers: { 'x-request-id': 'same', ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => {
          resolve({ status: response.statusCode, headers: response.rawHeaders, body: Buffer.concat(chunks).toString('latin1') });
        });
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}

/** What differs from answer to answer, made the same. */
function settled({ status, headers, body }: Heard): Heard {
  const changing = /"(quoteId|issuedAt|expiresAt|quoteToken)":("[^"]*"|\d+)/g;
  const date = headers.findIndex((name) => name.toLowerCase() === 'date');
  return { status, headers: headers.with(date + 1, 'now'), body: body.replace(changing, '"$1":0') };
}

const page = (host: string, path: string): string => encodeURIComponent(`https://${host}${path}`);
const key = (): Record<string, string> => ({ authorization: `Bearer ${site.key}` });

/** Requests of every sort, each with what makes it one. */
const REQUESTS: readonly (readonly [string, () => Sent])[] = [
  ['a quote', () => ({ path: `/_svc/quote?resource=${page(site.host, '/articles/solo')}`, headers: key() })],
  ['a quote of three authors', () => ({ path: `/_svc/quote?resource=${page(site.host, '/articles/trio')}`, headers: key() })],
  ['a citation', () => ({ path: `/_svc/quote?kind=citation&slug=duo`, headers: key() })],
  ['a quote with an offer', () => ({ path: `/_svc/quote?slug=solo&build=402`, headers: key() })],
  ['a free page', () => ({ path: `/_svc/quote?slug=free`, headers: key() })],
  ['a page that is no article', () => ({ path: `/_svc/quote?resource=${page(site.host, '/about')}`, headers: key() })],
  ['a foreign page', () => ({ path: `/_svc/quote?resource=${page('other.example', '/articles/solo')}`, headers: key() })],
  ['a broken query', () => ({ path: '/_svc/quote?kind=lease', headers: key() })],
  ['a repeated parameter', () => ({ path: '/_svc/quote?slug=solo&slug=solo', headers: key() })],
  ['a query that is not UTF-8', () => ({ path: '/_svc/quote?slug=%ff%zz', headers: key() })],
  ['no query', () => ({ path: '/_svc/quote', headers: key() })],
  ['HEAD', () => ({ method: 'HEAD', path: '/_svc/quote?slug=solo', headers: key() })],
  ['a GET with a body', () => ({ path: '/_svc/quote?slug=solo', headers: { ...key(), 'content-length': '3' }, body: 'abc' })],
  ['no key', () => ({ path: '/_svc/quote?slug=solo' })],
  ['an unknown key', () => ({ path: '/_svc/quote?slug=solo', headers: { authorization: 'Bearer svc_live_x' } })],
  ['a problem', () => ({ path: '/_svc/quote', headers: { ...key(), accept: 'application/problem+json' } })],
  ['a wrong method', () => ({ method: 'DELETE', path: '/_svc/quote', headers: key() })],
  ['another case', () => ({ path: '/_svc/Quote?slug=solo', headers: key() })],
  ['a slash at the end', () => ({ path: '/_svc/quote/?slug=solo', headers: key() })],
  ['an absolute address', () => ({ path: `http://svc.example/_svc/quote?slug=solo`, headers: key() })],
  ['an unknown path', () => ({ path: '/_svc/nothing' })],
  ['a path that cannot be read', () => ({ path: '/_svc/licenses/%ff/access' })],
  ['a report', () => ({ method: 'POST', path: '/_svc/observe', headers: key(), body: report() })],
  ['a broken report', () => ({ method: 'POST', path: '/_svc/observe', headers: key(), body: '[{]' })],
  ['a licence check', () => ({ method: 'POST', path: '/_svc/license/check', headers: key(), body: question() })],
  ['the key set', () => ({ path: '/.well-known/jwks.json' })],
];

function report(): string {
  return JSON.stringify({ resource: `https://${site.host}/articles/solo`, verdict: 'denied', classifiedAs: 'agent' });
}

function question(): string {
  return JSON.stringify({ license: 'a.b.c', resource: `https://${site.host}/articles/solo`, slug: 'solo' });
}

test.each(REQUESTS)(
  '%s is answered alike through the router and through Express, the first time and from memory',
  async (_, make) => {
    const sent = make();
    const first = settled(await ask(api.url, sent));
    const again = settled(await ask(api.url, sent));
    const express = settled(await ask(plain.url, sent));
    expect(first.status).toBeDefined();
    expect(again).toEqual(first);
    expect(express).toEqual(first);
  },
);

test('a quote from memory is a new one, and its token is as good as any', async () => {
  const sent = { path: `/_svc/quote?resource=${page(site.host, '/articles/trio')}`, headers: key() };
  const quotes = await Promise.all(
    [1, 2, 3].map(async () => JSON.parse((await ask(api.url, sent)).body) as Record<string, unknown>),
  );
  expect(new Set(quotes.map(({ quoteId }) => quoteId)).size).toBe(3);
  expect(new Set(quotes.map(({ quoteToken }) => quoteToken)).size).toBe(3);
  for (const { issuedAt, expiresAt } of quotes) expect(Number(expiresAt) - Number(issuedAt)).toBe(600_000);
});

test('a connection that changes its key is judged by the new one', async () => {
  const other = await api.site({ pricing: { ...ALPHA_PRICING, priceUsdc: '0.002' } });
  const sent = { path: '/_svc/quote?slug=solo', headers: key() };
  const prices: unknown[] = [];
  for (const token of [site.key, other.key, site.key]) {
    const { body } = await ask(api.url, { ...sent, headers: { authorization: `Bearer ${token}`, connection: 'keep-alive' } });
    prices.push((JSON.parse(body) as { price: number }).price);
  }
  expect(prices).toEqual([1_000, 2_000, 1_000]);
});
