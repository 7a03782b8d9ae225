/** Whether who calls himself Googlebot is Google, by a table of addresses: true and false ones, IPv6, mapped, and behind proxies. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect, test } from 'vitest';
import { createRanges, digitsOf, isPublic } from '../../../packages/publisher/src/core/ranges.ts';
import { createWhence } from '../../../packages/publisher/src/core/whence.ts';
import { contentSettlement } from '../../../packages/publisher/src/express.ts';
import { openClaims } from '../../../packages/publisher/src/knowing/claims.ts';
import { openReaders } from '../../../packages/publisher/src/knowing/readers.ts';
import type { Names } from '../../../packages/publisher/src/knowing/reverse.ts';
import { openReverse } from '../../../packages/publisher/src/knowing/reverse.ts';
import { generatedAddresses } from '../../../tools/addresses.ts';
import { CLAIM_ROWS, GOOGLE, NOW, OF_GOOGLE, OF_OTHERS, PAYS, READS } from '../../support/claims-rows.ts';
import { CONFIG, serviceThat, told } from '../../support/lying-service.ts';

const DAY_MS = 86_400_000;
const YANDEX = 'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)';
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

/** Name servers that know some addresses; `asked` has what they were asked. */
function namesOf(known: Readonly<Record<string, readonly string[]>>, back: Readonly<Record<string, readonly string[]>> = {}) {
  const asked: string[] = [];
  const lookUp = (from: Readonly<Record<string, readonly string[]>>) => async (name: string) => {
    asked.push(name);
    const found = from[name];
    if (!found) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return [...found];
  };
  const names: Names = { reverse: lookUp(known), addresses: lookUp(back) };
  return { names, asked };
}

function judgeOf(options: { trustedProxies?: readonly string[]; names?: Names | null; now?: () => number } = {}) {
  const { now = () => NOW, names = null } = options;
  const claims = openClaims({ now, reverse: openReverse({ now, names }) });
  const { trustedProxies } = options;
  const readers = openReaders({ trustedProxies }, { note: () => undefined, counts: () => ({}) }, claims);
  const ask = (ua: string, peer: string | undefined, headers: Readonly<Record<string, string>> = {}) => {
    const header = (name: string) => (name === 'user-agent' ? ua : headers[name]);
    const { who, reason } = readers({ method: 'GET', target: '/', header, peer: () => peer, original: undefined }, null);
    return `${who} ${reason}`;
  };
  return { ask, claims };
}

test.each(CLAIM_ROWS)('who calls himself Googlebot and is %s', (_who, trustedProxies, peer, headers, becomes) => {
  expect(judgeOf(trustedProxies ? { trustedProxies } : {}).ask(GOOGLE, peer, headers)).toBe(becomes);
});

test('a name counts wherever it stands, and people are nobody’s masquerade', () => {
  const { ask } = judgeOf({ trustedProxies: [] });
  for (const ua of ['MyGooglebot/1', 'ClaudeBot Googlebot', 'bingbot/2.0 (like Googlebot)', 'AdsBot-Google'])
    expect(ask(ua, OF_OTHERS)).toBe(PAYS);
  expect(ask(CHROME, OF_OTHERS)).toBe('person person');
  expect(ask('Twitterbot/1.0', OF_OTHERS)).toBe('robot preview');
  expect(ask('Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)', OF_OTHERS)).toBe('robot feed');
  expect(ask('UptimeRobot/2.0', OF_OTHERS)).toBe('robot monitor'); // no list of it is shipped
  expect(ask('GPTBot/1.3', OF_OTHERS)).toBe(PAYS);
  expect(ask('GPTBot/1.3', '132.196.86.1')).toBe('agent crawler_list');
  expect(ask('', OF_OTHERS)).toBe('agent no_name');
});

test('where an operator publishes no list, its name servers say who is false: the first request reads as before, and nobody waits', async () => {
  const { names, asked } = namesOf(
    {
      '5.255.253.1': ['spider-5-255-253-1.yandex.com'],
      [OF_OTHERS]: ['evil.yandex.com'],
      '203.0.114.9': ['x.yandex.com.evil.example'],
    },
    { 'spider-5-255-253-1.yandex.com': ['5.255.253.1'], 'evil.yandex.com': ['5.255.253.99'] },
  );
  const { ask, claims } = judgeOf({ trustedProxies: [], names });
  for (const address of ['5.255.253.1', OF_OTHERS, '203.0.114.9', '203.0.114.10']) {
    expect(ask(YANDEX, address)).toBe(READS);
    await claims.settled();
  }
  const count = asked.length;
  expect(['5.255.253.1', OF_OTHERS, '203.0.114.9', '203.0.114.10'].map((address) => ask(YANDEX, address))).toEqual([
    READS,
    PAYS,
    PAYS,
    PAYS,
  ]);
  await claims.settled();
  expect(asked.length).toBe(count);
});

test('name servers are asked about few addresses at once and in a second, of IPv6 once for a network, and their silence charges nobody', async () => {
  let asked = 0;
  const time = { ms: NOW };
  const silent = async (): Promise<string[]> => {
    asked += 1;
    throw Object.assign(new Error('no answer'), { code: 'ETIMEOUT' });
  };
  const { ask, claims } = judgeOf({ trustedProxies: [], names: { reverse: silent, addresses: silent }, now: () => time.ms });
  const flood = async (address: (at: number) => string) => {
    for (let at = 0; at < 50; at++) expect(ask(YANDEX, address(at))).toBe(READS);
    await claims.settled();
  };
  await flood((at) => `203.0.114.${at}`);
  expect(asked).toBe(4);
  for (let turn = 0; turn < 20; turn++) await flood((at) => `203.0.${turn + 115}.${at}`);
  expect(asked).toBe(10);
  time.ms += 1_000;
  await flood((at) => `2a01:4f8:0:1::${at}`);
  expect(asked).toBe(11);
});

test('where name servers tell as well, a list is believed for two days about whom it does not name, and they correct it', async () => {
  const time = { ms: NOW };
  const { names } = namesOf(
    { '192.0.3.7': ['crawl-192-0-3-7.googlebot.com'], '2a01:4f8::7': ['rate-limited-proxy-2a01-4f8--7.google.com'] },
    { 'crawl-192-0-3-7.googlebot.com': ['192.0.3.7'], 'rate-limited-proxy-2a01-4f8--7.google.com': ['2a01:4f8::7'] },
  );
  const { ask, claims } = judgeOf({ trustedProxies: [], names, now: () => time.ms });
  const fromNew = () => ['192.0.3.7', '2a01:4f8::7', OF_OTHERS].map((address) => ask(GOOGLE, address));
  expect(fromNew()).toEqual([PAYS, PAYS, PAYS]);
  await claims.settled();
  expect(fromNew()).toEqual([READS, READS, PAYS]);
  time.ms += 2 * DAY_MS;
  expect(ask(GOOGLE, '192.0.3.8')).toBe(READS);
  await claims.settled();
  expect(ask(GOOGLE, '192.0.3.8')).toBe(PAYS);
});

test('what name servers say against one address of a network says nothing of the true robot beside it', async () => {
  const { names } = namesOf(
    { '2a01:4f8::7': ['rate-limited-proxy-2a01-4f8--7.google.com'] },
    { 'rate-limited-proxy-2a01-4f8--7.google.com': ['2a01:4f8::7'] },
  );
  const { ask, claims } = judgeOf({ trustedProxies: [], names, now: () => NOW });
  for (const becomes of [PAYS, PAYS]) {
    expect(ask(GOOGLE, '2a01:4f8::dead')).toBe(becomes);
    await claims.settled();
  }
  ask(GOOGLE, '2a01:4f8::7');
  await claims.settled();
  expect(ask(GOOGLE, '2a01:4f8::7')).toBe(READS);
});

test('where only a list tells, it is believed for 14 days about whom it does not name, and never by a clock that is wrong by as much', () => {
  const time = { ms: NOW };
  const { ask } = judgeOf({ trustedProxies: [], now: () => time.ms });
  const byList = () => ask('DuckDuckBot/1.1', OF_OTHERS);
  expect(byList()).toBe(PAYS);
  time.ms += 12 * DAY_MS;
  expect(byList()).toBe(PAYS);
  time.ms += 2 * DAY_MS;
  expect(byList()).toBe(READS);
  time.ms -= 40 * DAY_MS;
  expect(byList()).toBe(READS);
});

test('the service’s lists win over those of the release; ones that cannot be read change nothing', () => {
  const { ask, claims } = judgeOf({ trustedProxies: [] });
  expect(() => claims.learn({ version: 1, checkedAt: {}, ranges: { 'google-googlebot': ['everybody'] } })).toThrow(TypeError);
  expect(ask(GOOGLE, OF_GOOGLE)).toBe(READS);
  claims.learn({
    version: 2,
    checkedAt: { 'google-googlebot': NOW, uptimerobot: NOW },
    ranges: { 'google-googlebot': [`${OF_OTHERS}/32`], uptimerobot: ['2a03:b0c0:2:d0::/64'] },
  });
  expect([ask(GOOGLE, OF_OTHERS), ask(GOOGLE, OF_GOOGLE), claims.version()]).toEqual([READS, PAYS, 2]);
  expect([ask('UptimeRobot/2.0', OF_OTHERS), ask('UptimeRobot/2.0', '2a03:b0c0:2:d0::9')]).toEqual([PAYS, 'robot monitor']);
});

test('ranges hold their ends and nothing beside, one inside another too; texts that are none are refused', () => {
  const ranges = createRanges(['10.0.0.0/9', '10.1.0.0/24', '10.200.0.7', '2001:db8::/33']);
  const holds = (text: string) => ranges.has(digitsOf(text) ?? '');
  expect(['10.0.0.0', '10.1.0.255', '10.1.1.0', '10.127.255.255', '10.200.0.7', '2001:db8:7fff::1'].every(holds)).toBe(true);
  expect(['9.255.255.255', '10.128.0.0', '10.200.0.8', '2001:db8:8000::', '2001:db7:ffff::1'].some(holds)).toBe(false);
  for (const text of ['', '1.2.3', '1.2.3.4/33', '::/129', '1.2.3.4/x', 'a.example'])
    expect(() => createRanges([text])).toThrow(TypeError);
  expect(() => createWhence(['10.0.0.0/8', 'proxy.example'])).toThrow(/proxy\.example is no range/);
});

test('an address is read in every way it is written, IPv4 inside IPv6 as IPv4, and as nothing else', () => {
  const same = [
    '2001:db8::1',
    '2001:DB8:0:0:0:0:0:1',
    '[2001:db8::1]',
    '[2001:db8::0001]:443',
    '2001:db8::1%eth0',
    '2001:db8::0.0.0.1',
  ];
  expect(new Set(same.map(digitsOf))).toEqual(new Set(['20010db8000000000000000000000001']));
  const four = ['8.8.4.4', '8.8.4.4:80', '::ffff:8.8.4.4', '::FFFF:808:404', '[::ffff:8.8.4.4]:80'];
  expect(new Set(four.map(digitsOf))).toEqual(new Set(['08080404']));
  const none = [
    '',
    '8.8.4',
    '8.8.4.256',
    '08.8.4.4',
    '8.8.4.4.',
    '0x8.8.4.4',
    '8.8.4.4 ',
    '1:2',
    ':::',
    '1::2::3',
    '2001:db8::1/64',
    ']',
    '::1]/x',
  ];
  expect(none.map(digitsOf)).toEqual(none.map(() => null));
  expect(['8.8.4.4', '2a00:1450::1', '::ffff:8.8.4.4'].every(isPublic)).toBe(true);
  const special = [
    '10.1.1.1',
    '::ffff:10.1.1.1',
    '127.0.0.1',
    '100.64.0.1',
    '169.254.1.1',
    '224.0.0.1',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '2001:db8::1',
  ];
  expect(special.some(isPublic)).toBe(false);
});

test('a gate learns lists with its settings, once, and then asks for newer ones alone', async () => {
  const asked: string[] = [];
  const addresses = { version: 7, checkedAt: { 'bing-bingbot': Date.now() }, ranges: { 'bing-bingbot': ['40.77.167.0/24'] } };
  const service = serviceThat({
    'enforce-config': () => told({ ...CONFIG, enforcement: { ...CONFIG.enforcement, seoAllowlist: ['bingbot'] }, addresses }),
  });
  const gate = contentSettlement({
    serviceUrl: 'https://svc.example',
    apiKey: 'k',
    trustedProxies: ['127.0.0.0/8', '::1'],
    log: () => undefined,
    fetch: (input, init) => {
      asked.push(String(input));
      return service(input, init);
    },
  });
  const server = createServer(
    express()
      .use(gate)
      .get('/articles/solo', (_request, response) => void response.send('<p>solo</p>')),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const read = (from: string) =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/articles/solo`, {
        headers: { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0)', 'x-forwarded-for': from },
      });
    await expect.poll(async () => (await read(OF_OTHERS)).status).toBe(402);
    expect((await read('40.77.167.12')).status).toBe(200);
    expect(asked.filter((url) => url.includes('enforce-config'))).toEqual([
      'https://svc.example/_svc/enforce-config?addresses=0',
    ]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('what is shipped is what its data makes', () => {
  for (const { path, is, wanted } of generatedAddresses()) expect([path, is]).toEqual([path, wanted]);
});
