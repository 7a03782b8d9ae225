import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { revokeLicence, revokeToken } from '../../modules/licences/use/revoke.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { acceptPurchase, sellLicence, settlePurchase } from '../support/buyers.ts';
import { proofOf } from '../support/licences.ts';
import { newAccount } from '../support/payments.ts';

let api: TestApi;
let site: Awaited<ReturnType<TestApi['site']>>;
let buyer: { accountId: string; token: string };
beforeAll(async () => {
  api = await startTestApi();
  site = await api.site();
  buyer = await createBuyerAccount(api.deps);
});
afterAll(() => api.stop());

const DAY_MS = 86_400_000;
const wanted = (changes: Record<string, unknown> = {}) => ({
  host: site.host,
  scope: ['/articles/*'],
  terms: ['ai-input'],
  periodDays: 30,
  kind: 'read' as const,
  ...changes,
});
const open = (jti: string, body: unknown = {}, token = buyer.token) => api.post(`/_svc/licenses/${jti}/access`, token, body);
async function entitled(license: string, slug: string, changes: Record<string, unknown> = {}): Promise<boolean> {
  const body = { license, resource: `https://${site.host}/articles/${slug}`, slug, ...changes };
  const answer = await api.post('/_svc/license/check', site.key, body);
  expect(answer.status).toBe(200);
  return answer.body.entitled;
}
async function during<T>(offsetMs: number, work: () => Promise<T>): Promise<T> {
  api.time.offsetMs = offsetMs;
  try {
    return await work();
  } finally {
    api.time.offsetMs = 0;
  }
}

test('a token lives ten minutes and never longer than the period; in the second it ends it entitles to nothing', async () => {
  const nowMs = Math.ceil(Date.now() / 1_000) * 1_000;
  api.time.stoppedAtMs = nowMs;
  const { jti } = await sellLicence(api, buyer.accountId, wanted({ periodDays: 1 / 24 }));
  const { body } = await open(jti);
  expect(body.expiresAt).toBe(nowMs + 600_000);
  expect(await entitled(body.license, 'solo')).toBe(true);
  expect(await during(599_999, () => entitled(body.license, 'solo'))).toBe(true);
  expect(await during(600_000, () => entitled(body.license, 'solo'))).toBe(false);
  const last = await during(3_500_000, () => open(jti));
  expect(last.body.expiresAt).toBe(body.periodUntil);
  const after = await during(3_600_000, () => open(jti));
  expect([after.status, after.headers.get('x-svc-error-code')]).toEqual([403, 'outside_period']);
  expect(await during(3_600_000, () => entitled(last.body.license, 'solo'))).toBe(false);
  api.time.stoppedAtMs = null;
});

test('before its period a licence is held and opens nothing', async () => {
  const { jti } = await sellLicence(api, buyer.accountId, wanted({ startsAt: Date.now() + DAY_MS }));
  const early = await open(jti);
  expect([early.status, early.body.error]).toEqual([403, expect.stringContaining('has not begun')]);
  const held = await api.request('/_svc/licenses/held', { key: buyer.token });
  expect(held.body.licences[0].jti).toBe(jti);
  expect((await during(DAY_MS + 1_000, () => open(jti))).status).toBe(200);
});

test('tokens are narrowed by exact paths and patterns, never widened', async () => {
  const { jti } = await sellLicence(api, buyer.accountId, wanted());
  const patterns = async (paths: unknown): Promise<unknown> => {
    const answer = await open(jti, { paths });
    return answer.status === 200 ? answer.body.patterns : answer.status;
  };
  expect(await patterns(['/articles/solo'])).toEqual(['/articles/solo$']);
  expect(await patterns(['/articles/solo$', '/articles/t*'])).toEqual(['/articles/solo$', '/articles/trio$']);
  expect(await patterns(['/articles/*'])).toEqual(['/articles/duo$', '/articles/solo$', '/articles/trio$']);
  expect(await patterns(['/articles/sol'])).toBe(409);
  expect(await patterns(['/articles/solo', '/articles/free'])).toBe(409);
  expect(await patterns(['/other/*'])).toBe(409);
  expect(await patterns(['/*'])).toBe(409);
  expect(await patterns(['/articles/solo', '/article*'])).toBe(409);
  for (const paths of [[], ['solo'], [''], ['/é'], [7], 'x', Array.from({ length: 101 }, (_, n) => `/${n}`), ['/%']]) {
    expect(await patterns(paths), JSON.stringify(paths)).toBe(400);
  }
});

test('what is not mine on this site is the same 404, known or not, well formed or not', async () => {
  const { jti } = await sellLicence(api, buyer.accountId, wanted());
  const other = await createBuyerAccount(api.deps);
  const elsewhere = await api.site();
  const answers = [
    await open(jti, {}, other.token),
    await open(randomUUID()),
    await open('no-uuid'),
    await open("' or 1=1 --".replaceAll(' ', '%20')),
    await open(jti, { host: elsewhere.host }),
    await open(jti, { host: 'nobody.example' }),
  ];
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  expect(new Set(answers.map(({ body }) => body.error)).size).toBe(1);
  expect((await open(jti, { host: site.host })).status).toBe(200);
  expect((await api.request('/_svc/licenses/held', { key: other.token })).body.licences).toEqual([]);
  const foreign = await open(jti);
  const body = { license: foreign.body.license, resource: `https://${elsewhere.host}/articles/solo`, slug: 'solo' };
  expect((await api.post('/_svc/license/check', elsewhere.key, body)).body).toEqual({ entitled: false });
});

test('a revoked licence and a denied token entitle to nothing from the next check on', async () => {
  const { jti, tenantId } = await sellLicence(api, buyer.accountId, wanted());
  const [first, second] = [(await open(jti)).body.license, (await open(jti)).body.license];
  const claims = JSON.parse(Buffer.from(first.split('.')[1] ?? '', 'base64url').toString());
  expect(claims.svc.licence).toBe(jti);
  await revokeToken(api.deps, { tenantId, jti: claims.jti });
  expect([await entitled(first, 'solo'), await entitled(second, 'solo')]).toEqual([false, true]);
  await revokeLicence(api.deps, { tenantId, jti });
  await revokeLicence(api.deps, { tenantId, jti });
  expect(await entitled(second, 'solo')).toBe(false);
  expect((await open(jti)).status).toBe(404);
  await expect(revokeLicence(api.deps, { tenantId, jti: randomUUID() })).rejects.toMatchObject({ code: 'not_found' });
});

test('a reorg takes the licence back, late evidence gives it again, and a revocation outlives both', async () => {
  const purchase = await acceptPurchase(api, buyer.accountId, wanted());
  const { txHash } = await settlePurchase(api.deps.database, purchase);
  const { database } = api.deps;
  const ref = { tenantId: purchase.tenantId, paymentId: purchase.paymentId };
  const transfer = { txHash, logIndex: 0, blockNumber: 2n };
  await applyEvents(database, [{ ...ref, event: { type: 'safe', transfer } }]);
  const token = (await open(purchase.paymentId)).body.license;
  expect(await entitled(token, 'solo')).toBe(true);
  await applyEvents(database, [{ ...ref, event: { type: 'reorged', transfer } }]);
  expect(await entitled(token, 'solo')).toBe(false);
  expect((await open(purchase.paymentId)).status).toBe(404);
  await settlePurchase(database, ref);
  expect(await entitled(token, 'solo')).toBe(true);
  expect((await open(purchase.paymentId)).status).toBe(200);
  const sums = await database.query<{ micro: string }>('select sum(micro) as micro from crossing where payment_id = $1', [
    ref.paymentId,
  ]);
  expect(sums).toEqual([{ micro: '3000' }]);
  await revokeLicence(api.deps, { tenantId: ref.tenantId, jti: ref.paymentId });
  const again = (
    await database.query<{ tx_hash: string }>('select tx_hash from payment where payment_id = $1', [ref.paymentId])
  )[0];
  const later = { txHash: again?.tx_hash ?? '', logIndex: 0, blockNumber: 2n };
  await applyEvents(database, [{ ...ref, event: { type: 'safe', transfer: later } }]);
  await applyEvents(database, [{ ...ref, event: { type: 'reorged', transfer: later } }]);
  await settlePurchase(database, ref);
  expect([await entitled(token, 'solo'), (await open(ref.paymentId)).status]).toEqual([false, 404]);
});

test('more than 64 pages stand in a token as a hash, and storage decides, narrowed tokens included', async () => {
  const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] };
  const creditsInline = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`p${n}`, credits]));
  const large = await api.site({ pricing: { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline } });
  const { jti } = await sellLicence(api, buyer.accountId, wanted({ host: large.host }));
  const check = async (license: string, slug: string): Promise<boolean> => {
    const body = { license, resource: `https://${large.host}/articles/${slug}`, slug };
    return (await api.post('/_svc/license/check', large.key, body)).body.entitled;
  };
  const whole = await open(jti);
  expect(whole.body.patterns).toHaveLength(90);
  expect(whole.body.license.length).toBeLessThan(4_096);
  const narrowed = await open(jti, {
    paths: [
      '/articles/p1*',
      '/articles/p2*',
      '/articles/p3*',
      '/articles/p4*',
      '/articles/p5*',
      '/articles/p6*',
      '/articles/p7*',
    ],
  });
  expect(narrowed.body.patterns).toHaveLength(77);
  const claims = JSON.parse(Buffer.from(narrowed.body.license.split('.')[1] ?? '', 'base64url').toString());
  expect(Object.keys(claims.svc.scope)).toEqual(['pagesHash']);
  expect(await Promise.all(['p8', 'p1', 'p90'].map((slug) => check(whole.body.license, slug)))).toEqual([true, true, false]);
  expect(await Promise.all(['p8', 'p1', 'p90'].map((slug) => check(narrowed.body.license, slug)))).toEqual([false, true, false]);
});

test('imported pages are sold under their own paths, special characters included', async () => {
  const own = await api.site();
  const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] };
  await importPages(api.deps, {
    tenantId: own.tenantId,
    pages: [
      { slug: 'star', path: '/notes/a*b $c', credits },
      { slug: 'umlaut', path: '/notes/über uns', credits },
    ],
  });
  const { jti } = await sellLicence(api, buyer.accountId, wanted({ host: own.host, scope: ['/notes/'] }));
  const { body } = await open(jti);
  expect(body.patterns).toEqual(['/notes/%C3%BCber%20uns$', '/notes/a%2Ab%20%24c$']);
  const check = async (path: string, slug: string): Promise<boolean> => {
    const question = { license: body.license, resource: `https://${own.host}${path}`, slug };
    return (await api.post('/_svc/license/check', own.key, question)).body.entitled;
  };
  expect(await check('/notes/a%2ab%20$c', 'star')).toBe(true);
  expect(await check('/notes/a*b%20%24c', 'star')).toBe(true);
  expect(await check('/notes/axxb%20$c', 'star')).toBe(false);
  expect(await check('/notes/%c3%bcber%20uns', 'umlaut')).toBe(true);
});

test('forged access tokens are false, never an error', async () => {
  const { jti } = await sellLicence(api, buyer.accountId, wanted({ scope: ['/articles/solo$'] }));
  const good = (await open(jti)).body.license as string;
  const [header = '', payload = '', signature = ''] = good.split('.');
  const { kid } = api.deps.keyring.current();
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const text = (value: string): string => Buffer.from(value).toString('base64url');
  const altered = (changes: object): string => `${header}.${text(JSON.stringify({ ...claims, ...changes }))}.${signature}`;
  const forged = [
    altered({ svc: { ...claims.svc, scope: { patterns: ['/'] } } }),
    altered({ svc: { ...claims.svc, scope: undefined, slug: 'solo' } }),
    altered({ exp: claims.exp + 1 }),
    altered({ cnf: undefined, sub: 'me' }),
    `${text(`{"alg":"none","alg":"EdDSA","typ":"JWT","kid":"${kid}"}`)}.${payload}.${signature}`,
    `${text(`{"alg":"EdDSA","typ":"JWT","kid":"x","kid":"${kid}"}`)}.${payload}.${signature}`,
    `${text(`{"alg":"EdDSA","typ":"JWT","kid":"${kid}","__proto__":{"alg":"none"}}`)}.${payload}.${signature}`,
    `${header}.${text(`{"exp":9999999999,${JSON.stringify(claims).slice(1)}`)}.${signature}`,
    `${good}${'A'.repeat(5_120)}`,
    good.replace(payload, ''),
    good.split('').reverse().join(''),
  ];
  for (const token of forged) expect(await entitled(token, 'solo'), token.slice(0, 60)).toBe(false);
  const signed: object[] = [
    { ...claims, svc: { ...claims.svc, licence: 7 } },
    { ...claims, svc: { ...claims.svc, scope: { pagesHash: 'x' } } },
    { ...claims, svc: { ...claims.svc, scope: { patterns: [7, null] } } },
    { ...claims, svc: { ...claims.svc, scope: { patterns: '/' } } },
    { ...claims, svc: { ...claims.svc, scope: null } },
    { ...claims, cnf: {} },
    { ...claims, cnf: null },
    { ...claims, cnf: { address: '0xABC' } },
  ];
  for (const one of signed)
    expect(await entitled(await api.deps.keyring.sign(kid, one), 'solo'), JSON.stringify(one)).toBe(false);
  expect(await entitled(good, 'solo')).toBe(true);
});

test('an access token can be bound to a wallet, a bound licence to no other', async () => {
  const [wallet, other] = [newAccount(), newAccount()];
  const { jti } = await sellLicence(api, buyer.accountId, wanted());
  const { license } = (await open(jti, { holder: wallet.address })).body;
  const proof = await proofOf(wallet, license, 'solo', 'nonce-of-a-proof');
  const replayed = [proof, proof].map((one) => entitled(license, 'solo', { proof: one }));
  expect((await Promise.all(replayed)).sort()).toEqual([false, true]);
  for (const bad of ['', 'x', `1.${proof}`, proof.replace('nonce-of', 'nonce-to'), `${proof}00`, '9'.repeat(9_000)]) {
    expect(await entitled(license, 'solo', { proof: bad }), bad.slice(0, 40)).toBe(false);
  }
  const bound = await sellLicence(api, buyer.accountId, wanted({ holder: wallet.address }));
  expect((await open(bound.jti, { holder: other.address })).status).toBe(409);
  expect(await entitled((await open(bound.jti)).body.license, 'solo')).toBe(false);
});

test('without a signing key access is 503 with Retry-After, and what is held can still be read', async () => {
  const bare = await startTestApi({ signingKey: null });
  const own = await bare.site();
  const account = await createBuyerAccount(bare.deps);
  const { jti } = await sellLicence(bare, account.accountId, wanted({ host: own.host }));
  const answer = await bare.post(`/_svc/licenses/${jti}/access`, account.token, {});
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
  expect((await bare.request('/_svc/licenses/held', { key: account.token })).body.licences).toHaveLength(1);
  expect((await bare.post('/_svc/licenses/quote', null, wanted({ host: own.host }))).status).toBe(200);
  await bare.stop();
});

test('an access call without a body opens all pages; without a credential it is 401 whatever the body', async () => {
  const { jti } = await sellLicence(api, buyer.accountId, wanted());
  expect((await api.request(`/_svc/licenses/${jti}/access`, { method: 'POST', key: buyer.token })).body.patterns).toHaveLength(3);
  for (const path of ['/_svc/licenses', `/_svc/licenses/${jti}/access`]) {
    const answer = await api.post(path, null, 'no json');
    expect([answer.status, Object.keys(answer.body)]).toEqual([401, ['error', 'next', 'extensions']]);
  }
  expect((await api.request('/_svc/licenses/held')).status).toBe(401);
});
