/** What licences cost a site to check, and that no failure of a check gives pages away. */
import fc from 'fast-check';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { canonicalPath, compilePattern, matches } from '../../../modules/kernel/pages/scope.ts';
import type { Client } from '../../../packages/publisher/src/client.ts';
import { Breaker } from '../../../packages/publisher/src/core/breaker.ts';
import { mayCover } from '../../../packages/publisher/src/core/scope.ts';
import { openLicences } from '../../../packages/publisher/src/knowing/licences.ts';
import { openSales } from '../../../packages/publisher/src/selling/sale.ts';

const NOW = 1_700_000_000_000;
const PROOF = `1700000000.abcdefgh.0x${'ab'.repeat(65)}`;

/** Licences of a site whose service answers `check` like that, and what was asked. */
async function opened(answer: () => Promise<unknown>) {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA');
  const key = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'EdDSA' };
  let asked = 0;
  const time = { ms: NOW };
  const client = {
    jwks: async () => ({ ok: true, status: 200, headers: new Headers(), body: { keys: [key] } }),
    check: () => {
      asked += 1;
      return answer();
    },
  } as unknown as Client;
  const failures = { note: () => undefined, counts: () => ({}) };
  const now = () => time.ms;
  const licences = openLicences({ client, now, failures, breaker: new Breaker(now), isTest: false });
  const mint = (svc: object, more: object = {}) =>
    new SignJWT({ svc: { v: 1, grant: 'read', kind: 'read', slug: 'solo', ...svc }, jti: 'j', ...more })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'k' })
      .setIssuer('https://svc.example')
      .setAudience('https://alpha.example')
      .setIssuedAt(NOW / 1_000)
      .setNotBefore(NOW / 1_000)
      .setExpirationTime(NOW / 1_000 + 3_600)
      .sign(privateKey);
  const worthOf = (license: string, path = '/articles/solo', proof?: string) =>
    licences.worthOf({
      license,
      issuer: 'https://svc.example',
      host: 'alpha.example',
      resource: `https://alpha.example${path}`,
      slug: 'solo',
      kind: 'read',
      ...(proof === undefined ? {} : { proof }),
    });
  return { mint, worthOf, time, asked: () => asked };
}
const entitled = async () => ({ ok: true, status: 200, headers: new Headers(), body: { entitled: true } });
const HOLDER = { cnf: { address: `0x${'a'.repeat(40)}` } };

test('a licence of a holder is asked about with a proof only', async () => {
  const { mint, worthOf, asked } = await opened(entitled);
  const bound = await mint({}, HOLDER);
  for (const proof of [undefined, '', 'x', '1.a.0x', `${PROOF}.x`])
    expect(await worthOf(bound, '/articles/solo', proof)).toBe('invalid_token');
  expect(asked()).toBe(0);
  expect([await worthOf(bound, '/articles/solo', PROOF), asked()]).toEqual(['good', 1]);
});

test('a page outside the scope of a licence asks nobody', async () => {
  const { mint, worthOf, asked } = await opened(entitled);
  const scoped = await mint({ scope: { patterns: ['/articles/*', '/b$'] } });
  expect([await worthOf(scoped, '/other/1'), await worthOf(scoped, '/bb'), asked()]).toEqual([
    'insufficient_scope',
    'insufficient_scope',
    0,
  ]);
  expect([await worthOf(scoped, '/articles/1'), await worthOf(scoped, '/b'), asked()]).toEqual(['good', 'good', 2]);
});

test('sixteen licences are asked about at once and fifty a second, and none opens a page above that', async () => {
  const waiting: (() => void)[] = [];
  const slow = await opened(() => new Promise((resolve) => waiting.push(() => void entitled().then(resolve))));
  const bound = await Promise.all(Array.from({ length: 40 }, (_, n) => slow.mint({}, { ...HOLDER, jti: `j${n}` })));
  const all = Array.from({ length: 200 }, (_, n) => slow.worthOf(bound[n % 40] ?? '', '/articles/solo', PROOF));
  let busy = 0;
  for (const one of all) void one.then((worth) => (busy += worth === 'busy' ? 1 : 0));
  await expect.poll(() => busy).toBe(184);
  expect(slow.asked()).toBe(16);
  for (const answer of waiting) answer();
  await Promise.all(all);
  const quick = await opened(entitled);
  const three = [1, 2, 3].map((n) => quick.mint({ scope: { patterns: ['/*'] } }, { jti: `j${n}` }));
  const [scoped = '', ...others] = await Promise.all(three);
  const found = [];
  for (let n = 0; n < 60; n += 1) found.push(await quick.worthOf([scoped, ...others][n % 3] ?? '', `/articles/${n}`));
  expect([found.filter((one) => one === 'good').length, found.at(-1), quick.asked()]).toEqual([50, 'busy', 50]);
  quick.time.ms += 1_000;
  expect(await quick.worthOf(scoped, '/articles/later')).toBe('good');
});

test('one licence is asked about eight times at once and twenty times a second, so that its holder leaves the others room', async () => {
  const waiting: (() => void)[] = [];
  const slow = await opened(() => new Promise((resolve) => waiting.push(() => void entitled().then(resolve))));
  const [greedy, other] = [await slow.mint({}, HOLDER), await slow.mint({}, { ...HOLDER, jti: 'other' })];
  const all = Array.from({ length: 100 }, () => slow.worthOf(greedy, '/articles/solo', PROOF));
  await expect.poll(() => slow.asked()).toBe(8);
  const honest = slow.worthOf(other, '/articles/solo', PROOF);
  await expect.poll(() => slow.asked()).toBe(9);
  for (const answer of waiting) answer();
  expect([await honest, (await Promise.all(all)).filter((one) => one === 'good').length]).toEqual(['good', 8]);
  const quick = await opened(entitled);
  const scoped = await quick.mint({ scope: { patterns: ['/*'] } });
  const found = [];
  for (let n = 0; n < 60; n += 1) found.push(await quick.worthOf(scoped, `/articles/${n}`));
  expect([found.filter((one) => one === 'good').length, found.at(-1)]).toEqual([20, 'busy']);
  expect(await quick.worthOf(await quick.mint({ scope: { patterns: ['/*'] } }, { jti: 'other' }), '/articles/a')).toBe('good');
});

test('tokens of one licence share its twenty questions a second, however many of them its account has fetched', async () => {
  const { mint, worthOf, asked } = await opened(entitled);
  const token = (licence: string, jti: string) => mint({ licence, scope: { patterns: ['/*'] } }, { jti });
  const fetched = await Promise.all(Array.from({ length: 60 }, (_, n) => token('bought-once', `token-${n}`)));
  const found = [];
  for (const [n, license] of fetched.entries()) found.push(await worthOf(license, `/articles/${n}`));
  expect([found.filter((one) => one === 'good').length, found.at(-1), asked()]).toEqual([20, 'busy', 20]);
  expect(await worthOf(await token('another', 'token'), '/articles/a')).toBe('good');
});

test('the gate refuses no page by its scope that the service would give', () => {
  const part = fc.constantFrom('/', 'a', 'b', '*', '%2A', '%24', '$', '%61', '%2F', '//', 'é', ' ', '~');
  const paths = fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join('')}`);
  fc.assert(
    fc.property(paths, paths, (raw, wanted) => {
      const pattern = encodeURI(raw).replaceAll('%25', '%');
      const resource = `https://a.example${wanted.replaceAll('$', '%24')}`;
      const path = decodeURIComponent(new URL(resource).pathname.replaceAll('%2F', '%252F'));
      let compiled: ReturnType<typeof compilePattern>;
      try {
        compiled = compilePattern(pattern);
      } catch {
        return;
      }
      if (matches(compiled, canonicalPath(path))) expect(mayCover({ patterns: [pattern] }, resource)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('payments on a network that is away close no sales on another one', async () => {
  let asked = 0;
  const verify = async () => {
    asked += 1;
    return { ok: false, why: 'status', status: 503, code: 'chain_unavailable', headers: new Headers() };
  };
  const sales = openSales({
    client: { verify } as unknown as Client,
    now: () => NOW,
    failures: { note: () => undefined, counts: () => ({}) },
    pages: {} as never,
    maxPageBytes: 1_000,
    unservable: () => undefined,
    bodies: null,
    receiptName: 'service',
  });
  const purchase = { page: { userAgent: '', signed: {} }, quote: {}, caller: {}, payment: 'p', accept: '' } as never;
  for (let n = 0; n < 8; n += 1) await sales.open(purchase)?.finish({ status: 200, bytes: 1, chunks: [Buffer.from('x')] });
  expect(asked).toBe(8);
});
