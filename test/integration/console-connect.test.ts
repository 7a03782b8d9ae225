/** Connecting a WordPress: what its plugin, its owner's browser, and everybody else can make of the exchange. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOST_TIMES } from '../../modules/hosts/rules/challengeSchedule.ts';
import { CODE_LIFE_MS, GRANT_LIFE_MS } from '../../modules/operations/use/connectSite.ts';
import { markOwnerTokenRevoked } from '../../modules/tenants/store/owners.ts';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import type { Browser } from '../support/console.ts';
import { startTestConsole } from '../support/console.ts';

let world: Awaited<ReturnType<typeof startTestConsole>>;
beforeAll(async () => {
  const workflows = { opened: () => Promise.resolve(), check: () => Promise.resolve({ verified: true } as const) } as const;
  const hosts = { workflows, caps: { perHour: 30, perHost: 50, gapMs: 0 }, times: HOST_TIMES, ownHosts: ['svc.example'] };
  world = await startTestConsole({ hosts });
});
afterAll(() => world.stop());

const AUTHORIZE = '/_svc/console/connect/authorize';
const CREDITS_TOKEN = `wpc_${'a'.repeat(48)}`;
const outcome = ({ status, headers }: { readonly status: number; readonly headers: Headers }) => [
  status,
  headers.get('x-svc-error-code'),
];

let made = 0;
/** A site with its owner in a browser, and a host of its own to connect. */
async function ownerOf() {
  const site = await world.api.site();
  const { token, tokenId } = await world.tokenOf(site.tenantId, 'ada');
  const browser = world.browser();
  await browser.signIn(token);
  return { site, browser, tokenId, host: `blog-${++made}.example.com` };
}

const newVerifier = (): string => randomBytes(32).toString('base64url');
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
const bodyFor = (tenantId: string, host: string, verifier: string) => ({
  tenantId,
  host,
  redirectUri: `https://${host}/wp-admin/options-general.php?page=content-settlement`,
  creditsUrl: `https://${host}/wp-json/content-settlement/v1`,
  state: 's'.repeat(43),
  codeChallenge: challengeOf(verifier),
  codeChallengeMethod: 'S256',
});

/** The owner says yes: where the browser is led. */
async function authorize(browser: Browser, body: object): Promise<URL> {
  const answer = await browser.send('POST', AUTHORIZE, { body });
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.stringContaining('redirectTo')]);
  return new URL(answer.body.redirectTo);
}

/** A server elsewhere: no cookie, no origin. */
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${world.url}/_svc/console/connect/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const exchange = (code: string | null, verifier: string) =>
  post('token', { grant_type: 'authorization_code', code, code_verifier: verifier });
const finish = (grant: string, creditsToken = CREDITS_TOKEN) =>
  post('finish', { creditsToken }, { authorization: `Bearer ${grant}` });

/** A connection up to what the plugin shows to its administrator. */
async function granted({ browser, site, host }: Awaited<ReturnType<typeof ownerOf>>) {
  const verifier = newVerifier();
  const code = (await authorize(browser, bodyFor(site.tenantId, host, verifier))).searchParams.get('code');
  const answer = await exchange(code, verifier);
  const body = (await answer.json()) as { access_token: string };
  return { verifier, code, answer, body, grant: body.access_token };
}

const keysOf = (tenantId: string) =>
  world.database.query<{ name: string; scopes: string[]; revoked: boolean; endless: boolean }>(
    "select name, scopes, revoked_at is not null as revoked, expires_at is null as endless from api_key where tenant_id = $1 and name like 'WordPress%' order by created_at, name",
    [tenantId],
  );
const creditsOf = async (tenantId: string): Promise<string | null> => {
  const [row] = await world.database.query<{ url: string | null }>(
    'select credits_api_url as url from tenant where tenant_id = $1',
    [tenantId],
  );
  return row?.url ?? null;
};

test('an owner says yes, the plugin exchanges its code and finishes: two keys, the proof, and the site asks this WordPress for its authors', async () => {
  const owner = await ownerOf();
  const { site, browser, host } = owner;
  const verifier = newVerifier();
  const led = await authorize(browser, bodyFor(site.tenantId, host, verifier));
  expect(led.origin + led.pathname).toBe(`https://${host}/wp-admin/options-general.php`);
  expect([led.searchParams.get('state'), led.searchParams.get('iss')]).toEqual(['s'.repeat(43), world.url]);
  const answer = await exchange(led.searchParams.get('code'), verifier);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const told = (await answer.json()) as { access_token: string };
  expect(told).toMatchObject({ token_type: 'Bearer', expires_in: 600, account: 'ada', host, site: { tenantId: site.tenantId } });
  expect(await keysOf(site.tenantId)).toEqual([]); // nothing is made before the administrator has confirmed
  const finished = await finish(told.access_token);
  expect(finished.status).toBe(201);
  const connected = (await finished.json()) as { key: string; proofKey: string; challenge: string };
  expect(connected).toMatchObject({ tenantId: site.tenantId, host, challenge: expect.stringMatching(/^[\w-]{43}$/) });
  expect(await keysOf(site.tenantId)).toEqual([
    { name: `WordPress ${host}`, scopes: ['tenant.read'], revoked: false, endless: true },
    { name: `WordPress ${host}, proof`, scopes: ['tenant.read', 'domain.manage'], revoked: false, endless: false },
  ]);
  expect(await creditsOf(site.tenantId)).toBe(`https://${host}/wp-json/content-settlement/v1`);
  const self = await world.api.request('/_svc/tenants/self', { key: connected.key });
  expect(self.body.tenants[0].id).toBe(site.tenantId);
  const log = await world.database.query<{ action: string; actor: string }>(
    'select action, actor_id as actor from audit_log where tenant_id = $1 order by at, entry_id',
    [site.tenantId],
  );
  const actions = log.map(({ action }) => action);
  for (const action of ['host.open', 'price.set', 'credits.set_token', 'key.mint', 'key.mint_connect'])
    expect(actions).toContain(action);
  expect(new Set(log.map(({ actor }) => actor))).toEqual(new Set(['ada']));
});

test('a code is nothing without its verifier, with another one, or after a minute', async () => {
  const owner = await ownerOf();
  const verifier = newVerifier();
  const codeOf = async () =>
    (await authorize(owner.browser, bodyFor(owner.site.tenantId, owner.host, verifier))).searchParams.get('code') as string;
  const code = await codeOf();
  for (const wrong of [newVerifier(), challengeOf(verifier), 'a'.repeat(43)])
    expect(outcome(await exchange(code, wrong))).toEqual([401, 'unknown_credential']);
  expect(outcome(await exchange(code, ''))).toEqual([400, 'malformed_body']);
  expect((await exchange(code, verifier)).status).toBe(200); // whoever guessed has not used it up
  const late = await codeOf();
  try {
    world.api.time.offsetMs = CODE_LIFE_MS;
    expect(outcome(await exchange(late, verifier))).toEqual([401, 'unknown_credential']);
  } finally {
    world.api.time.offsetMs = 0;
  }
  for (const none of ['', 'x', `${code.slice(0, -2)}AA`, null])
    expect((await exchange(none, verifier)).status).toBeGreaterThanOrEqual(400);
});

test('a code is good once; shown twice, what it was exchanged for ends, too', async () => {
  const owner = await ownerOf();
  const { code, verifier, grant } = await granted(owner);
  expect(outcome(await exchange(code, verifier))).toEqual([401, 'unknown_credential']);
  expect(outcome(await finish(grant))).toEqual([401, 'unknown_credential']);
  expect(await keysOf(owner.site.tenantId)).toEqual([]);
});

test('of two exchanges of one code at once one succeeds at most', async () => {
  const owner = await ownerOf();
  const verifier = newVerifier();
  const code = (await authorize(owner.browser, bodyFor(owner.site.tenantId, owner.host, verifier))).searchParams.get('code');
  const answers = await Promise.all(Array.from({ length: 6 }, () => exchange(code, verifier)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('what a code was exchanged for finishes once, within ten minutes, and is no code; a code finishes nothing', async () => {
  const owner = await ownerOf();
  const first = await granted(owner);
  expect(outcome(await finish(first.code as string))).toEqual([401, 'unknown_credential']);
  expect(outcome(await exchange(first.grant, first.verifier))).toEqual([401, 'unknown_credential']);
  expect(outcome(await post('finish', { creditsToken: CREDITS_TOKEN }))).toEqual([401, 'missing_credential']);
  expect(outcome(await finish(first.grant, 'with space in it'))).toEqual([400, 'invalid_parameter']);
  const both = await Promise.all([finish(first.grant), finish(first.grant)]); // what failed has not used it up
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 401]);
  const late = await granted(owner);
  try {
    world.api.time.offsetMs = GRANT_LIFE_MS;
    expect(outcome(await finish(late.grant))).toEqual([401, 'unknown_credential']);
  } finally {
    world.api.time.offsetMs = 0;
  }
});

test('connected again, the same WordPress has its new keys alone; another folder of the host keeps its own', async () => {
  const owner = await ownerOf();
  const { site, browser, host } = owner;
  await finish((await granted(owner)).grant);
  const verifier = newVerifier();
  const redirectUri = `https://${host}/shop/wp-admin/options-general.php?page=content-settlement`;
  const led = await authorize(browser, { ...bodyFor(site.tenantId, host, verifier), redirectUri });
  const other = (await (await exchange(led.searchParams.get('code'), verifier)).json()) as { access_token: string };
  await finish(other.access_token);
  for (let again = 0; again < 12; again++) expect((await finish((await granted(owner)).grant)).status).toBe(201);
  const living = (await keysOf(site.tenantId)).filter(({ revoked }) => !revoked).map(({ name }) => name);
  expect(living.toSorted()).toEqual([
    `WordPress ${host}`,
    `WordPress ${host}, proof`,
    `WordPress ${host}/shop`,
    `WordPress ${host}/shop, proof`,
  ]);
});

test('nobody says yes but a page of ours where an owner of this very site is signed in', async () => {
  const [mine, theirs] = [await ownerOf(), await ownerOf()];
  const body = bodyFor(theirs.site.tenantId, theirs.host, newVerifier());
  expect(outcome(await mine.browser.send('POST', AUTHORIZE, { body }))).toEqual([404, 'not_found']);
  expect(outcome(await world.browser().send('POST', AUTHORIZE, { body }))).toEqual([401, 'missing_credential']);
  for (const headers of [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: null, 'sec-fetch-site': null },
    { 'x-csrf-token': null },
  ])
    expect(outcome(await theirs.browser.send('POST', AUTHORIZE, { body, headers }))).toEqual([403, 'cross_site']);
});

test('no code is made for a stranger’s address, nor without PKCE, nor for a host that another site has proven', async () => {
  const { browser, site, host } = await ownerOf();
  const other = await world.api.site();
  const body = bodyFor(site.tenantId, host, newVerifier());
  for (const changes of [
    { redirectUri: 'https://evil.example/wp-admin/options-general.php?page=content-settlement' },
    { redirectUri: `https://${host}/?next=https://evil.example` },
    { creditsUrl: 'https://evil.example/wp-json/content-settlement/v1' },
    { codeChallengeMethod: 'plain' },
    { state: 'short' },
  ])
    expect(outcome(await browser.send('POST', AUTHORIZE, { body: { ...body, ...changes } }))).toEqual([400, 'invalid_parameter']);
  const taken = bodyFor(site.tenantId, other.host, newVerifier());
  expect(outcome(await browser.send('POST', AUTHORIZE, { body: taken }))).toEqual([409, 'conflict']);
  expect(outcome(await browser.send('POST', AUTHORIZE, { body: { tenantId: site.tenantId } }))).toEqual([400, 'malformed_body']);
});

test('a host that the site has proven needs no second key', async () => {
  const owner = await ownerOf();
  const { grant } = await granted({ ...owner, host: owner.site.host });
  expect(await (await finish(grant)).json()).toMatchObject({ host: owner.site.host, proofKey: null, challenge: null });
});

test('an owner whose credential was revoked, or whose site was closed or suspended meanwhile, has said nothing', async () => {
  const revoked = await ownerOf();
  const first = await granted(revoked);
  await markOwnerTokenRevoked(world.database, revoked.site.tenantId, revoked.tokenId, new Date());
  expect(outcome(await finish(first.grant))).toEqual([401, 'unknown_credential']);
  for (const [status, refused] of [
    ['suspended', [403, 'site_suspended']],
    ['closed', [401, 'unknown_credential']],
  ] as const) {
    const owner = await ownerOf();
    const { grant } = await granted(owner);
    await setTenantStatus({ database: world.database }, { tenantId: owner.site.tenantId, status });
    expect(outcome(await finish(grant))).toEqual(refused);
  }
});

test('no line of the log holds a code, a grant or a key', async () => {
  const { grant, code } = await granted(await ownerOf());
  await finish(grant);
  await finish(grant);
  const logged = JSON.stringify(world.logged);
  for (const secret of [grant, code as string, CREDITS_TOKEN, 'svc_live_']) expect(logged).not.toContain(secret);
});
