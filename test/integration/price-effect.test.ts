import { afterAll, beforeAll, expect, test } from 'vitest';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { startTestGraphql } from '../support/graphql.ts';

/** What a change of prices would do is told before it is made, by the rules that quote; and a change decided by an older state is refused. */

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
beforeAll(async () => {
  graph = await startTestGraphql();
});
afterAll(() => graph.stop());

const PRICE = 'state readMicro citationMicro freeBecause';
const EFFECT = `query ($change: PriceEffectInput!) { tenant { priceEffect(change: $change) { version pages isWhole formerMs
  steps { pages paths before { ${PRICE} } after { ${PRICE} } }
  pageBefore { path payees { authorId micro } } pageAfter { path price { ${PRICE} } payees { authorId micro } } } } }`;
const CREDITS = { contributors: [{ authorId: 'eve', wallet: `0x${'3'.repeat(40)}` }] };
const LIST = `{ tenant { version pricedPages(first: 20) { totalCount nodes { path slug title importedSlug credits price { ${PRICE} } payees { authorId wallet micro } } } } }`;

async function world() {
  const site = await graph.api.site();
  const owner = await graph.owner(site.tenantId);
  const pages = [
    { slug: 'solo', path: '/articles/solo', title: 'Alone at last' },
    { slug: 'about', path: '/about' },
    { slug: 'lost', path: '/articles/lost' },
  ];
  await importPages(graph.api.deps, { tenantId: site.tenantId, pages });
  const ask = async (query: string, variables = {}) => {
    const { data, errors } = await graph.ask(owner, query, variables);
    expect(errors).toEqual([]);
    return data.tenant;
  };
  const change = async (name: string, input: object) => {
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    const query = `mutation ($input: ${title}Input!) { it: ${name}(input: $input) { __typename ... on Refusal { code message } } }`;
    return (await graph.ask(owner, query, { input })).data.it;
  };
  return { ...site, owner, ask, change };
}

test('the list has every page that the catalogue or inline credits name, with its price, why it is free, and who is paid', async () => {
  const { ask } = await world();
  const { nodes, totalCount } = (await ask(LIST)).pricedPages;
  const free = (freeBecause: string) => ({ state: 'FREE', readMicro: null, citationMicro: null, freeBecause });
  const priced = { state: 'PRICED', readMicro: '1000', citationMicro: '5000', freeBecause: null };
  expect(totalCount).toBe(6);
  expect(nodes.map((page: { path: string; price: object }) => [page.path, page.price])).toEqual([
    ['/about', free('OUT_OF_SCOPE')],
    ['/articles/duo', priced],
    ['/articles/free', free('FREE_SLUG')],
    ['/articles/lost', free('NO_CREDITS')],
    ['/articles/solo', priced],
    ['/articles/trio', priced],
  ]);
  expect(nodes[4]).toMatchObject({
    slug: 'solo',
    title: 'Alone at last',
    importedSlug: 'solo',
    payees: [{ authorId: 'ann', micro: '1000' }],
  });
  expect(nodes[5].payees.map(({ micro }: { micro: string }) => micro)).toEqual(['500', '300', '200']);
});

test.each([
  ['setPrices', { priceUsdc: '0.01', citationMultiplier: '3' }, { priceUsdc: '0.01', citationMultiplier: '3' }],
  ['setPrices', { priceUsdc: '0' }, { priceUsdc: '0' }],
  [
    'setPrices',
    { defaultPayee: { authorId: 'house', wallet: `0x${'9'.repeat(40)}` } },
    { defaultPayee: { authorId: 'house', wallet: `0x${'9'.repeat(40)}` } },
  ],
  ['setFreeSlugs', { slugs: ['solo', 'trio'] }, { freeSlugs: ['solo', 'trio'] }],
  ['setFreeSlugs', { slugs: null }, { freeSlugs: null }],
  ['setArticlePrefixes', { prefixes: null }, { articlePrefixes: null }],
  ['setCredits', { pages: [{ slug: 'lost', credits: CREDITS }] }, { credits: [{ slug: 'lost', credits: CREDITS }] }],
  ['removePageCredits', { slug: 'solo' }, { withoutCreditsOf: 'solo' }],
])('what %s %j would do is what it does, page by page', async (name, input, look) => {
  const { ask, change } = await world();
  const { priceEffect } = await ask(EFFECT, { change: look });
  const before = (await ask(LIST)).pricedPages.nodes;
  expect(await change(name, { ...input, ifVersion: priceEffect.version })).toMatchObject({
    __typename: expect.stringMatching(/Payload$/),
  });
  const after = (await ask(LIST)).pricedPages.nodes;
  const told = priceEffect.steps.flatMap((step: { paths: string[]; before: object; after: object }) =>
    step.paths.map((path) => [path, step.before, step.after]),
  );
  type Row = { path: string; price: object };
  const priceAt = (rows: readonly Row[], path: string) => rows.find((row) => row.path === path)?.price;
  const [pages, counted] = [told.length, priceEffect.steps.reduce((sum: number, step: { pages: number }) => sum + step.pages, 0)];
  expect([pages, counted]).toEqual([priceEffect.pages, priceEffect.pages]);
  expect(priceEffect).toMatchObject({ isWhole: true, formerMs: 600_000 });
  for (const [path, was, becomes] of told) {
    if (priceAt(before, path)) expect([path, was]).toEqual([path, priceAt(before, path)]);
    if (priceAt(after, path)) expect([path, becomes]).toEqual([path, priceAt(after, path)]);
  }
});

test('credits of a page are shown as what each author gets of a read, before and after', async () => {
  const { ask } = await world();
  const contributors = [
    { authorId: 'ann', wallet: `0x${'1'.repeat(40)}`, weight: 3 },
    { authorId: 'bob', wallet: `0x${'2'.repeat(40)}`, weight: 1 },
  ];
  const { priceEffect } = await ask(EFFECT, { change: { pageCredits: { slug: 'solo', credits: { contributors } } } });
  expect(priceEffect.pageBefore).toMatchObject({ path: '/articles/solo', payees: [{ authorId: 'ann', micro: '1000' }] });
  expect(priceEffect.pageAfter.payees).toEqual([
    { authorId: 'ann', micro: '750' },
    { authorId: 'bob', micro: '250' },
  ]);
});

test('a change that would be refused is refused as an effect too, with the same place and words', async () => {
  const { owner, change } = await world();
  const asked = await graph.ask(owner, EFFECT, { change: { priceUsdc: '0.0000001' } });
  expect(asked.errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', parameter: 'priceUsdc' });
  const refused = await change('setPrices', { priceUsdc: '0.0000001' });
  expect(asked.errors[0]?.message).toBe(refused.message);
});

test('nobody but the owner is told an effect', async () => {
  const { key } = await world();
  const { errors } = await graph.ask(key, EFFECT, { change: { priceUsdc: '1' } });
  expect(errors[0]?.extensions.code).toBe('FORBIDDEN');
});

test('of two changes decided by one version the second changes nothing and says why', async () => {
  const { ask, change } = await world();
  const { version } = await ask(LIST);
  expect(await change('setPrices', { priceUsdc: '0.02', ifVersion: version })).toMatchObject({ __typename: 'SetPricesPayload' });
  const late = await change('setFreeSlugs', { slugs: ['solo'], ifVersion: version });
  expect(late).toEqual({ __typename: 'Conflict', code: 'conflict', message: expect.stringContaining('in the meantime') });
  const policy = { allow: [], charge: [], block: ['badbot'], ifVersion: version };
  expect(await change('setCrawlerPolicy', policy)).toMatchObject({ __typename: 'Conflict' });
  expect(await ask('{ tenant { freeSlugs gate { crawlerPolicy { block } } } }')).toEqual({
    freeSlugs: ['free'],
    gate: { crawlerPolicy: { block: [] } },
  });
  const now = (await ask(LIST)).version;
  expect(await change('setFreeSlugs', { slugs: ['solo'], ifVersion: now })).toMatchObject({ __typename: 'SetFreeSlugsPayload' });
});
