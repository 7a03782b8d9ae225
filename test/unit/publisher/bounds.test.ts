/** What one caller can make a site spend: calls, memory and time of the gate, with a service that the test plays. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { claimOf } from '../../../modules/gate/rules/agent.ts';
import { categoryOf as categoryOfName, CRAWLERS as KNOWN } from '../../../modules/gate/rules/crawlers.ts';
import { AI_AGENTS } from '../../../modules/gate/rules/robots.generated.ts';
import type { Report } from '../../../packages/publisher/src/client.ts';
import { createClient } from '../../../packages/publisher/src/client.ts';
import { Breaker } from '../../../packages/publisher/src/core/breaker.ts';
import { categoryOf } from '../../../packages/publisher/src/core/category.ts';
import { Lru } from '../../../packages/publisher/src/core/lru.ts';
import { dollars, microOf } from '../../../packages/publisher/src/core/usdc.ts';
import { openAgents } from '../../../packages/publisher/src/knowing/agents.ts';
import type { Asker } from '../../../packages/publisher/src/knowing/quotes.ts';
import { openQuotes } from '../../../packages/publisher/src/knowing/quotes.ts';
import { openConfig } from '../../../packages/publisher/src/knowing/siteConfig.ts';
import type { FailureNote } from '../../../packages/publisher/src/telling/failures.ts';
import { openFailures } from '../../../packages/publisher/src/telling/failures.ts';
import { openReports } from '../../../packages/publisher/src/telling/reports.ts';
import type { SigningAgent } from '../../support/agents.ts';
import { newAgent, signedRequest } from '../../support/agents.ts';

const QUOTE = { price: 1_000, slug: 'x', legs: [], quoteToken: 't', x402: { header: btoa('{}'), body: {} }, payees: [] };
const json = (body: unknown, status = 200, headers = {}) =>
  new Response(status === 204 ? null : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });

/** A service that answers what `say` says; `asked` has what it was asked. */
function world(say: (url: URL, init: RequestInit) => Response | Promise<Response>) {
  const asked: string[] = [];
  const time = { ms: 1_700_000_000_000 };
  const now = () => time.ms;
  const notes: FailureNote[] = [];
  const answer: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input));
    asked.push(url.pathname + url.search);
    return say(url, init);
  };
  const options = { serviceUrl: 'https://svc.example', apiKey: 'k', fetch: answer };
  const client = createClient(options);
  const failures = openFailures({ now, log: () => undefined, onFailure: (failure) => void notes.push(failure) });
  return { asked, time, notes, client, options, now, failures, breaker: new Breaker(now) };
}
const quoted = (now: () => number) => json({ ...QUOTE, expiresAt: now() + 600_000 });

test('a page is asked about once by any number at once, and again after a minute', async () => {
  const at = world(() => quoted(at.now));
  const quotes = openQuotes(at);
  await Promise.all(Array.from({ length: 100 }, () => quotes.find('https://a.example/a', 'read')));
  expect(at.asked.length).toBe(1);
  at.time.ms += 59_000;
  await quotes.find('https://a.example/a', 'read');
  expect(at.asked.length).toBe(1);
  at.time.ms += 2_000;
  await quotes.find('https://a.example/a', 'read');
  expect(at.asked.length).toBe(2);
});

test('an answer is kept no longer than until a rule begins or ends, whatever it is, and a minute where nobody says', async () => {
  const tells = { 'x-svc-changes-in': '5000' };
  const answers: Record<string, () => Response> = {
    priced: () => json({ ...QUOTE, expiresAt: at.now() + 600_000 }, 200, tells),
    free: () => json(null, 204, tells),
    refused: () => json({ error: 'agent_refused: no' }, 403, { 'x-svc-error-code': 'agent_refused', 'retry-after': '5' }),
    plain: () => quoted(at.now),
    broken: () => json({ ...QUOTE, expiresAt: at.now() + 600_000 }, 200, { 'x-svc-changes-in': 'soon' }),
  };
  const at = world((url) => (answers[new URL(url.searchParams.get('resource') ?? '').pathname.slice(1)] ?? answers['plain']!)());
  const quotes = openQuotes(at);
  const askedAgain = async (afterMs: number) => {
    at.time.ms += afterMs;
    const before = at.asked.length;
    for (const page of Object.keys(answers)) await quotes.find(`https://a.example/${page}`, 'read');
    return at.asked.length - before;
  };
  expect([await askedAgain(0), await askedAgain(4_999), await askedAgain(1), await askedAgain(4_999)]).toEqual([5, 0, 3, 0]);
});

test('settings that changed are read with the first answer that names their version, and a version that never comes costs a call in two seconds', async () => {
  let [named, version] = [7, 7];
  const enforcement = {
    ...{ articlePrefixes: ['/'], gateScope: { mode: 'prefixes' }, seoAllowlist: [], licenseIdentity: 'https://svc.example' },
    crawlerPolicy: { allow: [], charge: [], block: [] },
  };
  const at = world((url) => {
    const settings = { enforcement, manifest: { resources: [] }, version };
    return url.pathname.endsWith('enforce-config')
      ? json(settings, 200, { etag: `"${version}"` })
      : json(null, 204, { 'x-svc-site-version': String(named) });
  });
  const client = createClient({ ...at.options, onSiteVersion: (newest) => config.heard(newest) });
  const config = openConfig({ ...at, client });
  /** Readings of the settings in so many seconds, while a page is asked for in each. */
  const readings = async (seconds: number) => {
    const before = at.asked.length;
    for (let second = 0; second < seconds; second += 1) {
      at.time.ms += 1_000;
      await client.quote({ resource: `https://a.example/${second}` });
      await config.first();
      await config.settled();
    }
    return at.asked.slice(before).filter((path) => path.endsWith('enforce-config')).length;
  };
  expect([await readings(10), await readings(100)]).toEqual([1, 0]);
  [named, version] = [8, 8];
  expect([await readings(1), await readings(100)]).toEqual([1, 0]);
  named = 9;
  expect(await readings(20)).toBe(10);
});

test('a flood of pages is at most 64 calls at once and 100 a second, and what is known stays known', async () => {
  let inFlight = 0;
  let most = 0;
  const at = world(async (url) => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inFlight -= 1;
    return url.search.includes('solo') ? quoted(at.now) : json(null, 204, { 'x-svc-free-because': 'no_credits' });
  });
  const quotes = openQuotes(at);
  await quotes.find('https://a.example/solo', 'read');
  const flood = await Promise.all(Array.from({ length: 1_000 }, (_, index) => quotes.find(`https://a.example/${index}`, 'read')));
  expect(most).toBeLessThanOrEqual(64);
  expect(flood.filter(({ state }) => state === 'free').length).toBeLessThanOrEqual(100);
  expect(new Set(flood.map(({ state }) => state))).toEqual(new Set(['free', 'busy']));
  at.time.ms += 61_000;
  await Promise.all(Array.from({ length: 200 }, (_, index) => quotes.find(`https://a.example/again/${index}`, 'read')));
  expect((await quotes.find('https://a.example/solo', 'read')).state).toBe('priced');
});

test('what one agent is asked is never what another is, and a page refused to one leaves the service at work for all', async () => {
  const at = world((url) => {
    const { agent, category } = Object.fromEntries(url.searchParams);
    const refused = { 'x-svc-error-code': 'agent_refused' };
    if (category === 'train') return json({ error: 'agent_refused: not given' }, 403, refused);
    return agent === 'openai.com' ? json(null, 204) : quoted(at.now);
  });
  const quotes = openQuotes(at);
  const stateOf = async (asker: Asker) => (await quotes.find('https://a.example/x', 'read', asker)).state;
  const askers: Asker[] = [{}, { agent: 'openai.com' }, { category: 'train' }, { category: 'search' }];
  for (const order of [askers, askers.toReversed()]) {
    for (const asker of order) await stateOf(asker);
    expect(await Promise.all(askers.map(stateOf))).toEqual(['priced', 'free', 'refused', 'priced']);
  }
  for (let page = 0; page < 20; page++) await quotes.find(`https://a.example/${page}`, 'read', { category: 'train' });
  expect(at.breaker.mayCall()).toBe(true);
  expect(at.notes).toEqual([]);
});

test('what a crawler reads for is told by its name as a whole word, and by nothing else', () => {
  const of = [
    'GPTBot/1.2',
    'Mozilla/5.0 (compatible; ChatGPT-User/1.0)',
    'notgptbot',
    'ClaudeBot',
    'curl/8',
    'Mozilla/5.0 (ChatGPT Agent)',
  ];
  expect(of.map(categoryOf)).toEqual(['train', 'assistant', null, 'train', null, 'agent']);
});

test('a gate and a replay of what it saw say the same of what a crawler reads for', () => {
  const names = [...Object.keys(KNOWN), ...AI_AGENTS];
  const replayed = (ua: string) => categoryOfName(Object.values(claimOf({ ua })).join());
  for (const [name, { readsFor }] of Object.entries(KNOWN)) expect([name, categoryOf(name)]).toEqual([name, readsFor]);
  for (const name of names) expect([name, replayed(name)]).toEqual([name, categoryOf(name)]);
  const ofAll = ['x', '-', ' ', '/1.0', '; ', '1', 'é', '\u017f', '\u212a', '\u0130', '(', 'compatible; ', ' '.repeat(500)];
  const piece = fc.oneof(fc.constantFrom(...Object.keys(KNOWN)), fc.constantFrom(...names), fc.constantFrom(...ofAll));
  const cased = fc.tuple(piece, fc.boolean()).map(([text, isUpper]) => (isUpper ? text.toUpperCase() : text));
  const userAgent = fc.array(cased, { maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(userAgent, (ua) => replayed(ua) === categoryOf(ua)),
    { numRuns: 2_000 },
  );
});

test('signatures that somebody makes up push no agent out of memory that was verified', async () => {
  const signed = async (agent: SigningAgent, host: string) => {
    const url = 'https://a.example/x';
    const { headers } = await signedRequest({ agent, url, field: `sig1="https://${host}"`, atMs: at.now() });
    return { method: 'GET', target: '/x', header: (name: string) => (headers as Record<string, string>)[name], original: null };
  };
  const [good, other] = [await newAgent(), await newAgent()];
  const at = world((_url, init) =>
    String(init.body).includes('bot.example')
      ? json({ outcome: 'verified', agent: { key: good.publicJwk }, observed: { verified: true }, cacheSeconds: 300 })
      : json({ outcome: 'unverified', reason: 'directory_unreachable', retryAfter: 60, observed: {} }),
  );
  const agents = openAgents(at);
  const visit = async () => agents.identify(await signed(good, 'bot.example'), 'https://a.example');
  expect(await visit()).toEqual({ verified: true });
  for (let n = 0; n < 1_100; n++) {
    at.time.ms += 60;
    expect(await agents.identify(await signed(other, `made-up-${n}.example`), 'https://a.example')).toEqual({});
  }
  const asked = at.asked.length;
  expect([await visit(), at.asked.length]).toEqual([{ verified: true }, asked]);
  expect(asked).toBe(1_101);
});

test('the price of a page is never that of another host or of another kind', async () => {
  const at = world((url) => {
    const [resource, kind] = [url.searchParams.get('resource'), url.searchParams.get('kind')];
    return resource?.includes('//a.') && kind === 'read' ? json(null, 204) : quoted(at.now);
  });
  const quotes = openQuotes(at);
  expect((await quotes.find('https://a.example/x', 'read')).state).toBe('free');
  expect((await quotes.find('https://b.example/x', 'read')).state).toBe('priced');
  expect((await quotes.find('https://a.example/x', 'citation')).state).toBe('priced');
});

test.each([
  [429, 'rate_limited', 'busy'],
  [503, 'credits_unavailable', 'busy'],
  [503, 'payee_blocked', 'busy'],
  [503, 'overloaded', 'busy'],
  [400, 'invalid_resource', 'bad'],
  [500, 'internal', 'away'],
  [503, 'database_unavailable', 'away'],
  [502, null, 'away'],
  [401, 'invalid_key', 'away'],
  [403, 'resource_not_owned', 'away'],
  [302, null, 'busy'],
])('a quote answered with %i %s is %s: nobody who can bring that about reads free by it', async (status, code, state) => {
  const at = world(() => json({ error: 'no' }, status, code === null ? {} : { 'x-svc-error-code': code }));
  expect((await openQuotes(at).find('https://a.example/x', 'read')).state).toBe(state);
});

test('a page of something else than the service, with status 200, is no quote', async () => {
  for (const text of ['<html>sign in</html>', '{"price":"1"}', '[]', 'null']) {
    const at = world(() => new Response(text, { status: 200 }));
    const price = await openQuotes(at).find('https://a.example/x', 'read');
    expect([text, price.state]).toEqual([text, 'away']);
  }
});

test('five failures in a row are followed by ten seconds without a call, then one call finds out', async () => {
  const at = world(() => new Response('no', { status: 500 }));
  const quotes = openQuotes(at);
  for (let index = 0; index < 20; index++) await quotes.find(`https://a.example/${index}`, 'read');
  expect(at.asked.length).toBe(5);
  at.time.ms += 10_001;
  await Promise.all(Array.from({ length: 10 }, (_, index) => quotes.find(`https://a.example/again/${index}`, 'read')));
  expect(at.asked.length).toBe(6);
});

test('a page that the service cannot price by itself opens no breaker for the others', async () => {
  const at = world((url) =>
    url.search.includes('bad') ? json({}, 503, { 'x-svc-error-code': 'credits_unavailable' }) : quoted(at.now),
  );
  const quotes = openQuotes(at);
  for (let index = 0; index < 20; index++) await quotes.find(`https://a.example/bad/${index}`, 'read');
  expect((await quotes.find('https://a.example/solo', 'read')).state).toBe('priced');
});

const report = (slug: string): Report => ({ resource: `https://a.example/${slug}`, verdict: 'denied', classifiedAs: 'agent' });

test('reports leave fifty at a time, wait while the service is away, and the oldest give way beyond a thousand', async () => {
  const lists: number[] = [];
  let isAway = true;
  const at = world((_url, init) => {
    lists.push(JSON.parse(String(init.body)).length);
    return isAway ? new Response('no', { status: 500 }) : json({ ok: true, accepted: 1 }, 202);
  });
  const reports = openReports(at);
  for (let index = 0; index < 1_200; index++) reports.add(report(String(index)));
  await reports.flush();
  expect([lists, reports.dropped(), reports.isDue()]).toEqual([[50], 200, false]);
  isAway = false;
  at.time.ms += 10_001;
  await reports.flush();
  expect(lists.slice(1)).toEqual(Array.from({ length: 20 }, () => 50));
  expect(reports.dropped()).toBe(200);
});

test('a report that the service refuses takes none of its list with it', async () => {
  const taken: string[] = [];
  const at = world((_url, init) => {
    const list = JSON.parse(String(init.body)) as Report[];
    if (list.some(({ resource }) => resource.endsWith('/poison'))) return json({ ok: false, error: 'no' }, 400);
    taken.push(...list.map(({ resource }) => resource));
    return json({ ok: true, accepted: list.length }, 202);
  });
  const reports = openReports(at);
  for (const slug of [...Array(20).keys(), 'poison', ...Array(20).keys()]) reports.add(report(String(slug)));
  await reports.flush();
  expect([taken.length, reports.dropped(), at.asked.length < 20]).toEqual([40, 1, true]);
});

test('reports that wait leave with the process, by one listener for any number of gates, and once while the service is away', async () => {
  let isAway = true;
  const at = world(() => (isAway ? new Response('no', { status: 500 }) : json({ ok: true, accepted: 1 }, 202)));
  const [queue, ...others] = Array.from({ length: 20 }, () => openReports(at));
  for (const reports of [queue, ...others]) reports?.add(report('a'));
  await Promise.all(others.map((reports) => reports.flush()));
  expect(process.listenerCount('beforeExit')).toBeLessThan(10);
  const leave = async () => {
    const before = at.asked.length;
    process.emit('beforeExit', 0);
    await queue?.flush();
    return at.asked.length - before;
  };
  at.time.ms += 10_001;
  isAway = false;
  expect([(await leave()) > 0, await leave()]).toEqual([true, 0]);
});

test('a log line of a kind comes once in five minutes, the hook hears of each, and a hook that throws breaks nothing', () => {
  const lines: string[] = [];
  const time = { ms: 0 };
  const counts: number[] = [];
  const onFailure = ({ count }: { count: number }): never => {
    counts.push(count);
    throw new Error('of the site');
  };
  const failures = openFailures({ now: () => time.ms, log: (line) => void lines.push(line), onFailure });
  for (const ms of [0, 1_000, 299_000, 300_000]) {
    time.ms = ms;
    failures.note({ what: 'quote', message: 'away' });
  }
  expect([counts, lines.length]).toEqual([[1, 2, 3, 4], 2]);
});

test('the memory of a map that is full forgets what was used longest ago', () => {
  const lru = new Lru<number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  lru.get('a');
  lru.set('c', 3);
  expect([lru.get('a'), lru.get('b'), lru.get('c'), lru.size]).toEqual([1, undefined, 3, 2]);
});

test.each([
  [3_000, 'USD 0.003'],
  [1, 'USD 0.000001'],
  [10_000, 'USD 0.01'],
  [100_000, 'USD 0.10'],
  [1_000_000, 'USD 1.00'],
  [12_345_678, 'USD 12.345678'],
  ['999999', 'USD 0.999999'],
])('%s micro-USDC are %s', (micro, text) => {
  expect(dollars(micro)).toBe(text);
  expect(microOf(text)).toBe(Number(micro));
});

test.each(['', 'USD', 'EUR 1', '0.0000001', '1e3', '-1', '1,5', '9999999999', 'USD 1 USD 2'])('%j names no amount', (text) => {
  expect(microOf(text)).toBeNull();
});
