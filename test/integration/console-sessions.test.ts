import { afterAll, beforeAll, expect, test } from 'vitest';
import { IDLE_MS, LONGEST_MS, MOST_SESSIONS } from '../../modules/identity/use/console/sessions.ts';
import { forgetWhatEnded } from '../../modules/operations/use/retention.ts';
import { markOwnerTokenRevoked } from '../../modules/tenants/store/owners.ts';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { startTestConsole } from '../support/console.ts';
import { KEPT } from '../support/retention.ts';

let world: Awaited<ReturnType<typeof startTestConsole>>;
let site: Awaited<ReturnType<typeof world.api.site>>;
let token: string;
beforeAll(async () => {
  world = await startTestConsole();
  site = await world.api.site();
  token = (await world.tokenOf(site.tenantId)).token;
});
afterAll(() => world.stop());

const SESSION = '/_svc/console/session';
const VIEWER = '{ viewer { userId isOwner tenantIds } }';
const signedIn = async () => {
  const browser = world.browser();
  expect((await browser.signIn(token)).status).toBe(200);
  return browser;
};
const isIn = async (browser: Awaited<ReturnType<typeof signedIn>>): Promise<boolean> =>
  (await browser.get(SESSION)).body.signedIn;

test('an owner’s token signs in once, and its cookie asks GraphQL what the token may', async () => {
  const browser = world.browser();
  expect((await browser.get(SESSION)).body).toEqual({ signedIn: false, ways: { token: true, oidc: null, demo: false } });
  const { body, headers } = await browser.signIn(token);
  expect(body).toEqual({
    signedIn: true,
    user: { id: 'you', via: 'token' },
    canCreateSite: false,
    sites: [{ tenantId: site.tenantId, host: site.host, status: 'active' }],
    csrf: expect.stringMatching(/^[\w-]{43}$/),
    expiresAt: expect.stringMatching(/Z$/),
  });
  expect(headers.get('set-cookie')).toMatch(/^svc_console=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await browser.get(SESSION)).body).toMatchObject({ signedIn: true, csrf: body.csrf });
  const { data } = (await browser.ask(VIEWER)).body;
  expect(data.viewer).toEqual({ userId: 'you', isOwner: true, tenantIds: [site.tenantId] });
  const change = 'mutation { setCrawlerPolicy(input: { block: ["ccbot"], allow: [], charge: [] }) { __typename } }';
  expect((await browser.ask(change)).body.data.setCrawlerPolicy.__typename).toBe('SetCrawlerPolicyPayload');
});

test('the page and its files are the same for everybody, and hold nothing of a session', async () => {
  const browser = await signedIn();
  const stranger = world.browser();
  for (const path of ['/_svc/console', '/_svc/console/earnings/payments/abc']) {
    const [mine, theirs] = [await browser.get(path), await stranger.get(path)];
    expect([mine.status, mine.text]).toEqual([200, theirs.text]);
    expect(mine.text).not.toContain(browser.csrf);
  }
});

test('signing out ends the session at once, and everywhere ends those of the same person alone', async () => {
  const [one, two] = [await signedIn(), await signedIn()];
  const copied = one.cookie;
  expect((await one.send('DELETE', SESSION)).body.signedIn).toBe(false);
  expect([one.cookies.size, await isIn(two)]).toEqual([0, true]);
  expect((await one.get(SESSION, { cookie: copied })).body.signedIn).toBe(false);
  const other = world.browser();
  await other.signIn((await world.tokenOf(site.tenantId, 'another')).token);
  const again = world.browser();
  await again.signIn((await world.tokenOf(site.tenantId)).token);
  await two.send('DELETE', '/_svc/console/sessions');
  expect(await Promise.all([two, again, other].map(isIn))).toEqual([false, false, true]);
});

test('a revoked token and a closed site end the session in the very next call', async () => {
  const own = await world.api.site();
  const { token: issued, tokenId } = await world.tokenOf(own.tenantId);
  const browser = world.browser();
  await browser.signIn(issued);
  await setTenantStatus({ database: world.database }, { tenantId: own.tenantId, status: 'suspended' });
  expect((await browser.get(SESSION)).body.sites).toMatchObject([{ status: 'suspended' }]);
  await setTenantStatus({ database: world.database }, { tenantId: own.tenantId, status: 'closed' });
  expect((await browser.ask(VIEWER)).status).toBe(401);
  await setTenantStatus({ database: world.database }, { tenantId: own.tenantId, status: 'active' });
  const next = world.browser();
  await next.signIn(issued);
  await markOwnerTokenRevoked(world.database, own.tenantId, tokenId, new Date());
  expect((await next.ask(VIEWER)).status).toBe(401);
  expect(await isIn(next)).toBe(false);
});

test('a session unused for twelve hours is over, and after a week every one is, and its row goes', async () => {
  const { time } = world.api;
  const browser = await signedIn();
  try {
    time.offsetMs = IDLE_MS - 60_000;
    expect(await isIn(browser)).toBe(true);
    time.offsetMs += IDLE_MS - 60_000;
    expect(await isIn(browser)).toBe(true);
    const idle = await signedIn();
    time.offsetMs += IDLE_MS + 1_000;
    expect((await idle.ask(VIEWER)).status).toBe(401);
    const busy = await signedIn();
    const born = time.offsetMs;
    while (time.offsetMs < born + LONGEST_MS - IDLE_MS) {
      time.offsetMs += IDLE_MS - 60_000;
      expect(await isIn(busy)).toBe(true);
    }
    time.offsetMs = born + LONGEST_MS;
    expect(await isIn(busy)).toBe(false);
    time.offsetMs += 2 * 3_600_000;
    const metrics = { count: () => undefined, record: () => undefined };
    await forgetWhatEnded({ database: world.database, clock: world.api.deps.clock, retention: KEPT, metrics });
    expect(await world.database.query('select 1 from console_session')).toEqual([]);
  } finally {
    time.offsetMs = 0;
  }
});

test('of one person so many sessions live, also when many sign in at once: the ones used longest ago end', async () => {
  const first = await signedIn();
  await Promise.all(Array.from({ length: MOST_SESSIONS + 3 }, () => signedIn()));
  const [row] = await world.database.query<{ count: number }>('select count(*)::int from console_session where user_id = $1', [
    'you',
  ]);
  expect([row?.count, await isIn(first)]).toEqual([MOST_SESSIONS, false]);
});
