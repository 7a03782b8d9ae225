import { request as rawRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from '../support/console.ts';
import { startTestConsole } from '../support/console.ts';

let world: Awaited<ReturnType<typeof startTestConsole>>;
let site: Awaited<ReturnType<typeof world.api.site>>;
let token: string;
let victim: Browser;
beforeAll(async () => {
  world = await startTestConsole();
  site = await world.api.site();
  token = (await world.tokenOf(site.tenantId)).token;
  victim = world.browser();
  await victim.signIn(token);
});
afterAll(() => world.stop());

const SESSION = '/_svc/console/session';
const BLOCK = 'mutation { setCrawlerPolicy(input: { block: ["evil"], allow: [], charge: [] }) { __typename } }';
const REFUSED = [403, 'cross_site'] as const;
const outcome = ({ status, headers }: { readonly status: number; readonly headers: Headers }) => [
  status,
  headers.get('x-svc-error-code'),
];

/** What a page of another site, or one at another port of this machine, can make a browser send with the victim's cookie. */
const FOREIGN: Record<string, Readonly<Record<string, string | null>>> = {
  'of another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  'of another site, by a browser that does not say so': { origin: 'https://evil.example', 'sec-fetch-site': null },
  'of a neighbouring host': { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' },
  'of another port, by a browser that does not say so': { origin: 'http://127.0.0.1:1', 'sec-fetch-site': null },
  'of a sandboxed frame': { origin: 'null', 'sec-fetch-site': 'cross-site' },
  'of a sandboxed frame, by a browser that does not say so': { origin: 'null', 'sec-fetch-site': null },
  'that says nothing of where it comes from': { origin: null, 'sec-fetch-site': null },
  'of ours, by a browser that says cross-site': { 'sec-fetch-site': 'cross-site' },
  'of ours, without the token': { 'x-csrf-token': null },
  'of ours, with another token': { 'x-csrf-token': 'A'.repeat(43) },
  'of ours, with a token of another length': { 'x-csrf-token': 'é' },
};

test('a call from elsewhere, or of ours without its token, changes nothing with a stolen cookie, and reads nothing either', async () => {
  for (const [name, headers] of Object.entries(FOREIGN)) {
    for (const query of [BLOCK, '{ viewer { userId } }']) {
      const answer = await victim.ask(query, headers);
      expect([name, ...outcome(answer)]).toEqual([name, ...REFUSED]);
      expect(answer.body.error).toMatch(/^cross_site: /);
    }
    for (const path of [SESSION, '/_svc/console/sessions']) {
      const copy = world.browser();
      copy.cookies.set('svc_console', victim.cookies.get('svc_console') ?? '');
      copy.csrf = victim.csrf;
      expect([name, ...outcome(await copy.send('DELETE', path, { headers }))]).toEqual([name, ...REFUSED]);
    }
  }
  expect((await victim.get(SESSION)).body.signedIn).toBe(true);
});

test('a form of another site cannot speak as the page does, whatever it is sent as', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const answer = await victim.ask('{ viewer { userId } }', { 'content-type': type });
    expect([answer.status, answer.body.errors?.[0].extensions.reason]).toEqual([400, 'malformed_body']);
  }
});

test('who is signed in is told to our own page and to nobody else’s', async () => {
  for (const from of ['cross-site', 'same-site']) {
    const answer = await victim.get(SESSION, { 'sec-fetch-site': from });
    expect(outcome(answer)).toEqual(REFUSED);
  }
  const answer = await victim.get(SESSION, { origin: 'https://evil.example' });
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
});

test('nobody is signed in by another site’s page: a sign-in comes from our own', async () => {
  for (const headers of [
    FOREIGN['of another site'],
    FOREIGN['that says nothing of where it comes from'],
    FOREIGN['of a sandboxed frame'],
  ]) {
    const browser = world.browser();
    const answer = await browser.send('POST', SESSION, { body: { token }, headers: headers ?? {} });
    expect([...outcome(answer), browser.cookies.size]).toEqual([...REFUSED, 0]);
  }
});

test('a cookie that somebody planted never becomes a session, and two of one name are none', async () => {
  const planted = 'P'.repeat(43);
  const browser = world.browser();
  browser.cookies.set('svc_console', planted);
  await browser.signIn(token);
  const first = browser.cookie;
  expect(first).not.toContain(planted);
  const isIn = async (cookie: string): Promise<boolean> => (await world.browser().get(SESSION, { cookie })).body.signedIn;
  expect(await Promise.all([first, `svc_console=${planted}`, `svc_console=${planted}; ${first}`].map(isIn))).toEqual([
    true,
    false,
    false,
  ]);
  await browser.signIn(token);
  expect(await Promise.all([browser.cookie, first].map(isIn))).toEqual([true, false]);
});

test('the cookie means nothing at any other endpoint', async () => {
  for (const path of ['/_svc/earnings', '/_svc/tenants/self', '/_svc/earnings/export.csv', '/_svc/members']) {
    expect([path, (await victim.get(path)).status]).toEqual([path, 401]);
  }
  const graph = await victim.send('POST', '/_svc/graphql', { body: { query: '{ viewer { userId } }' } });
  expect(graph.status).toBe(401);
});

test('neither a publisher key nor a bearer opens the console', async () => {
  for (const bearer of [site.key, token]) {
    const browser = world.browser();
    expect((await browser.ask('{ viewer { userId } }', { authorization: `Bearer ${bearer}` })).status).toBe(401);
  }
  expect((await world.browser().signIn(site.key)).status).toBe(401);
});

test('no page may frame the console, and its policy names nothing but its own files', async () => {
  const { headers, text } = await victim.get('/_svc/console/earnings');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(text).not.toMatch(/<(script|link|img)[^>]+(src|href)="(https?:)?\/\//);
  expect(text).not.toMatch(/\sstyle="|\son\w+="/);
});

test('over https the cookie is bound to the host and to TLS, and only the public origin may change something', async () => {
  const proxied = await startTestConsole({ baseUrl: 'https://svc.example' });
  try {
    const own = await proxied.api.site();
    const { token: ownToken } = await proxied.tokenOf(own.tenantId);
    const browser = proxied.browser();
    const wrong = await browser.signIn(ownToken);
    expect(outcome(wrong)).toEqual(REFUSED);
    const answer = await browser.send('POST', SESSION, { body: { token: ownToken }, headers: { origin: 'https://svc.example' } });
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-svc_console=[\w-]{43}; .*Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
  } finally {
    await proxied.stop();
  }
});

test('the demo is signed in on this machine alone, by its own names, and not by another site’s link', async () => {
  const demo = '/_svc/console/demo';
  expect(outcome(await victim.get(demo))).toEqual([404, 'not_found']);
  const sandbox = await startTestConsole({ demoOf: 'demo' });
  try {
    const browser = sandbox.browser();
    const answer = await browser.get(demo, { 'sec-fetch-site': 'none' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/_svc/console']);
    expect((await browser.get(SESSION)).body).toMatchObject({ signedIn: true, user: { id: 'demo' } });
    expect(outcome(await sandbox.browser().get(demo, { 'sec-fetch-site': 'cross-site' }))).toEqual(REFUSED);
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', '192.0.2.7']) {
      expect([host, await statusOf(sandbox.url, demo, host), await statusOf(sandbox.url, demo, 'localhost')]).toEqual([
        host,
        404,
        303,
      ]);
    }
  } finally {
    await sandbox.stop();
  }
});

/** Asks for a path under a name of the attacker's that leads to this machine. */
function statusOf(url: string, path: string, host: string): Promise<number | undefined> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = rawRequest({ port, path, host: '127.0.0.1', headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });
}

test('a sign-in body is small, and wrong tokens of one address are slowed down before they are looked at', async () => {
  const rates = {
    perSecond: { address: 1_000, refused: 1, key: 1_000, tenant: 1_000, account: 1, account_address: 1 },
    burstSeconds: 5,
  };
  const slow = await startTestConsole({ rates });
  // Time stands still: a refusal is held for half a second, in which the bucket would fill again.
  slow.api.time.stoppedAtMs = Date.now();
  try {
    const large = await slow.browser().send('POST', SESSION, { body: { token: 'x'.repeat(4_096) } });
    expect(outcome(large)).toEqual([400, 'body_too_large']);
    const statuses: number[] = [];
    for (let guess = 0; guess < 8; guess++) statuses.push((await slow.browser().signIn(`svc_owner_guess${guess}`)).status);
    expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(statuses).toContain(429);
    for (let guess = 0; guess < 8; guess++) {
      statuses.push((await slow.browser().get(SESSION, { cookie: `svc_console=${`${guess}`.repeat(43)}` })).status);
    }
    expect(statuses.at(-1)).toBe(429);
  } finally {
    await slow.stop();
  }
});

test('no answer, page or line of the log holds the token, the cookie or the session’s token', async () => {
  const { body, text } = await victim.get(SESSION);
  expect(body.signedIn).toBe(true);
  expect(text).not.toContain(token);
  expect(text).not.toContain(victim.cookies.get('svc_console') ?? '');
  expect(JSON.stringify(world.logged)).not.toMatch(/svc_owner_|svc_console/);
  const rows = await world.database.query<{ row: string }>('select console_session::text as row from console_session');
  expect(rows.map(({ row }) => row).join()).not.toContain(victim.cookies.get('svc_console') ?? '');
});

test('paths that are spelled to reach a file of the machine reach nothing', async () => {
  for (const path of [
    '/_svc/console/assets/../../package.json',
    '/_svc/console/assets/%2e%2e/app.ts',
    '/_svc/console/assets/app.ts',
  ]) {
    expect([path, await statusOf(world.url, path, '127.0.0.1')]).toEqual([path, 404]);
  }
});
