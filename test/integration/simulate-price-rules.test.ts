import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RULES_DOCUMENT, SIMULATION_DOCUMENT } from '../../console/screens/rules/documents.ts';
import type { Pricing } from '../../modules/pricing/rules/pricing.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import type { Tally } from '../../modules/pricing/rules/replay.ts';
import type { PriceRule } from '../../modules/pricing/rules/rule.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { MOST_GROUPS } from '../../modules/reports/store/audit/askedGroups.ts';
import type { SimulationQuery } from '../../modules/reports/use/simulate.ts';
import { simulateRules } from '../../modules/reports/use/simulate.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { categoryOf as categoryOfGate } from '../../packages/publisher/src/core/category.ts';
import { startTestGraphql } from '../support/graphql.ts';
import type { Seen } from '../support/reports.ts';
import { insertPurchases, insertSeen } from '../support/reports.ts';
import { pricingOf, ruleOf } from '../support/rules/arbitrary.ts';
import { longestTurn, slowness } from '../support/turns.ts';

/** Price rules that are not saved, replayed over what was observed: each request is asked by the resolver that quotes, and money is exact. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PREFIXES = ['/news/', '/blog/'];
/** Pages by slug: what says their path is the catalogue, a purchase, or nothing. */
const PATHS = { listed: '/blog/listed', bought: '/blog/bought', guessed: '/news/guessed', free: '/news/free' } as const;
type Slug = keyof typeof PATHS;

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
let pricing: Pricing;
let nowMs: number;
let rows: readonly Seen[];
/** Rows that are the same in every run. */
let seed = 11;
const pick = <T>(all: readonly T[]): T => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return all[Math.floor((seed / 2_147_483_648) * all.length)] as T;
};

beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site();
  nowMs = Date.now();
  const { database } = graph.api.deps;
  pricing = pricingOf({ priceUsdc: '0.01', articlePrefixes: PREFIXES, creditsFreeSlugs: ['free'] });
  const call = { actor: { userId: 'ada', via: 'token' }, tenantId: site.tenantId } as const;
  await changePricing(graph.api.deps, call, 'price.set', { ...pricing });
  await importPages(graph.api.deps, { tenantId: site.tenantId, pages: [{ slug: 'listed', path: PATHS.listed }] });
  const legs = [{ toAddress: `0x${'1'.repeat(40)}`, amountMicro: 10_000 }];
  const resource = `https://${site.host}${PATHS.bought}?utm=1`;
  const bought = { tenantId: site.tenantId, host: site.host, slug: 'bought', kind: 'read', atMs: nowMs, steps: 1, legs } as const;
  const [paymentId = ''] = await insertPurchases(database, [{ ...bought, resource }]);
  rows = [...Array.from({ length: 600 }, () => anyRow(paymentId)), ...never()];
  await insertSeen(database, rows);
});
afterAll(() => graph?.stop());

const VERDICTS = ['paid', 'paid', 'denied', 'denied', 'blocked', 'served-free'] as const;
function anyRow(paymentId: string): Seen {
  const verdict = pick(VERDICTS);
  const slug = pick(Object.keys(PATHS) as Slug[]);
  const verified = pick([true, false, false]);
  const agent = verified ? 'openai.com' : pick(['gptbot', 'claude-user', 'other']);
  return {
    tenantId: site.tenantId,
    host: site.host,
    slug,
    verdict,
    classifiedAs: 'agent',
    kind: pick(['read', 'citation', null]),
    micro: verdict === 'served-free' ? null : pick([7, 10_000, 50_001, null]),
    reason: null,
    classifyReason: verdict === 'blocked' ? pick(['policy_block', null, 'crawler_list']) : 'crawler_list',
    count: 1,
    paymentId: verdict === 'paid' && slug === 'bought' ? paymentId : null,
    agent,
    agentUa: verified ? pick([null, 'Mozilla/5.0 (ChatGPT Agent)', 'notgptbot', 'my-gptbot', 'x GPTBot/1.2 claude-user']) : null,
    verified,
    verifiedAgent: verified ? 'OpenAI.com' : null,
    sigInvalid: null,
    atMs: nowMs - 1 - pick([0, 1, 2, 3, 4, 5]) * DAY - pick([0, 7]) * HOUR,
  };
}

/** What no price rule is asked for: readers that their owner lets read free, what a licence covers, licences, and what was taken back. */
function never(): readonly Seen[] {
  const one: Seen = { ...anyRow(''), verdict: 'served-free', slug: 'guessed', paymentId: null, atMs: nowMs - DAY };
  const takenBack = { ...one, verdict: 'paid', paymentId: randomUUID(), micro: 99_000 } as const;
  return [
    ...['search_engine', 'policy_allow', 'service_away', null].map((classifyReason) => ({ ...one, classifyReason })),
    { ...one, classifiedAs: 'human', classifyReason: 'person' },
    ...['agent-reread', 'payment-failed', 'unservable'].map((verdict) => ({ ...one, verdict, micro: 1 })),
    { ...one, verdict: 'paid', slug: `licence:${randomUUID()}`, micro: 5_000_000 },
    ...([1, -1] as const).map((count) => ({ ...takenBack, count })),
  ];
}

const NONE: Tally = { paid: 0, missed: 0, refused: 0, free: 0, earnedMicro: 0n, missedMicro: 0n };
function plus(a: Tally, fate: 'paid' | 'missed' | 'refused' | 'free', micro: bigint): Tally {
  const money =
    fate === 'paid' ? { earnedMicro: a.earnedMicro + micro } : fate === 'missed' ? { missedMicro: a.missedMicro + micro } : {};
  return { ...a, [fate]: a[fate] + 1, ...money };
}

/** Every observation by itself, asked again. */
function oneByOne({ rules, fromMs, toMs, atMs }: SimulationQuery) {
  const compiled = compilePricing({ ...pricing, rules }, graph.api.deps.priceFloorMicro);
  let [was, then] = [NONE, NONE];
  const earnedBy: Record<string, bigint> = {};
  for (const row of rows.slice(0, 600)) {
    if (row.atMs < (fromMs ?? 0) || row.atMs >= (toMs ?? Infinity)) continue;
    const fates = { paid: 'paid', denied: 'missed', blocked: 'refused', 'served-free': 'free' } as const;
    const fate = fates[row.verdict as keyof typeof fates];
    was = plus(was, fate, BigInt(row.micro ?? 0));
    const operator = row.verified ? 'openai.com' : null;
    const asked = { path: PATHS[row.slug as Slug], slug: row.slug, kind: row.kind ?? 'read', operator, terms: [] } as const;
    const price = compiled.resolve({
      ...asked,
      category: categoryOfGate(row.verified ? (row.agentUa ?? '') : row.agent),
      atMs: atMs ?? row.atMs,
    });
    const isByPolicy = fate === 'refused' && row.classifyReason !== 'crawler_list';
    if (isByPolicy || price.kind === 'refused') then = plus(then, 'refused', 0n);
    else if (price.kind === 'free') then = plus(then, 'free', 0n);
    else then = plus(then, fate === 'paid' ? 'paid' : 'missed', price.micro);
    if (fate === 'paid' && 'micro' in price) earnedBy[price.ruleId ?? ''] = (earnedBy[price.ruleId ?? ''] ?? 0n) + price.micro;
  }
  return { was, then, earnedBy };
}

const anyRules = fc
  .uniqueArray(
    fc.record({
      path: fc.constantFrom(null, '/blog/', '/news/*', '/blog/bought$', '/news/guessed', '/blog/l*d'),
      kind: fc.constantFrom(null, 'read' as const, 'citation' as const),
      operators: fc.constantFrom([], ['openai.com'], ['claude.ai']),
      categories: fc.constantFrom<PriceRule['categories'][]>([], ['train'], ['assistant', 'search'], ['agent']),
      terms: fc.constantFrom<PriceRule['terms'][]>([], [], ['ai-train']),
      fromDay: fc.constantFrom(null, 2, 4),
      untilDay: fc.constantFrom(null, 0, 1),
      effect: fc.constantFrom<PriceRule['effect']>('free', 'refuse', { price: '0.001' }, { price: '0.123457' }),
    }),
    { maxLength: 6, selector: ({ path, kind, operators, categories }) => JSON.stringify([path, kind, operators, categories]) },
  )
  .map((rules) =>
    rules.map(({ fromDay, untilDay, ...rule }, n) => {
      const at = (day: number | null): number | null => (day === null ? null : nowMs - day * DAY - 3 * HOUR);
      return ruleOf({ ...rule, id: `r${n}`, fromMs: at(fromDay), untilMs: at(untilDay) });
    }),
  );
const aWindow = fc.record({ from: fc.constantFrom(null, 0, 3, 6), length: fc.constantFrom(null, 1, 2), isNow: fc.boolean() });

test('random rules over random windows come to what each observation comes to by itself', async () => {
  const seen = { replayed: 0 };
  await fc.assert(
    fc.asyncProperty(anyRules, aWindow, async (rules, { from, length, isNow }) => {
      const fromMs = from === null ? null : nowMs - from * DAY;
      const toMs = length === null ? null : (fromMs ?? nowMs - 7 * DAY) + length * DAY;
      const query = { rules, fromMs, toMs, atMs: isNow ? nowMs : null, ...EVERYTHING };
      const found = await simulate(query).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'invalid_parameter', details: { parameter: expect.stringMatching(/^rules\.\d/) } });
      });
      if (!found) return;
      seen.replayed++;
      const { was, then } = oneByOne(query);
      expect({ was: found.was, byRules: found.byRules }).toEqual({ was, byRules: then });
      expect(found.replayed).toBe(found.requests);
    }),
    { numRuns: 60 },
  );
  expect(seen.replayed).toBeGreaterThan(20);
});

const EVERYTHING = { host: null, slug: null, agent: null };
const simulateOf = ({ tenantId, host }: typeof site, query: SimulationQuery) =>
  simulateRules({ ...graph.api.deps, reading: graph.reading }, { tenantId, hosts: [host], plan: 'studio' }, query);
const simulate = (query: SimulationQuery) => simulateOf(site, query);
const ALWAYS = { fromMs: null, toMs: null, atMs: null, ...EVERYTHING };

test('what is known of each page and agent says which rule decides, and all of them add up', async () => {
  const rules = [
    ruleOf({ id: 'blog', path: '/blog/', effect: { price: '0.5' } }),
    ruleOf({ id: 'openai', operators: ['openai.com'], effect: 'refuse' }),
    ruleOf({ id: 'train', path: '/news/*', categories: ['train'], effect: { price: '0.25' } }),
    ruleOf({ id: 'use', path: '/news/guessed', terms: ['ai-train'], effect: 'free' }),
  ];
  const all = await simulate({ ...ALWAYS, rules });
  const earnedBy = Object.fromEntries(all.rules.map(({ ruleId, byRules }) => [ruleId ?? '', byRules.earnedMicro]));
  expect(earnedBy).toEqual({ ...oneByOne({ ...ALWAYS, rules }).earnedBy, openai: 0n });
  expect(all.rules.find(({ ruleId }) => ruleId === 'openai')?.byRules).toMatchObject({ paid: 0, missed: 0, free: 0 });
  expect(all.pages.map(({ path }) => path).sort()).toEqual(Object.values(PATHS).toSorted());
  expect(all.agents.map(({ agent }) => agent).sort()).toEqual(['claude-user', 'gptbot', 'openai.com', 'other']);
  expect(all.assumedPaths).toBe(rows.slice(0, 600).filter(({ slug }) => slug === 'guessed' || slug === 'free').length);
  const one = await simulate({ ...ALWAYS, rules, agent: 'gptbot', slug: 'bought' });
  expect([one.agents.map(({ agent }) => agent), one.pages.map(({ path }) => path)]).toEqual([['gptbot'], [PATHS.bought]]);
  const stranger = await graph.api.site();
  expect(await simulateOf(stranger, { ...ALWAYS, rules })).toMatchObject({
    requests: 0,
    was: NONE,
    byRules: NONE,
    pages: [],
    agents: [],
  });
});

const SUMS = 'paid missed refused free earnedMicro missedMicro';
const RULE = { id: 'blog', path: '/blog/', kind: 'READ', effect: 'PRICE', priceUsdc: '0.5' };
const DOCUMENT = `query ($rules: [PriceRuleInput!]!) { tenant { simulatePriceRules(rules: $rules, window: { lastDays: 7 }) {
  version requests replayed was { ${SUMS} } byRules { ${SUMS} } rules { ruleId } pages { totalCount nodes { path } } agents { nodes { agent } } } } }`;
const SET = `mutation ($rules: [PriceRuleInput!]!, $ifVersion: Int) { setPriceRules(input: { rules: $rules, ifVersion: $ifVersion }) {
  ... on SetPriceRulesPayload { version } ... on Refusal { code message } ... on InvalidInput { parameter } } }`;

test('rules are simulated, and set at the version they were simulated at, as owners ask for both', async () => {
  const owner = await graph.owner(site.tenantId);
  const { data, errors } = await graph.ask(owner, DOCUMENT, { rules: [RULE] });
  expect(errors).toEqual([]);
  const { version, ...simulated } = data.tenant.simulatePriceRules;
  const found = await simulate({
    ...ALWAYS,
    rules: [ruleOf({ id: 'blog', path: '/blog/', kind: 'read', effect: { price: '0.5' } })],
  });
  const { paid, earnedMicro } = found.byRules;
  expect(simulated).toMatchObject({ requests: found.requests, byRules: { paid, earnedMicro: String(earnedMicro) } });
  expect(simulated.pages).toEqual({ totalCount: 4, nodes: found.pages.map(({ path }) => ({ path })) });
  const old = await graph.ask(owner, SET, { rules: [RULE], ifVersion: version - 1 });
  expect(old.data.setPriceRules).toMatchObject({ code: 'conflict' });
  expect((await graph.ask(owner, SET, { rules: [RULE], ifVersion: version })).data.setPriceRules.version).toBeGreaterThan(
    version,
  );
  const { priceRules } = (await graph.ask(owner, '{ tenant { priceRules { id path kind effect priceUsdc } } }')).data.tenant;
  expect(priceRules).toEqual([RULE]);
  await graph.ask(owner, SET, { rules: [] });
});

test('what could not be set cannot be simulated, and says the same at the same place', async () => {
  const owner = await graph.owner(site.tenantId);
  for (const [change, parameter] of [
    [{ path: 'news' }, 'rules.0.path'],
    [{ priceUsdc: null }, 'rules.0.priceUsdc'],
    [{ priceUsdc: '0.000001' }, 'rules.0.price'],
    [{ operators: ['OpenAI.com'] }, 'rules.0.operators'],
    [{ terms: ['reading'] }, 'rules.0.terms'],
  ] as const) {
    const rules = [{ ...RULE, ...change }];
    const { errors } = await graph.ask(owner, DOCUMENT, { rules });
    const { code, message, parameter: place } = (await graph.ask(owner, SET, { rules })).data.setPriceRules;
    expect([code, place]).toEqual(['invalid_parameter', parameter]);
    expect(errors[0]).toMatchObject({ message, extensions: { parameter } });
  }
  const many = Array.from({ length: 201 }, (_, n) => ({ ...RULE, id: `r${n}` }));
  expect((await graph.ask(owner, DOCUMENT, { rules: many })).errors[0]?.message).toContain('more than 200');
});

test('of more groups than are replayed the largest are, and the others are counted', async () => {
  const crowded = await graph.api.site();
  const row = {
    ...anyRow(''),
    tenantId: crowded.tenantId,
    host: crowded.host,
    verdict: 'paid',
    micro: 1_000,
    kind: 'read',
  } as const;
  const seen = Array.from({ length: MOST_GROUPS + 5 }, (_, n) => ({
    ...row,
    slug: `page-${n}`,
    paymentId: null,
    atMs: nowMs - 1_000,
  }));
  await insertSeen(graph.api.deps.database, [...seen, ...seen.slice(0, 2)]);
  const found = await simulateOf(crowded, { ...ALWAYS, rules: [] });
  expect([found.requests, found.replayed]).toEqual([MOST_GROUPS + 7, MOST_GROUPS + 2]);
  expect(found.was).toEqual({ ...NONE, paid: MOST_GROUPS + 2, earnedMicro: BigInt(MOST_GROUPS + 2) * 1_000n });
});

test('rules that take long to compare with what was observed let others go on meanwhile', async () => {
  const crowded = await graph.api.site();
  const { tenantId, host } = crowded;
  const one = { ...anyRow(''), tenantId, host, verdict: 'denied', micro: 1_000, kind: 'read', paymentId: null } as const;
  await insertSeen(
    graph.api.deps.database,
    Array.from({ length: 1_000 }, (_, n) => ({ ...one, slug: `${n}${'a'.repeat(500)}`, atMs: nowMs - 1_000 })),
  );
  const rules = Array.from({ length: 200 }, (_, n) => ruleOf({ id: `r${n}`, path: `/articles/*aaaaab*${n}`, effect: 'free' }));
  expect(await longestTurn(() => simulateOf(crowded, { ...ALWAYS, rules }))).toBeLessThan(150 * slowness());
});

test('the questions of the console stay far below what a query may cost', async () => {
  const owner = await graph.owner(site.tenantId);
  for (const [document, variables] of [
    [RULES_DOCUMENT, {}],
    [SIMULATION_DOCUMENT, { rules: [] }],
  ] as const) {
    const { errors, extensions } = await graph.ask(owner, document, variables);
    expect(errors).toEqual([]);
    expect(extensions.cost.total, document).toBeLessThan(16_000);
  }
});
