/** What a browser lets a web page of another origin do with the endpoints of buyers, and with no other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import type { TestAnswer } from '../support/api.ts';
import { startTestApi } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const ORIGIN = 'https://reader.example';
const namesIn = (answer: TestAnswer, header: string) => (answer.headers.get(header) ?? '').split(', ');

function preflight(path: string, method: string, headers: readonly string[]): Promise<TestAnswer> {
  const asked = { 'access-control-request-method': method, 'access-control-request-headers': headers.join(',') };
  return api.request(path, { method: 'OPTIONS', headers: { origin: ORIGIN, ...asked } });
}

const BUYERS: readonly (readonly [string, string])[] = [
  ['POST', '/_svc/licenses/quote'],
  ['POST', '/_svc/licenses'],
  ['GET', '/_svc/licenses/held'],
  ['POST', '/_svc/licenses/ffffffff-ffff-4fff-8fff-ffffffffffff/access'],
  ['GET', '/_svc/licenses/offers/ffffffff-ffff-4fff-8fff-ffffffffffff/legs'],
  ['GET', '/_svc/accounts/challenge'],
  ['GET', '/_svc/accounts/notices'],
  ['POST', '/_svc/accounts/token'],
  ['GET', '/.well-known/jwks.json'],
];

test.each(BUYERS)('%s %s may be called by a page with any header that its tools send', async (method, path) => {
  const allowed = await preflight(path, method, ['authorization', 'content-type', 'payment-signature', 'traceparent']);
  expect([allowed.status, allowed.body, allowed.headers.get('access-control-allow-origin')]).toEqual([204, '', '*']);
  expect(namesIn(allowed, 'access-control-allow-methods')).toContain(method);
  // The asterisk covers every name but Authorization (Fetch standard).
  expect(namesIn(allowed, 'access-control-allow-headers')).toEqual(['*', 'Authorization']);
  expect(allowed.headers.has('access-control-allow-credentials')).toBe(false);
});

test('a page reads the offer of a licence with its header, and why it is refused', async () => {
  const { host } = await api.site();
  const { token } = await createBuyerAccount(api.deps);
  const body = { host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' };
  const offer = await api.post('/_svc/licenses', token, body, { origin: ORIGIN });
  const refused = await api.post('/_svc/licenses', null, body, { origin: ORIGIN });
  expect([offer.status, refused.status]).toEqual([402, 401]);
  for (const answer of [offer, refused]) {
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const shown = namesIn(answer, 'access-control-expose-headers');
    expect(shown).toEqual(expect.arrayContaining(['payment-required', 'payment-response', 'x-payment-response', 'retry-after']));
  }
  expect(offer.headers.get('payment-required')).not.toBeNull();
});

test('what takes a publisher key is for servers: no page may call it or read its answers', async () => {
  const { key } = await api.site();
  for (const path of ['/_svc/quote', '/_svc/verify', '/_svc/earnings']) {
    const asked = await preflight(path, 'GET', ['authorization']);
    expect([asked.status, asked.headers.has('access-control-allow-origin')]).toEqual([405, false]);
  }
  const quote = await api.request('/_svc/quote?slug=solo', { key, headers: { origin: ORIGIN } });
  expect([quote.status, quote.headers.has('access-control-allow-origin')]).toEqual([200, false]);
});

test('whoever has the keys of licences already is told so', async () => {
  const first = await api.request('/.well-known/jwks.json');
  const etag = first.headers.get('etag') ?? '';
  expect([first.status, first.headers.get('content-type'), first.body.keys.length]).toEqual([
    200,
    'application/json; charset=utf-8',
    expect.any(Number),
  ]);
  const again = await api.request('/.well-known/jwks.json', { headers: { 'if-none-match': etag } });
  expect([again.status, again.body]).toEqual([304, '']);
});
