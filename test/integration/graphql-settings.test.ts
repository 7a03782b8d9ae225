import { afterAll, beforeAll, expect, test } from 'vitest';
import { WALLETS } from '../support/api.ts';
import { startTestGraphql } from '../support/graphql.ts';

/** What an owner sets over GraphQL can be read back there, as it holds now. */

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;
let owner: string;
beforeAll(async () => {
  graph = await startTestGraphql();
  site = await graph.api.site();
  owner = await graph.owner(site.tenantId);
});
afterAll(() => graph.stop());

const SETTINGS = `{ tenant {
  gate { mode excludePrefixes includeExtensions seoAllowlist crawlerPolicy { allow charge block } }
  licenceOffering { sellsTraining periodFactors { upToDays factor } } alertEmail articlePrefixes freeSlugs priceUsdc
  defaultPayee { authorId wallet }
  networks { taken configured } receiptsPublic } }`;

async function read(bearer = owner) {
  const { data, errors } = await graph.ask(bearer, SETTINGS);
  expect(errors).toEqual([]);
  return data.tenant;
}

async function change(name: string, input: object): Promise<void> {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const query = `mutation ($input: ${title}Input!) { it: ${name}(input: $input) { __typename ... on Refusal { message } } }`;
  const { data, errors } = await graph.ask(owner, query, { input });
  expect([errors, data.it]).toEqual([[], { __typename: `${title}Payload` }]);
}

test('a site that never decided anything shows what holds for it', async () => {
  const { gate, licenceOffering, alertEmail, networks, receiptsPublic } = await read();
  expect(receiptsPublic).toBe(true);
  expect(networks).toEqual({ taken: ['eip155:84532'], configured: ['eip155:84532'] });
  expect(gate).toMatchObject({ mode: 'PREFIXES', excludePrefixes: [], includeExtensions: null });
  expect(gate.crawlerPolicy).toEqual({ allow: [], charge: [], block: [] });
  expect(gate.seoAllowlist).toContain('googlebot');
  expect([licenceOffering, alertEmail]).toEqual([{ sellsTraining: false, periodFactors: null }, null]);
});

test('everything an owner sets of gate, offering, alerts and prices is read back as it was stored', async () => {
  await change('setGateScope', { mode: 'SITE', excludePrefixes: ['/assets/'], includeExtensions: ['.HTML'] });
  await change('setCrawlerPolicy', { allow: ['Archive-Bot'], charge: ['gptbot'], block: [' badbot '] });
  await change('setSeoAllowlist', { fragments: ['GoogleBot'] });
  const periodFactors = [
    { upToDays: 1.5, factor: '0.5' },
    { upToDays: 366, factor: '4' },
  ];
  await change('setLicenceOffering', { sellsTraining: true, periodFactors });
  await change('setAlertAddress', { email: 'alerts@example.com' });
  await change('setArticlePrefixes', { prefixes: ['/news/'] });
  await change('setFreeSlugs', { slugs: ['about'] });
  const defaultPayee = { authorId: 'house', wallet: WALLETS[0] };
  await change('setPrices', { priceUsdc: '0.02', defaultPayee });
  await change('setNetworks', { networks: ['eip155:84532'] });
  await change('setReceipts', { isPublic: false });
  expect(await read()).toEqual({
    gate: {
      mode: 'SITE',
      excludePrefixes: ['/assets/'],
      includeExtensions: ['.html'],
      seoAllowlist: ['googlebot'],
      crawlerPolicy: { allow: ['archive-bot'], charge: ['gptbot'], block: ['badbot'] },
    },
    networks: { taken: ['eip155:84532'], configured: ['eip155:84532'] },
    receiptsPublic: false,
    licenceOffering: { sellsTraining: true, periodFactors },
    alertEmail: 'alerts@example.com',
    articlePrefixes: ['/news/'],
    freeSlugs: ['about'],
    priceUsdc: '0.020000',
    defaultPayee,
  });
});

test('the gate over GraphQL is the gate that enforce-config gives to a site’s enforcer', async () => {
  const response = await fetch(`${graph.api.url}/_svc/enforce-config`, { headers: { authorization: `Bearer ${site.key}` } });
  const { enforcement } = (await response.json()) as { enforcement: Record<string, unknown> };
  const { data } = await graph.ask(
    site.key,
    `{ tenant { gate { excludePrefixes includeExtensions forms seoAllowlist crawlerPolicy { allow charge block } visitorClasses { visitorClass policy usual } } } }`,
  );
  const { forms, seoAllowlist, crawlerPolicy, visitorClasses, ...scope } = data.tenant.gate;
  const policies = visitorClasses.map((rule: Record<string, string>) => [rule['visitorClass'], rule['policy']]);
  expect(Object.fromEntries(policies.map((words: string[]) => words.map((word) => word.toLowerCase())))).toEqual(
    enforcement['visitorClasses'],
  );
  expect({ gateScope: { mode: 'site', ...scope }, forms, seoAllowlist, crawlerPolicy }).toEqual({
    gateScope: enforcement['gateScope'],
    forms: enforcement['forms'],
    seoAllowlist: enforcement['seoAllowlist'],
    crawlerPolicy: enforcement['crawlerPolicy'],
  });
});

test('imported pages are listed by path, page by page, and filtered; those of another site are not among them', async () => {
  const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] as string }] };
  const numbers = Array.from({ length: 25 }, (_, n) => String(n).padStart(2, '0'));
  const pages = numbers.map((n) => ({
    slug: `s${n}`,
    path: `/news/${Number(n) % 2 === 0 ? 'even' : 'odd'}/${n}`,
    title: `No. ${n}`,
  }));
  await change('importPages', { pages: [...pages, { slug: 'paid', path: '/z', credits }] });
  const other = await graph.api.site();
  const seen: { slug: string; path: string; credits: string | null }[] = [];
  let after: string | null = null;
  do {
    const { data, errors } = await graph.ask(
      site.key,
      `query ($after: String) { tenant { pages(first: 7, after: $after) { totalCount nodes { slug path title credits importedAt }
        pageInfo { hasNextPage endCursor } } } }`,
      { after },
    );
    expect([errors, data.tenant.pages.totalCount]).toEqual([[], 26]);
    seen.push(...data.tenant.pages.nodes);
    after = data.tenant.pages.pageInfo.hasNextPage ? data.tenant.pages.pageInfo.endCursor : null;
  } while (after !== null);
  expect(seen.map(({ path }) => path)).toEqual([...pages.map(({ path }) => path), '/z'].toSorted());
  expect(JSON.parse(seen.at(-1)?.credits ?? 'null')).toEqual(credits);
  const filtered = await graph.ask(
    site.key,
    '{ tenant { pages(filter: { under: "/news/odd/" }) { totalCount } one: pages(filter: { slug: "paid" }) { nodes { path } } } }',
  );
  expect(filtered.data.tenant).toEqual({ pages: { totalCount: 12 }, one: { nodes: [{ path: '/z' }] } });
  const theirs = await graph.ask(other.key, '{ tenant { pages { totalCount nodes { slug } } } }');
  expect(theirs.data.tenant.pages).toEqual({ totalCount: 0, nodes: [] });
});
