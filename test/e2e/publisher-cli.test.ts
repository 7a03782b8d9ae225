/** The publisher's commands, against sites that are well and sites that are broken, in front of the real service. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { RequestHandler } from 'express';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { mintKey, revokeKey } from '../../modules/identity/use/keys/keys.ts';
import { runCommand } from '../../packages/publisher/src/cli/run.ts';
import { contentSettlement } from '../../packages/publisher/src/express.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/certificate.ts';
import type { GatedSite, SiteOptions } from '../support/gated-site.ts';
import { keepsEverything, magazine, pageOf, serveSite } from '../support/gated-site.ts';
import { startMoody } from '../support/moody.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { useTestService } from '../support/service.ts';

const COMMAND = fileURLToPath(new URL('../../packages/publisher/src/cli/main.ts', import.meta.url));
const PAGE = ['--page', '/articles/trio'];

let service: TestService;
/** Sites that are read only: one for all tests. */
let site: TestSite;
let gate: RequestHandler;
let open: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  service = await useTestService();
  site = await service.site();
  gate = gateOf(site);
});
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
});
afterAll(() => service?.stop());

const deps = () => ({ database: service.database, pepper: pepperOf(service.secrets) });
const keyOf = (tenantId: string, prefix: 'svc_live_' | 'svc_test_' = 'svc_live_') =>
  mintKey(deps(), { tenantId, name: 'of this test', scopes: ['tenant.read'], prefix });

/** The gate of a site. */
function gateOf({ host, key }: Pick<TestSite, 'host' | 'key'>, origin?: string) {
  const options = { serviceUrl: service.baseUrl, apiKey: key, origin: origin ?? `https://${host}`, trustedProxies: [] };
  return contentSettlement({ ...options, log: () => undefined });
}

async function openSite(options: SiteOptions = {}, inFront = gate, host = site.host): Promise<GatedSite> {
  const served = await serveSite(magazine(host, inFront, options));
  open.push(served);
  return served;
}

/** Runs a command in this process. */
async function run(argv: readonly string[], key: string | null = site.key, changes: { url?: string; nowMs?: () => number } = {}) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const code = await runCommand({
    argv,
    environment: { SVC_URL: changes.url ?? service.baseUrl, ...(key === null ? {} : { SVC_API_KEY: key }) },
    screen: { write: (text) => void printed.push(text), columns: 100, hasColours: false },
    complain: (text) => void complaints.push(text),
    now: changes.nowMs ?? Date.now,
  });
  const text = printed.join('') + complaints.join('');
  if (key !== null) expect(text).not.toContain(key);
  expect(text).not.toMatch(/eyJ[\w-]{20}/); // no licence, no signature
  return { code, text };
}

interface Found {
  readonly id: string;
  readonly level: string;
  readonly findings: readonly { readonly says: string }[];
}

/** What the doctor says of a site, by check. */
async function doctor(
  served: Pick<GatedSite, 'url'>,
  more: readonly string[] = PAGE,
  ...rest: [(string | null)?, { url?: string; nowMs?: () => number }?]
) {
  const named = more.includes('--site') ? [] : ['--site', `https://${site.host}`];
  const argv = ['doctor', '--json', ...named, '--connect-to', served.url, ...more];
  const { code, text } = await run(argv, ...rest);
  const report = JSON.parse(text) as { exitCode: number; requests: number; checks: Found[] };
  expect([report.exitCode, report.requests <= 60]).toEqual([code, true]);
  const checks = Object.fromEntries(
    report.checks.map(({ id, level, findings }) => [id, `${level} ${findings.map(({ says }) => says).join(' ')}`]),
  );
  return { code, checks };
}

describe('doctor', () => {
  test('finds nothing wrong with a site that is well, as the command that publishers run, in rows and in few requests', async () => {
    const served = await openSite({ sitemap: ['solo', 'trio', 'duo'] });
    const parameters = ['doctor', '--site', `https://${site.host}`, '--connect-to', served.url, ...PAGE];
    const env = { PATH: process.env['PATH'] ?? '', SVC_URL: service.baseUrl, SVC_API_KEY: site.key };
    const { code, stdout } = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
      execFile(process.execPath, [COMMAND, ...parameters], { env }, (error, out) =>
        resolve({ code: error?.code ?? 0, stdout: out }),
      );
    });
    const marks = stdout.split('\n').flatMap((line) => (/^([✓!✗?]) (\S+)/.exec(line) ?? []).slice(1, 3).join(' ') || []);
    expect(marks.filter((mark) => !mark.startsWith('✓'))).toEqual(['? address']); // TLS, which --connect-to leads past
    expect([code, stdout.includes(site.key)]).toEqual([0, false]);
    expect(served.requests.length).toBeLessThan(50);
    const played = [
      'MojeekBot',
      'Yahoo',
      'facebookexternalhit',
      'proximic',
      'Feedly',
      'Pingdom',
      'CFNetwork',
      'Claude-User',
      'curl',
    ];
    const others = served.requests.filter(({ userAgent }) => !/GPTBot|Googlebot|^(?!.*Claude-User).*Chrome/.test(userAgent));
    expect(others.map(({ userAgent }) => played.find((name) => userAgent.includes(name)))).toEqual(played);
  });

  const always =
    (path: RegExp, answer: RequestHandler): RequestHandler =>
    (request, response, next) =>
      path.test(request.path) ? answer(request, response, next) : next();
  const app: RequestHandler = (_request, response) => void response.send('<!doctype html><title>App</title>');
  /** Changes what is sent, as a proxy does. */
  const rewriting =
    (header: string, value: string): RequestHandler =>
    (_request, response, next) => {
      const writeHead = response.writeHead.bind(response) as (...all: unknown[]) => typeof response;
      response.writeHead = ((...all: unknown[]) => {
        response.setHeader(header, value);
        return writeHead(...all);
      }) as typeof response.writeHead;
      next();
    };
  const cloudFront: RequestHandler = (request, _response, next) => {
    request.headers['user-agent'] = 'Amazon CloudFront';
    next();
  };
  const nothing: RequestHandler = (_request, _response, next) => next();

  const FAULTS: readonly [string, () => Promise<GatedSite>, string, RegExp][] = [
    [
      'a CDN keeps the 402 of agents',
      () => openSite({ inFront: keepsEverything((status) => status === 402) }),
      'caches',
      /^problem A cache gives the 402/,
    ],
    [
      'a CDN keeps the page of people',
      () => openSite({ inFront: keepsEverything((status) => status === 200) }),
      'caches',
      /^problem A cache gives the page/,
    ],
    [
      'a catch-all route swallows .well-known',
      () => openSite({ inFront: always(/^\/\.well-known/, app) }),
      'well-known',
      /^warning .*catch-all/,
    ],
    [
      'a catch-all route in front of the gate swallows robots.txt',
      () => openSite({ inFront: always(/^\/robots\.txt$/, app) }),
      'robots',
      /^problem .*swallows/,
    ],
    [
      'robots.txt forbids what is sold',
      () => openSite({ robots: 'User-agent: *\nDisallow: /articles/' }),
      'robots',
      /^problem .*forbids/,
    ],
    ['no gate stands in front', () => openSite({}, nothing), 'offer', /^problem .*free, although/],
    [
      'the gate takes the server behind the proxy for the site',
      () => openSite({}, gateOf(site, 'http://127.0.0.1:3000')),
      'offer',
      /^problem /,
    ],
    [
      'a proxy lets caches keep the 402',
      () => openSite({ inFront: rewriting('cache-control', 'max-age=60') }),
      'offer',
      /^problem .*no-store/,
    ],
    ['a proxy takes Vary', () => openSite({ inFront: rewriting('vary', 'Accept-Encoding') }), 'offer', /^warning .*Vary/],
    [
      'people pay',
      () =>
        openSite({
          inFront: (request, _response, next) => {
            request.headers['user-agent'] = 'GPTBot';
            next();
          },
        }),
      'readers',
      /^problem .*browser gets a 402.*Googlebot/,
    ],
    [
      'a CDN sends its own name instead of the User-Agent of its visitors',
      () => openSite({ inFront: cloudFront }),
      'visitors',
      /^problem The site treats all visitors alike, .* read free\./,
    ],
    [
      'a gate charges those whom the owner lets read',
      () =>
        openSite({
          inFront: (request, _response, next) => {
            if (/Pingdom/.test(request.headers['user-agent'] ?? '')) request.headers['user-agent'] = 'curl/8';
            next();
          },
        }),
      'visitors',
      /^problem Monitors pay at the site; by the owner’s settings they read free/,
    ],
    [
      'an old price is shown',
      () => openSite({ inFront: rewriting('crawler-price', 'USD 0.5') }),
      'price',
      /^problem crawler-price says "USD 0.5"/,
    ],
    [
      'HEAD fails',
      () =>
        openSite({ inFront: (request, response, next) => (request.method === 'HEAD' ? void response.sendStatus(500) : next()) }),
      'head',
      /^problem .*500/,
    ],
    [
      'a page that does not exist is an error',
      () => openSite({ inFront: always(/no-such-page/, (_request, response) => void response.sendStatus(500)) }),
      'missing-page',
      /^problem .*500/,
    ],
    [
      'another spelling is the same page',
      () => openSite({ inFront: always(/^\/articles\/TRIO$/, (_request, response) => void response.send(pageOf('trio'))) }),
      'spellings',
      /^problem .*\/articles\/TRIO/,
    ],
    [
      'a form of the page is the page',
      () => openSite({ inFront: always(/^\/articles\/trio\.txt$/, (_request, response) => void response.send(pageOf('trio'))) }),
      'forms',
      /^problem .*\/articles\/trio\.txt/,
    ],
    [
      'the site is gone',
      async () => ({ ...(await openSite()), url: 'http://127.0.0.1:1' }),
      'address',
      /^problem .*cannot be reached/,
    ],
  ];

  test('a person and Googlebot read free behind a CDN that hides who they are, and who shows a payment is charged', async () => {
    const served = await openSite({ inFront: cloudFront });
    const { checks } = await doctor(served);
    expect([checks['readers'], checks['offer']]).toEqual([
      expect.stringMatching(/^ok A person gets the page/),
      expect.stringMatching(/^problem .*free, although/),
    ]);
    const paying = await fetch(`${served.url}${PAGE[1]}`, { headers: { 'payment-signature': 'e30=' } });
    expect(paying.status).toBe(402);
  });

  test.each(FAULTS)('finds it when %s', async (_name, break_, check, says) => {
    const { code, checks } = await doctor(await break_());
    expect([checks[check], code]).toEqual([expect.stringMatching(says), says.source.startsWith('^problem') ? 1 : 0]);
  });

  test('names what is wrong with the key and its site', async () => {
    const served = await openSite();
    const [revoked, of, other] = await Promise.all([keyOf(site.tenantId), keyOf(site.tenantId, 'svc_test_'), service.site()]);
    await revokeKey(deps(), { tenantId: site.tenantId, keyId: revoked.keyId });
    const withKey = async (key: string | null, check: string) => (await doctor(served, PAGE, key)).checks[check];
    expect([
      await withKey(revoked.token, 'key'),
      await withKey(of.token, 'key'),
      await withKey(other.key, 'proof'),
      await withKey(null, 'service'),
    ]).toEqual([
      expect.stringMatching(/^problem .*revoked/),
      expect.stringMatching(/^warning .*test key/),
      expect.stringMatching(/^problem .*no host of this key's site/),
      expect.stringMatching(/^unknown .*missing/),
    ]);
  });

  test('tells whether the token of an open challenge can be seen, which the package shows', async () => {
    const host = `www.${site.host}`;
    const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ host, method: 'well-known' });
    const open = async () => (await fetch(`${service.baseUrl}/_svc/verify-host`, { method: 'POST', headers, body })).status;
    await expect.poll(open).toBe(201); // once a host: while Temporal is busy the service asks to be called again
    const www = ['--site', `https://${host}`, ...PAGE];
    const seen = await doctor(await openSite({ catchAll: app }, gateOf(site)), www);
    const swallowed = await doctor(await openSite({ inFront: always(/^\/\.well-known/, app) }), www);
    expect([seen.checks['well-known'], swallowed.checks['well-known'], seen.checks['proof']]).toEqual([
      expect.stringMatching(/^ok .*token of this host/),
      expect.stringMatching(/^problem .*not proven.*catch-all/),
      expect.stringMatching(/^problem .*challenge by well-known is open/),
    ]);
  });

  test('names a service that is away, and a clock that is wrong', async () => {
    const served = await openSite();
    const away = await doctor(served, PAGE, site.key, { url: 'http://127.0.0.1:1' });
    const fast = await doctor(served, PAGE, site.key, { nowMs: () => Date.now() + 600_000 });
    expect([away.checks['service'], fast.checks['service'], away.code, fast.code]).toEqual([
      expect.stringMatching(/^problem .*cannot be reached/),
      expect.stringMatching(/^problem .*s fast/),
      1,
      1,
    ]);
  });

  test('finds pages by the sitemap, tries one that has a price, and names those that are free for want of authors', async () => {
    const articles = ['free', 'solo', 'trio', 'orphan'];
    const well = await doctor(await openSite({ articles, sitemap: ['free', 'solo', 'trio'] }), []);
    const some = await doctor(await openSite({ articles }), []);
    const all = await doctor(await openSite({ articles, sitemap: ['orphan'] }), []);
    expect([well.checks['offer'], ...[well, some, all].map(({ checks }) => checks['free-pages'])]).toEqual([
      expect.stringMatching(/^ok GPTBot gets a 402/),
      expect.stringMatching(/^ok 2 of 3/),
      expect.stringMatching(/^warning 1 of .*\/articles\/orphan/),
      expect.stringMatching(/^problem 1 of /),
    ]);
  });

  test('tells a certificate that is not good for the site', async () => {
    const server = createServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (_request, response) => void response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push({ close: () => new Promise((resolve) => server.close(resolve)) });
    const argv = ['doctor', '--json', '--site', `https://localhost:${(server.address() as AddressInfo).port}`, ...PAGE];
    const { code, text } = await run(argv);
    const { checks } = JSON.parse(text) as { checks: Found[] };
    expect([checks.find(({ id }) => id === 'address')?.findings[0]?.says, code]).toEqual([
      expect.stringMatching(/TLS certificate/),
      1,
    ]);
  });
});

test('what a gate gave away while the service was away is told by doctor and status, once it is back', async () => {
  const own = await service.site();
  const moody = await startMoody(service.baseUrl);
  open.push(moody);
  moody.mood = 'dead';
  const gateThere = contentSettlement({
    serviceUrl: moody.url,
    apiKey: own.key,
    origin: `https://${own.host}`,
    log: () => undefined,
  });
  const served = await openSite({}, gateThere, own.host);
  expect((await fetch(`${served.url}/articles/trio`, { headers: { 'user-agent': 'GPTBot/1.3' } })).status).toBe(200);
  moody.mood = 'well';
  await gateThere.flush();
  await expect.poll(async () => (await run(['status'], own.key)).text).toContain('Agents were served free at 20');
  const { checks } = await doctor(served, [...PAGE, '--site', `https://${own.host}`], own.key);
  expect(checks['enforcing']).toContain(`${own.host}: at 20`);
});

describe('status', () => {
  test('exits 1 while a host needs somebody, 0 when none does, 2 when it could not be asked', async () => {
    const own = await service.site();
    const silent = await run(['status'], own.key);
    expect([silent.code, silent.text]).toEqual([1, expect.stringContaining(own.host)]);
    expect(silent.text).toMatch(/✗ idle .*\n.*→ No gate has ever reported/);
    await fetch(`${service.baseUrl}/_svc/quote?slug=solo`, { headers: { authorization: `Bearer ${own.key}` } });
    await expect.poll(async () => (await run(['status', '--json'], own.key)).code).toBe(0);
    const { hosts, attention } = JSON.parse((await run(['status', '--json'], own.key)).text);
    expect([attention, hosts]).toEqual([
      false,
      [expect.objectContaining({ host: own.host, mode: 'in_app', nextAction: 'none' })],
    ]);
    expect((await run(['status', '--quiet'], own.key)).text).toBe('');
    expect(await run(['status'], 'svc_live_nobody')).toEqual({
      code: 2,
      text: expect.stringContaining('does not know this key'),
    });
    const away = await run(['status'], own.key, { url: 'http://127.0.0.1:1' });
    expect(away).toEqual({ code: 2, text: expect.stringContaining('no service at http://127.0.0.1:1') });
    expect((await run(['status'], null)).code).toBe(2);
  });
});

describe('selftest', () => {
  test('plays a whole purchase at a site whose gate runs with a test key: page, licence, replay, re-read; nothing else opens', async () => {
    const { token } = await keyOf(site.tenantId, 'svc_test_');
    const served = await openSite({}, gateOf({ host: site.host, key: token }));
    const argv = ['selftest', '--connect-to', served.url, ...PAGE, '--page', '/articles/duo']; // of the key's own site
    const { code, text } = await run(argv, token);
    const passed = text.split('\n').flatMap((line) => /^✓ (\S+)/.exec(line)?.[1] ?? []);
    expect(passed).toEqual(['person', 'search', 'offer', 'sign', 'head', 'underpaid', 'pay', 'again', 'reread', 'elsewhere']);
    expect(code).toBe(0);
  });

  test('says so when the gate of the site runs with a live key, and moves no money', async () => {
    const { token } = await keyOf(site.tenantId, 'svc_test_');
    const served = await openSite();
    const { code, text } = await run(['selftest', '--site', `https://${site.host}`, '--connect-to', served.url, ...PAGE], token);
    expect([code, text]).toEqual([1, expect.stringMatching(/✗ pay .*empty wallet[\s\S]*start it with the same svc_test_ key/)]);
  });

  test.each([
    ['empties', () => ' ', 'is empty'],
    ['cuts', (page: string) => page.slice(0, page.indexOf('<p>')), 'has 1 of the 4 different words that a person reads there'],
  ] as const)('says so when what stands in front of the gate %s the page that was paid', async (_how, change, says) => {
    const { token } = await keyOf(site.tenantId, 'svc_test_');
    const inFront: RequestHandler = (_request, response, next) => {
      const end = response.end.bind(response) as (text: unknown, ...rest: unknown[]) => typeof response;
      response.end = ((page: unknown, ...rest: unknown[]) => {
        if (!response.getHeader('x-licence')) return end(page, ...rest);
        const changed = change(String(page));
        response.setHeader('content-length', Buffer.byteLength(changed));
        return end(changed);
      }) as typeof response.end;
      next();
    };
    const served = await openSite({ inFront }, gateOf({ host: site.host, key: token }));
    const { code, text } = await run(['selftest', '--connect-to', served.url, ...PAGE], token);
    expect([code, text]).toEqual([1, expect.stringMatching(new RegExp(`✗ pay .*the paid page ${says}`))]);
  });

  test('takes no live key, and says what to install where viem is missing', async () => {
    const argv = ['selftest', '--site', `https://${site.host}`, ...PAGE];
    expect(await run(argv)).toEqual({ code: 2, text: expect.stringContaining('test key only') });
    const unknown = await run(['selftest', ...PAGE], 'svc_test_nobody');
    expect(unknown).toEqual({ code: 2, text: expect.stringMatching(/does not know this key.*TEST_KEYS_ENABLED/) });
    const complaints: string[] = [];
    const code = await runCommand({
      argv,
      environment: { SVC_URL: service.baseUrl, SVC_API_KEY: 'svc_test_x' },
      now: Date.now,
      screen: { write: () => undefined, columns: 80, hasColours: false },
      complain: (text) => void complaints.push(text),
      loadSigner: () => Promise.reject(new Error('not installed')),
    });
    expect([code, complaints.join('')]).toEqual([2, expect.stringContaining('npm install -D viem')]);
  });
});
