/** Pages asked for and handed on: through the real client to a real server that is as hostile as a publisher can be. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setSiteDiscovery } from '../../modules/discovery/use/manageDiscovery.ts';
import type { PageDeps } from '../../modules/storefront/use/pages/fetch.ts';
import { absentError, probePage } from '../../modules/storefront/use/pages/probe.ts';
import { relayPage } from '../../modules/storefront/use/pages/relay.ts';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import { gateOffer } from '../support/gateOffer.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let outbound: Outbound;
let deps: PageDeps;
const asked: { readonly host: string; readonly url: string; readonly licence: string | undefined; readonly agent: string }[] = [];
const MB = 1_048_576;
/** Leaves no room for legs in the header. */
const CROWD = { bazaar: { info: { text: 'x'.repeat(750) } } };
const HTML = { 'content-type': 'text/html; charset=utf-8' };
const web = createServer((request, response) => {
  const { url = '/', headers } = request;
  const licence = headers.authorization;
  asked.push({ host: headers.host ?? '', url, licence, agent: headers['user-agent'] ?? '' });
  const send = (status: number, more: Record<string, string>, body: string | Uint8Array = ''): void => {
    response.writeHead(status, more).end(body);
  };
  const to = (location: string): void => send(302, { location });
  const here = `https://${headers.host}${url}`;
  /** The 402 of a gate: of this page unless told, with or without the body that goes with it. */
  const offer = (of = here, body?: string, extensions = {}): void => {
    const made = gateOffer(of, extensions);
    send(402, made.headers, body ?? made.body);
  };
  const foreign = (change: (whole: Record<string, unknown>) => object): void => {
    const whole = JSON.parse(Buffer.from(gateOffer(here).headers['payment-required'], 'base64').toString());
    send(402, { 'payment-required': Buffer.from(JSON.stringify(change(whole))).toString('base64') }, '{}');
  };
  const answers: Record<string, () => void> = {
    '/articles/sold': () => (licence ? send(200, HTML, '<title>Sold</title><p>The text &amp; more') : offer()),
    '/articles/bodiless': () => offer(here, ''),
    '/articles/crowded': () => offer(here, undefined, CROWD),
    '/articles/by-accept': () => offer(here, /text\/html/.test(headers.accept ?? '') ? '<p>pay' : undefined, CROWD),
    '/articles/plain-http': () => offer(here.replace('https:', 'http:')),
    '/articles/slash/': () => offer(here.slice(0, -1)),
    '/articles/bare': () => send(402, HTML, 'pay'),
    '/articles/body-alone': () => send(402, { 'content-type': 'application/json' }, gateOffer(here).body),
    '/articles/scrambled': () => send(402, { 'payment-required': '<script>' }, gateOffer(here).body),
    '/articles/another-page': () => offer(`https://${headers.host}/articles/sold`),
    '/articles/another-host': () => offer(`https://other.relay.example${url}`),
    '/articles/another-service': () => foreign((whole) => ({ ...whole, extensions: {} })),
    '/articles/older': () => foreign((whole) => ({ ...whole, x402Version: 1 })),
    '/articles/unpayable': () => foreign((whole) => ({ ...whole, accepts: [] })),
    '/articles/no-page': () => foreign((whole) => ({ ...whole, resource: { url: 7 } })),
    '/articles/no-hash': () => foreign((whole) => ({ ...whole, extensions: { 'svc-legs': { info: { legsHash: '0x12' } } } })),
    '/articles/long-offer': () => offer(here, `${gateOffer(here).body}${' '.repeat(100_000)}`, CROWD),
    '/articles/free': () =>
      send(200, HTML, '<title> Free\n page </title><p>Hello <b>you</b></p><script>evil()</script><li>one<li>two'),
    '/articles/gone': () => send(410, HTML, 'gone'),
    '/articles/in': () => to('http://169.254.169.254/latest/meta-data'),
    '/articles/loopback': () => to('https://127.0.0.1/'),
    '/articles/out': () => to('https://elsewhere.example/articles/free'),
    '/articles/plain': () => to(`http://${headers.host}/articles/free`),
    '/articles/port': () => to(`https://${headers.host}:8443/articles/free`),
    '/articles/user': () => to(`https://a:b@${headers.host}/articles/free`),
    '/articles/loop': () => to('/articles/loop'),
    '/articles/nowhere': () => send(302, {}),
    '/articles/one': () => to('/articles/two'),
    '/articles/two': () => to('three'),
    '/articles/three': () => to('/articles/sold'),
    '/articles/big': () => send(200, HTML, Buffer.alloc(9 * MB, 'a')),
    '/articles/long': () => send(200, HTML, Buffer.alloc(2 * MB, 'a')),
    '/articles/spaced': () => send(200, HTML, `<p>text${' '.repeat(2 * MB)}<p>the end`),
    '/articles/bomb': () => send(200, { ...HTML, 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(50 * MB))),
    '/articles/pdf': () => send(200, { 'content-type': 'application/pdf' }, '%PDF'),
    '/articles/untyped': () => send(200, {}, 'text'),
    '/articles/lies': () => send(200, { 'content-type': 'text/plain' }, Buffer.from([1, 0, 2])),
    '/articles/latin': () =>
      send(200, { 'content-type': 'text/plain; charset="iso-8859-1"' }, Buffer.from('Stra\xdfe', 'latin1')),
    '/articles/odd': () => send(200, { 'content-type': 'TEXT/Plain ; charset=x-no-such' }, Buffer.from('Straße \u{1f600}\xff')),
    '/articles/json': () => send(200, { 'content-type': 'application/json' }, '{"a":1}'),
    '/articles/deep': () => send(200, HTML, '<b>'.repeat(2_500_000)),
    '/articles/hang': () => undefined,
    '/articles/drip': () => {
      response.writeHead(200, HTML);
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    },
  };
  (answers[url] ?? (() => send(404, HTML)))();
});
beforeAll(async () => {
  api = await startTestApi();
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const own = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  const reroute = (url: URL): URL | null =>
    url.hostname.endsWith('.relay.example') ? new URL(`${url.pathname}${url.search}`, own) : null;
  outbound = createOutbound({ allowLoopback: true, reroute, resolve: async () => [] });
  deps = { ...api.deps, outbound, pagePatienceMs: 5_000 };
});
afterAll(async () => {
  await outbound?.close();
  await new Promise((resolve) => {
    web.close(resolve);
    web.closeAllConnections();
  });
  await api?.stop();
});
beforeEach(() => {
  asked.length = 0;
});

const call = (tenantId: string) => ({ actor: { userId: 'owner', via: 'token' as const }, tenantId });
const who = 'payer 0x1';
let sites = 0;
const siteOf = async (relays: boolean) => {
  sites += 1;
  const host = `s${sites}.relay.example`;
  const pricing = { priceUsdc: '0.003', defaultPayee: { authorId: 'ann', wallet: WALLETS[0] ?? '' } };
  const site = await api.site({ hosts: [host], pricing });
  await setSiteDiscovery(api.deps, call(site.tenantId), { summary: 'Essays', tags: [], relays });
  const at = (name: string): string => `https://${host}/articles/${name}`;
  const probe = async (name: string) => probePage(deps, { url: at(name), who });
  const relay = (name: string) => relayPage(deps, { url: at(name), licence: 'a.b.c', who });
  return { ...site, host, at, probe, relay };
};

test('a page is asked for as an agent that has not paid: sold, free, or absent, and then nothing is charged', async () => {
  const site = await siteOf(true);
  expect(await site.probe('sold')).toMatchObject({ kind: 'priced', resource: { url: site.at('sold') } });
  expect(await site.probe('free')).toMatchObject({
    kind: 'free',
    page: { url: site.at('free'), mediaType: 'text/html', title: 'Free page', text: 'Hello you\n- one\n- two' },
  });
  const gone = await site.probe('gone');
  expect(gone).toMatchObject({ kind: 'absent', reason: 'answered_otherwise', says: 'the site answered 410 for this page' });
  expect(gone.kind === 'absent' && absentError(gone)).toMatchObject({ code: 'not_found' });
  expect(asked.every(({ licence, agent }) => licence === undefined && agent.includes('PageRelayBot'))).toBe(true);
  const { tenantId } = site;
  await setSiteDiscovery(api.deps, call(tenantId), { summary: 'Essays', tags: [], relays: false });
  expect(await site.probe('free'), 'also what is free is read at its site, where its owner wants that').toMatchObject({
    kind: 'free',
    page: null,
  });
});

test('a page is sold whose site answers with our offer for it, whichever part of the answer has room for the legs', async () => {
  for (const relays of [true, false]) {
    const site = await siteOf(relays);
    for (const name of ['sold', 'bodiless', 'crowded', 'by-accept', 'plain-http', 'slash/']) {
      expect([name, (await site.probe(name)).kind]).toEqual([name, 'priced']);
    }
  }
});

test('a 402 that is not our offer for this very page sells nothing: its licence would be answered with it again', async () => {
  const names = ['bare', 'body-alone', 'scrambled', 'another-page', 'another-host', 'another-service', 'older', 'unpayable'];
  for (const relays of [true, false]) {
    const site = await siteOf(relays);
    for (const name of [...names, 'no-page', 'no-hash', 'long-offer', 'one']) {
      expect([name, await site.probe(name)]).toMatchObject([
        name,
        {
          kind: 'absent',
          reason: 'answered_otherwise',
          says: 'the site answered 402 for this page, without an offer of this service for it',
        },
      ]);
    }
  }
});

test('a licence goes to the page it is for; its text comes where the owner allows that, and else how to read it', async () => {
  const site = await siteOf(true);
  const instructions = { method: 'GET', url: site.at('sold'), headers: { Authorization: 'License a.b.c' } };
  expect(await site.relay('sold')).toEqual({
    relayed: true,
    instructions,
    page: { url: site.at('sold'), mediaType: 'text/html', title: 'Sold', text: 'The text & more', isCut: false, bytes: 41 },
  });
  expect(asked).toMatchObject([{ host: site.host, url: '/articles/sold', licence: 'License a.b.c' }]);
  const closed = await siteOf(false);
  asked.length = 0;
  expect(await closed.relay('sold')).toMatchObject({
    relayed: false,
    reason: 'not_allowed',
    instructions: { url: closed.at('sold') },
  });
  await setSiteDiscovery(api.deps, call(closed.tenantId), { summary: 'Other words', tags: [] });
  expect(await closed.relay('sold'), 'what is left out stays').toMatchObject({ reason: 'not_allowed' });
  expect(asked, 'a site that hands nothing on is not asked').toEqual([]);
});

test('only a verified host of a live site is ever asked', async () => {
  const site = await siteOf(true);
  for (const url of [
    'https://169.254.169.254/',
    'https://localhost/',
    'https://nobody.relay.example/articles/free',
    'https://127.0.0.1:1/',
  ]) {
    await expect(probePage(deps, { url, who })).rejects.toMatchObject({ code: 'not_found' });
    await expect(relayPage(deps, { url, licence: 'a.b.c', who })).rejects.toMatchObject({ code: 'not_found' });
  }
  for (const url of ['file:///etc/passwd', `https://a:b@${site.host}/articles/free`, 'x'.repeat(3_000)]) {
    await expect(probePage(deps, { url, who })).rejects.toMatchObject({ code: 'invalid_resource' });
  }
  await expect(probePage(deps, { url: `https://${site.host}:8443/articles/free`, who })).resolves.toMatchObject({
    reason: 'invalid_url',
  });
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'suspended' });
  const later = { ...deps, clock: () => Date.now() + 3_000 }; // who owns a host is remembered for two seconds
  await expect(probePage(later, { url: site.at('sold'), who })).rejects.toMatchObject({ code: 'not_found' });
  expect(asked).toEqual([]);
});

test('redirects are followed three times within the host, never inward, elsewhere or in the clear, and the licence stays there', async () => {
  const site = await siteOf(true);
  expect(await site.relay('one')).toMatchObject({ relayed: true, page: { url: site.at('sold') } });
  expect(asked.map(({ host, licence }) => `${host} ${licence}`)).toEqual(Array(4).fill(`${site.host} License a.b.c`));
  for (const name of ['in', 'loopback', 'out', 'plain', 'port', 'user', 'loop', 'nowhere']) {
    asked.length = 0;
    expect([name, await site.relay(name)]).toMatchObject([name, { relayed: false, reason: 'redirected' }]);
    expect([name, asked.length]).toEqual([name, name === 'loop' ? 4 : 1]);
  }
});

test('what is compressed, no text, too deep or too slow is told, of what is long it is told that it is cut, and the licence is not lost', async () => {
  const site = await siteOf(true);
  const hostile = [
    ['bomb', 'bad_response'],
    ['pdf', 'not_text'],
    ['untyped', 'not_text'],
    ['lies', 'not_text'],
    ['deep', 'not_text'],
  ] as const;
  for (const [name, reason] of hostile) {
    expect([name, await site.relay(name)]).toMatchObject([
      name,
      { relayed: false, reason, instructions: { url: site.at(name) } },
    ]);
  }
  expect(await site.relay('latin')).toMatchObject({ page: { text: 'Straße', mediaType: 'text/plain', title: null } });
  expect(await site.relay('odd')).toMatchObject({ page: { text: 'Straße \u{1f600}ÿ' } });
  expect(await site.relay('json')).toMatchObject({ page: { text: '{"a":1}' } });
  for (const [name, bytes, chars] of [
    ['long', 2 * MB, 500_000],
    ['big', 2 * MB, 500_000],
    ['spaced', 2 * MB, 4],
  ] as const) {
    const long = await site.relay(name);
    expect([name, long.relayed && long.page]).toMatchObject([name, { isCut: true, bytes }]);
    expect([name, long.relayed && long.page.text.length]).toEqual([name, chars]);
  }
  const impatient = { ...deps, pagePatienceMs: 300 };
  for (const name of ['hang', 'drip']) {
    const startedAt = performance.now();
    expect(await relayPage(impatient, { url: site.at(name), licence: 'a.b.c', who })).toMatchObject({
      relayed: false,
      reason: 'timeout',
    });
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  }
});

test('a site that hangs holds two places, and the pages of others come meanwhile', async () => {
  const [slow, quick] = [await siteOf(true), await siteOf(true)];
  const impatient = { ...deps, pagePatienceMs: 1_500 };
  const startedAt = performance.now();
  const hanging = Array.from({ length: 12 }, (_, at) =>
    relayPage(impatient, { url: slow.at('hang'), licence: 'a.b.c', who: `payer 0x${at}` }),
  );
  const come = await Promise.all(Array.from({ length: 10 }, () => quick.relay('sold')));
  expect(come.every(({ relayed }) => relayed)).toBe(true);
  const turns = Math.ceil((performance.now() - startedAt) / impatient.pagePatienceMs);
  expect(asked.filter(({ url }) => url === '/articles/hang').length).toBeLessThanOrEqual(2 * turns);
  const reasons = (await Promise.all(hanging)).map((one) => one.relayed || one.reason);
  expect(new Set(reasons)).toEqual(new Set(['timeout', 'busy']));
});

test('four sites that hang, asked again and again, hold two places together, and another site’s pages come at once', async () => {
  const hostile = await Promise.all(Array.from({ length: 4 }, () => siteOf(true)));
  const quick = await siteOf(true);
  const impatient = { ...deps, pagePatienceMs: 3_000 };
  const hang = () =>
    Promise.all(
      [...hostile, ...hostile].map((site, at) =>
        relayPage(impatient, { url: site.at('hang'), licence: 'a.b.c', who: `payer 0xa${at}` }),
      ),
    );
  expect((await hang()).map((one) => one.relayed || one.reason)).toEqual(Array(8).fill('timeout'));
  asked.length = 0;
  const again = hang();
  await expect.poll(() => asked.length).toBe(2);
  expect(await quick.relay('sold')).toMatchObject({ relayed: true });
  expect(
    asked.filter(({ url }) => url === '/articles/hang'),
    'theirs still hang when ours has come',
  ).toHaveLength(2);
  await again;
});
