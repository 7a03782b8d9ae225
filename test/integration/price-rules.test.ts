/** Price rules on the surfaces that charge by them: what is quoted to whom, for how long it is honoured, and what is refused. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PriceRule } from '../../modules/pricing/rules/rule.ts';
import type { PageRequest } from '../../modules/quotes/use/issue.ts';
import { quoteMany } from '../../modules/quotes/use/many.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import { startTestApi } from '../support/api.ts';
import { newAccount } from '../support/payments.ts';
import { ruleOf } from '../support/rules/arbitrary.ts';
import { longestTurn, slowness } from '../support/turns.ts';
import { payTo, receiptOf } from '../support/verifyApi.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
const buyer = newAccount();
/** A minute ahead, so that whatever is set while a test runs is in force since before. */
const NOW = Date.now() + 60_000;

beforeAll(async () => {
  api = await startTestApi({
    settle: async (request) => {
      const { payment, terms } = request;
      if (payment.authorization.value === terms.priceMicro && payment.authorization.to === terms.payTo) return receiptOf(request);
      throw new PaymentError('authorization_invalid', 'the signed value differs from the price', 'cmVmdXNlZA==');
    },
  });
});
beforeEach(() => Object.assign(api.time, { offsetMs: 0, stoppedAtMs: NOW - 900 }));
afterAll(() => api.stop());

type Site = Awaited<ReturnType<typeof api.site>>;
const ask = (site: Site, query = '') => api.request(`/_svc/quote?slug=trio${query}`, { key: site.key });
const quote = async (site: Site, query = '') => (await ask(site, query)).body;
/** A price as it is quoted: its micro, or why there is none. */
async function told(site: Site, query = ''): Promise<unknown> {
  const { status, headers, body } = await ask(site, query);
  return status === 200 ? body.price : (headers.get('x-svc-error-code') ?? headers.get('x-svc-free-because') ?? status);
}
// biome-ignore lint/suspicious/noExplicitAny: a quote as the API answers it
async function buy(site: Site, sent: any, value: number, to: string = sent.payTo) {
  const body = { payment: await payTo(api, buyer, to, value), quote: sent, legs: sent.legs };
  const answer = await api.post('/_svc/verify', site.key, { ...body, resource: `https://${site.host}/articles/trio` });
  return answer.status === 200 ? answer.body.chargedMicro : answer.headers.get('x-svc-error-code');
}
/**
 * Sets rules, and waits until quotes are made of a copy in memory that has them: a copy read in the millisecond of a change is not kept, so the clock
 * has to go on meanwhile.
 */
async function charge(site: Site, rules: readonly PriceRule[]): Promise<number> {
  const { version } = await setPricing(api.deps, { tenantId: site.tenantId, pricing: { rules } });
  const isHeld = async () => {
    api.time.stoppedAtMs = (api.time.stoppedAtMs ?? NOW) + 1;
    await api.deps.snapshots.tenant(site.tenantId, version);
    return api.deps.snapshots.heldTenant(site.tenantId, version) !== null;
  };
  await expect.poll(isHeld).toBe(true);
  api.time.stoppedAtMs = Math.max(NOW, api.time.stoppedAtMs ?? NOW);
  return version;
}

const OPENAI = ruleOf({ id: 'openai', operators: ['openai.com'], effect: { price: '0.002' } });

test('each agent is quoted its own price, in whatever order they ask, and the same words get the same answer again', async () => {
  const site = await api.site();
  await charge(site, [
    OPENAI,
    ruleOf({ id: 'train', categories: ['train'], effect: { price: '0.05' } }),
    ruleOf({ id: 'no-training', terms: ['ai-train'], effect: 'refuse' }),
    ruleOf({ id: 'index', terms: ['ai-index'], effect: 'free' }),
    ruleOf({ id: 'cited', path: '/articles/trio$', kind: 'citation', effect: { price: '0.004' } }),
  ]);
  const questions = ['', '&agent=openai.com', '&category=train', '&terms=ai-train', '&terms=ai-index', '&kind=citation'];
  const prices = [1_000, 2_000, 50_000, 'agent_refused', 'free_rule', 4_000];
  for (const order of [questions, questions.toReversed(), questions]) {
    const answers = new Map<string, unknown>();
    for (const query of order) answers.set(query, await told(site, query));
    expect(questions.map((query) => answers.get(query))).toEqual(prices);
  }
  expect(await told(site, '&agent=openai.com&category=train&terms=ai-index,ai-input')).toBe(2_000);
  expect(await told(site, '&agent=other.example&category=search')).toBe(1_000);
  expect((await ask(site, '&terms=ai-train')).status).toBe(403);
});

test('what is said of an agent that cannot be meant is refused, and what no rule names makes no quote of its own', async () => {
  const site = await api.site();
  for (const bad of [
    'agent=OpenAI.com',
    'agent=a%20b',
    `agent=${'a'.repeat(254)}`,
    'category=human',
    'terms=training',
    'terms=',
  ]) {
    expect([bad, (await ask(site, `&${bad}`)).status]).toEqual([bad, 400]);
  }
  const size = async (query: string) => (await quote(site, query)).quoteToken.length;
  expect(await size('&agent=openai.com&category=train&terms=search')).toBe(await size(''));
  await charge(site, [OPENAI]);
  expect(await size('&agent=other.example&category=train')).toBe(await size(''));
  expect(await size('&agent=openai.com')).toBeGreaterThan(await size(''));
});

test('only who was verified pays an operator’s price: its quote is signed for it, and a bare price is that of anybody', async () => {
  const site = await api.site();
  await charge(site, [{ ...OPENAI, effect: { price: '0.0015' } }, ruleOf({ id: 'all', effect: { price: '0.003' } })]);
  const [cheap, dear] = [await quote(site, '&agent=openai.com'), await quote(site)];
  expect([cheap.price, dear.price]).toEqual([1_500, 3_000]);
  expect(await buy(site, cheap, 1_500)).toBe('1500');
  expect(await buy(site, dear, 3_000)).toBe('3000');
  expect(await buy(site, dear, 1_500)).toBe('authorization_invalid');
  const { legs } = cheap;
  expect(await buy(site, { price: 1_500, legs }, 1_500, cheap.payTo)).toBe('quote_expired');
  expect(await buy(site, { ...cheap, quoteToken: dear.quoteToken }, 1_500)).toBe('authorization_invalid');
});

test('a price ends with its rule, is honoured ten minutes longer, and to the agent it was for alone', async () => {
  const site = await api.site();
  const untilMs = NOW + 1_000;
  await charge(site, [{ ...OPENAI, untilMs }, ruleOf({ id: 'sale', untilMs, effect: { price: '0.003' } })]);
  const [cheap, sale] = [await quote(site, '&agent=openai.com'), await quote(site)];
  expect([cheap.price, sale.price]).toEqual([2_000, 3_000]);
  api.time.offsetMs = 1_000;
  expect([await told(site), await told(site, '&agent=openai.com')]).toEqual([1_000, 1_000]);
  const [anybody, openai] = [await quote(site), await quote(site, '&agent=openai.com')];
  expect(await buy(site, anybody, 3_000)).toBe('3000');
  expect(await buy(site, { price: 3_000, legs: sale.legs }, 3_000, sale.payTo)).toBe('3000');
  expect(await buy(site, openai, 2_000)).toBe('2000');
  expect(await buy(site, anybody, 2_000)).toBe('authorization_invalid');
  api.time.offsetMs = 601_000;
  expect(await buy(site, await quote(site, '&agent=openai.com'), 2_000)).toBe('2000');
  api.time.offsetMs = 601_001;
  expect(await buy(site, await quote(site, '&agent=openai.com'), 2_000)).toBe('authorization_invalid');
  expect(await buy(site, await quote(site), 3_000)).toBe('authorization_invalid');
});

test('an answer says when a rule begins or ends next, of a price, of a free page and of a refusal', async () => {
  const site = await api.site();
  const rule = (id: string, untilMs: number, effect: PriceRule['effect']) =>
    ruleOf({ id, operators: [`${id}.example`], untilMs, effect });
  await charge(site, [
    rule('dear', NOW + 60_000, { price: '0.5' }),
    rule('free', NOW + 60_000, 'free'),
    rule('not', NOW + 60_000, 'refuse'),
  ]);
  const left = NOW + 60_000 - (api.time.stoppedAtMs ?? NOW);
  const tellsOf = async (query: string) => {
    const { status, headers } = await ask(site, query);
    return [status, headers.get('x-svc-changes-in') ?? headers.get('retry-after')];
  };
  // The second of the same words is told from memory.
  for (const query of ['', '', '&build=402', '&agent=dear.example']) expect(await tellsOf(query)).toEqual([200, String(left)]);
  for (const query of ['&agent=free.example', '&agent=free.example']) expect(await tellsOf(query)).toEqual([204, String(left)]);
  expect(await tellsOf('&agent=not.example')).toEqual([403, String(Math.ceil(left / 1_000))]);
  api.time.stoppedAtMs = NOW + 60_000;
  expect(await tellsOf('')).toEqual([200, null]);
});

test('an agent’s former price is honoured also after its rule was taken away', async () => {
  const site = await api.site();
  await charge(site, [OPENAI]);
  const former = await quote(site, '&agent=openai.com');
  await charge(site, []);
  const present = await quote(site, '&agent=openai.com');
  expect([former.price, present.price]).toEqual([2_000, 1_000]);
  expect(await buy(site, present, 2_000)).toBe('2000');
  expect(await buy(site, await quote(site), 2_000)).toBe('authorization_invalid');
});

test('a page that a rule begins to refuse is sold to who saw its price for ten minutes more, and then refused', async () => {
  const site = await api.site();
  await charge(site, [ruleOf({ id: 'closed', fromMs: NOW + 1_000, effect: 'refuse' })]);
  const seen = await quote(site);
  api.time.offsetMs = 1_000;
  expect(await told(site)).toBe('agent_refused');
  expect(await buy(site, seen, 1_000)).toBe('1000');
  const bare = { price: 1_000, legs: seen.legs };
  expect(await buy(site, bare, 1_000, seen.payTo)).toBe('1000');
  api.time.offsetMs = 602_000;
  expect(await buy(site, bare, 1_000, seen.payTo)).toBe('agent_refused');
  expect(await buy(site, { ...bare, price: 900 }, 900, seen.payTo)).toBe('agent_refused');
});

test('a rule that cannot be set changes nothing', async () => {
  const site = await api.site();
  const set = (rule: Partial<PriceRule>) =>
    setPricing(
      { ...api.deps, priceFloorMicro: 1_000n },
      { tenantId: site.tenantId, pricing: { rules: [ruleOf({ id: 'one', effect: 'free', ...rule })] } },
    );
  await expect(set({ effect: { price: '0.0009' } })).rejects.toThrow(/rules\.0\.price: is too low/);
  await expect(set({ path: '/*.pdf$' })).rejects.toThrow(/start its path with \/articles\//);
  expect(await told(site)).toBe(1_000);
});

test('many pages are priced at once in their order, each by itself, and each counts as a call', async () => {
  const site = await api.site();
  await charge(site, [OPENAI, ruleOf({ id: 'solo', path: '/articles/solo$', effect: 'refuse' })]);
  const url = (path: string, host = site.host) => ({ resource: `https://${host}${path}` });
  const pages = [
    { slug: 'trio' },
    url('/articles/solo'),
    url('/articles/free'),
    url('/about'),
    url('/', 'other.example'),
    {},
    { slug: 'duo', kind: 'citation' },
    { slug: 'half \ud800' },
  ];
  const { status, body } = await api.post('/_svc/quotes', site.key, { pages, agent: 'openai.com' });
  const shown = (outcome: Record<string, never>) =>
    (outcome['quote'] as { price?: number } | undefined)?.price ?? outcome['because'] ?? outcome['code'];
  const outcomes = [2_000, 'agent_refused', 'free_slug', 'out_of_scope', 'resource_not_owned', 'invalid_parameter', 10_000];
  expect([status, body.quotes.map(shown)]).toEqual([200, [...outcomes, 'invalid_parameter']]);
  const [{ quote: first }] = body.quotes;
  expect(await buy(site, first, 2_000)).toBe('2000');
  const many = (count: number) => api.post('/_svc/quotes', site.key, { pages: Array(count).fill({ slug: 'trio' }) });
  expect([(await many(0)).status, (await many(101)).status, (await many(100)).body.quotes.length]).toEqual([400, 400, 100]);
});

test('a hundred pages whose paths are long to compare are priced while others are answered', async () => {
  const site = await api.site();
  const path = (n: number) => `/articles/*${'a'.repeat(5)}b*${n}`;
  const version = await charge(
    site,
    Array.from({ length: 200 }, (_, n) => ruleOf({ id: `r${n}`, path: path(n), effect: 'refuse' })),
  );
  const tenant = api.deps.snapshots.heldTenant(site.tenantId, version);
  const asker = { operator: null, category: null, terms: [] };
  const requests = Array.from({ length: 100 }, (_, n) => ({
    tenant,
    kind: 'read',
    asker,
    resource: `https://${site.host}/articles/${n}${'a'.repeat(1_900)}`,
  }));
  expect(await longestTurn(() => quoteMany(api.deps, requests as PageRequest[], 1_000))).toBeLessThan(75 * slowness());
});

test('a list of pages spends as many points of its key as it has pages', async () => {
  const rated = await startTestApi({
    rates: {
      perSecond: { address: 100, refused: 100, key: 1, tenant: 1_000, account: 1, account_address: 1 },
      burstSeconds: 120,
    },
  });
  try {
    const site = await rated.site();
    const many = async () => (await rated.post('/_svc/quotes', site.key, { pages: Array(100).fill({ slug: 'trio' }) })).status;
    expect([await many(), await many()]).toEqual([200, 429]);
  } finally {
    await rated.stop();
  }
});
