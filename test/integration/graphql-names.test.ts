import { afterAll, beforeAll, expect, test } from 'vitest';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { WALLETS } from '../support/api.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { sellLicence } from '../support/owner-world.ts';
import { insertPurchases, insertSeen, seenOn } from '../support/reports.ts';

/** Titles and URLs beside slugs: where they come from, that they are the site's own, and that nothing is guessed. */

const HOST = 'names.example';
const HOSTILE = '<script>alert(1)</script> ‮שלום';
let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let site: Awaited<ReturnType<typeof graph.api.site>>;

beforeAll(async () => {
  graph = await startTestGraphql();
  const { database } = graph.api.deps;
  site = await graph.api.site({ hosts: [HOST] });
  const { tenantId } = site;
  const call = { tenantId, actor: { userId: 'ada', via: 'token' } } as const;
  const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] };
  await changePricing({ database }, call, 'credits.set', { creditsInline: { inline: { title: HOSTILE, ...credits } } });
  const pages = [
    { slug: 'inline', path: '/elsewhere/in line', title: 'Another title', credits },
    { slug: 'imported', path: '/deep/imported', title: 'Imported', credits },
  ];
  await importPages({ database }, { tenantId, pages });
  const buy = (slug: string, isLicence = false) => ({
    ...({ tenantId, host: HOST, slug, kind: 'read', atMs: Date.now() - 60_000, steps: 1, isLicence } as const),
    legs: [{ toAddress: WALLETS[0] as string, amountMicro: 1_000, authorId: 'ann' }],
  });
  await insertPurchases(database, [buy('inline'), buy('imported'), buy('unknown'), buy('', true)]);
  const seen = (slug: string) => seenOn({ tenantId, host: HOST }, { slug, micro: 5, atMs: Date.now() - 60_000 });
  await insertSeen(database, ['inline', 'imported', 'unknown', ''].map(seen));
});
afterAll(() => graph.stop());

interface Named {
  readonly slug?: string;
  readonly key?: string;
  readonly title: string | null;
  readonly url: string | null;
}

async function namesOf(field: string, key = site.key): Promise<Record<string, [string | null, string | null]>> {
  const { data, errors } = await graph.ask(key, `{ tenant { ${field} } }`);
  expect(errors).toEqual([]);
  const nodes: Named[] = [...JSON.stringify(data).matchAll(/\{[^{}]*"title"[^{}]*\}/g)].map(([text]) => JSON.parse(text));
  return Object.fromEntries(nodes.map(({ slug, key: of, title, url }) => [slug ?? of ?? '', [title, url]]));
}

test('what was bought has the title of credits, else of the catalogue, else none, and the URL that the payment bought', async () => {
  for (const list of ['crossings', 'legs', 'payments']) {
    const names = await namesOf(`${list} { nodes { slug title url } }`);
    const [licence] = Object.keys(names).filter((slug) => slug.startsWith('licence:'));
    expect(names).toEqual({
      inline: [HOSTILE, 'https://x'],
      imported: ['Imported', 'https://x'],
      unknown: [null, 'https://x'],
      [licence as string]: [null, null],
    });
  }
  const lines = await namesOf('statements { statements { nodes { lines { nodes { slug title url } } } } }');
  expect(lines['imported']).toEqual(['Imported', 'https://x']);
  expect((await namesOf('reconciliation { exceptions { nodes { slug title url } } }'))['inline']?.[0]).toBe(HOSTILE);
});

test('groups by page and observations have the URL of the catalogue, or where a quote by slug finds the page', async () => {
  const known = {
    inline: [HOSTILE, `https://${HOST}/elsewhere/in%20line`],
    imported: ['Imported', `https://${HOST}/deep/imported`],
    unknown: [null, `https://${HOST}/articles/unknown`],
  };
  expect(await namesOf('earnings(groupBy: SLUG) { breakdown { nodes { key title url } } }')).toEqual(known);
  const none = { '': [null, null] };
  expect(await namesOf('audit(groupBy: SLUG) { breakdown { nodes { key title url } } }')).toEqual({ ...known, ...none });
  expect(await namesOf('observations { nodes { slug title url } }')).toEqual({ ...known, ...none });
  expect(await namesOf('earnings(groupBy: KIND) { breakdown { nodes { key title url } } }')).toEqual({ read: [null, null] });
  const [first] = Object.values(await namesOf('pages { nodes { slug title url } }'));
  expect(first?.[1]).toBe(`https://${HOST}/deep/imported`);
});

test('a page of another site has no title here, whatever its slug', async () => {
  const other = await graph.api.site({ hosts: ['other.names.example'] });
  const { database } = graph.api.deps;
  const legs = [{ toAddress: WALLETS[0] as string, amountMicro: 1_000 }];
  const purchase = { tenantId: other.tenantId, host: 'other.names.example', slug: 'imported', atMs: Date.now() - 60_000 };
  await insertPurchases(database, [{ ...purchase, kind: 'read', steps: 1, legs }]);
  expect(await namesOf('crossings { nodes { slug title url } }', other.key)).toEqual({ imported: [null, 'https://x'] });
});

test('a licence lists the pages it grants with their titles, page by page', async () => {
  const { database } = graph.api.deps;
  const jti = await sellLicence(database, site.tenantId, HOST);
  await database.query(
    `insert into licence_page (tenant_id, jti, path, slug, micro) values ($1, $2, '/deep/imported', 'imported', 700), ($1, $2, '/z', 'z', 300)`,
    [site.tenantId, jti],
  );
  const pages: unknown[] = [];
  for (let after: string | null = null, isMore = true; isMore; ) {
    const { data, errors } = await graph.ask(
      site.key,
      `query ($after: String) { tenant { licencesSold { nodes { jti pages pagesGranted(first: 1, after: $after) {
         totalCount nodes { slug path micro title url } pageInfo { hasNextPage endCursor } } } } } }`,
      { after },
    );
    expect(errors).toEqual([]);
    const [licence] = data.tenant.licencesSold.nodes;
    expect([licence.pages, licence.pagesGranted.totalCount]).toEqual([2, 2]);
    pages.push(...licence.pagesGranted.nodes);
    ({ hasNextPage: isMore, endCursor: after } = licence.pagesGranted.pageInfo);
  }
  expect(pages).toEqual([
    { slug: 'imported', path: '/deep/imported', micro: '700', title: 'Imported', url: `https://${HOST}/deep/imported` },
    { slug: 'z', path: '/z', micro: '300', title: null, url: `https://${HOST}/z` },
  ]);
});

test('authors who wait for money have their ids, as their newest legs name them', async () => {
  const { data, errors } = await graph.ask(
    site.key,
    '{ tenant { reconciliation { waiting { nodes { wallet authorId } } exceptions { nodes { authorId } } } } }',
  );
  expect(errors).toEqual([]);
  expect(data.tenant.reconciliation.waiting.nodes.map(({ authorId }: { authorId: string }) => authorId)).toContain('ann');
  expect(new Set(data.tenant.reconciliation.exceptions.nodes.map(({ authorId }: { authorId: string }) => authorId))).toContain(
    'ann',
  );
});
