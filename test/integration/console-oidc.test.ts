import { afterAll, beforeAll, expect, test } from 'vitest';
import { AWAY_MS, screenOf } from '../../modules/identity/use/console/providerSignIn.ts';
import { setOwner } from '../../modules/tenants/store/owners.ts';
import type { Browser } from '../support/console.ts';
import { startTestConsole } from '../support/console.ts';
import { startIssuer } from '../support/issuer.ts';
import type { TestProvider } from '../support/oidcProvider.ts';
import { startProvider } from '../support/oidcProvider.ts';

let provider: TestProvider;
let world: Awaited<ReturnType<typeof startTestConsole>>;
const SESSION = '/_svc/console/session';

beforeAll(async () => {
  provider = await startProvider();
  world = await startTestConsole({ provider });
  provider.redirectUri = `${world.url}/_svc/console/oidc/callback`;
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});

const siteOf = async (userId: string): Promise<string> => {
  const { tenantId } = await world.api.site();
  await setOwner(world.database, tenantId, { userId, issuer: provider.issuer }, new Date());
  return tenantId;
};
/** A browser that left for the provider, and the address that it is led back to. */
const goThrough = async (browser: Browser, userId: string, screen = '/'): Promise<string> => {
  const start = await browser.get(`/_svc/console/oidc/start?return=${encodeURIComponent(screen)}`, { 'sec-fetch-site': 'none' });
  expect(start.status).toBe(302);
  return provider.signIn(start.headers.get('location') ?? '', userId);
};
const back = async (browser: Browser, url: string): Promise<string | null> => {
  const answer = await browser.get(url, { 'sec-fetch-site': 'cross-site' });
  expect(answer.status).toBe(303);
  return answer.headers.get('location');
};
const REFUSED = '/_svc/console?refused=unknown_credential';

test('a user of the identity provider signs in there, and comes back to the screen he came from with every site of his', async () => {
  const sites = [await siteOf('ada'), await siteOf('ada')];
  const browser = world.browser();
  expect((await browser.get(SESSION)).body.ways.oidc).toEqual({ name: new URL(provider.issuer).host });
  const url = await goThrough(browser, 'ada', '/earnings?from=2026-11-01&host=a.example');
  expect(await back(browser, url)).toBe('/_svc/console/earnings?from=2026-11-01&host=a.example');
  const { body } = await browser.get(SESSION);
  expect(body).toMatchObject({ signedIn: true, user: { id: 'ada', via: 'oidc' } });
  expect(body.sites.map(({ tenantId }: { tenantId: string }) => tenantId).toSorted()).toEqual(sites.toSorted());
  expect([...browser.cookies.keys()]).toEqual(['svc_console']);
  await setOwner(world.database, sites[0] as string, { userId: 'eve', issuer: provider.issuer }, new Date());
  expect((await browser.get(SESSION)).body.sites).toMatchObject([{ tenantId: sites[1] }]);
  await setOwner(world.database, sites[1] as string, { userId: 'eve', issuer: provider.issuer }, new Date());
  expect((await browser.ask('{ viewer { userId } }')).status).toBe(401);
});

test('what leaves for the provider is a code flow with PKCE, a state and a nonce of this attempt alone', async () => {
  const browser = world.browser();
  const asked = await Promise.all([1, 2].map(() => browser.get('/_svc/console/oidc/start')));
  const queries = asked.map(({ headers }) => new URL(headers.get('location') ?? '').searchParams);
  for (const query of queries) {
    expect(Object.fromEntries(query)).toMatchObject({ response_type: 'code', scope: 'openid', code_challenge_method: 'S256' });
  }
  for (const name of ['state', 'nonce', 'code_challenge']) expect(queries[0]?.get(name)).not.toBe(queries[1]?.get(name));
  const [cookie = ''] = asked[0]?.headers.getSetCookie() ?? [];
  expect(cookie).toMatch(/^svc_console_flow=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
  for (const name of ['state', 'nonce']) expect(cookie).not.toContain(queries[0]?.get(name));
});

test('an answer signs in the browser alone that left for it, once: not another one, not again', async () => {
  await siteOf('bob');
  const attacker = world.browser();
  const url = await goThrough(attacker, 'bob');
  const victim = world.browser();
  expect(await back(victim, url)).toBe(REFUSED); // sign-in CSRF: the attacker's answer in the victim's browser
  await goThrough(victim, 'bob');
  expect(await back(victim, url)).toBe(REFUSED); // with an attempt of his own on the way
  expect(victim.cookies.size).toBe(0);
  const kept = attacker.cookie;
  expect(await back(attacker, url)).toBe('/_svc/console');
  const asked = provider.asked();
  const again = world.browser();
  const answer = await again.get(url, { cookie: kept });
  expect([answer.headers.get('location'), again.cookies.size]).toEqual([REFUSED, 0]);
  expect(provider.asked()).toBe(asked);
});

test('an answer with another state, another issuer, another code, none, or an error signs nobody in', async () => {
  await siteOf('cyd');
  const changes: readonly ((query: URLSearchParams) => void)[] = [
    (query) => query.set('state', 'A'.repeat(43)),
    (query) => query.delete('state'),
    (query) => query.append('state', query.get('state') ?? ''),
    (query) => query.set('iss', 'https://evil.example'),
    (query) => query.delete('iss'),
    (query) => query.set('code', 'nonsense'),
    (query) => query.delete('code'),
    (query) => query.set('error', 'access_denied'),
  ];
  for (const change of changes) {
    const browser = world.browser();
    const url = new URL(await goThrough(browser, 'cyd'));
    change(url.searchParams);
    expect([String(change), await back(browser, url.href), browser.cookies.size]).toEqual([String(change), REFUSED, 0]);
  }
});

test('whoever is away too long begins again, and whoever owns nothing here is not signed in', async () => {
  await siteOf('dan');
  const late = world.browser();
  const url = await goThrough(late, 'dan');
  world.api.time.offsetMs = AWAY_MS;
  try {
    expect(await back(late, url)).toBe(REFUSED);
  } finally {
    world.api.time.offsetMs = 0;
  }
  const stranger = world.browser();
  expect(await back(stranger, await goThrough(stranger, 'nobody'))).toBe(REFUSED);
  expect((await stranger.get(SESSION)).body.signedIn).toBe(false);
});

test('the screen to come back to is one of the console and nothing else', () => {
  expect(['/', '/earnings', '/earnings/payments/4f-a_b?site=x&from=2026-11-01'].map(screenOf)).toEqual([
    '/',
    '/earnings',
    '/earnings/payments/4f-a_b?site=x&from=2026-11-01',
  ]);
  const hostile = [
    null,
    '',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/..//evil.example',
    '/../graphql',
    '/%2e%2e/x',
    '/a\r\nset-cookie: x=y',
    '/a#b',
    'javascript:alert(1)',
    `/${'a'.repeat(1_100)}`,
    '/a?b=<script>',
    '/a//b',
    '/./x',
  ];
  for (const asked of hostile) expect([asked, screenOf(asked)]).toEqual([asked, '/']);
});

test('a provider that is away leads back to the page, which says so', async () => {
  const down = await startIssuer();
  down.faults.isDown = true;
  const other = await startTestConsole({ provider: { issuer: down.url, clientId: 'console', clientSecret: null } });
  try {
    const answer = await other.browser().get('/_svc/console/oidc/start');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/_svc/console?refused=identity_unavailable']);
  } finally {
    await other.stop();
    await down.stop();
  }
});

test('nothing of a sign-in stands in the log or the table but that a state was used', async () => {
  await siteOf('fay');
  const browser = world.browser();
  const url = new URL(await goThrough(browser, 'fay'));
  await back(browser, url.href);
  const code = url.searchParams.get('code') ?? '';
  expect(code).not.toBe('');
  expect(JSON.stringify(world.logged)).not.toContain(code);
  const rows = await world.database.query<{ nonce: string }>('select key as nonce from used_once');
  expect(rows.map(({ nonce }) => nonce)).toContain(`console ${url.searchParams.get('state')}`);
});
