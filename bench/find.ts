/** Pages by their words over a million titles, beside the plain question that a first version would ask. */
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/database.ts';
import { findPages } from '../modules/discovery/use/search/find.ts';
import type { FindDeps } from '../modules/discovery/use/search/found.ts';
import { openSnapshots } from '../modules/identity/use/tenantSnapshots.ts';
import { createTenant } from '../modules/tenants/use/tenants.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench, BenchOptions } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, median } from './harness/figure.ts';
import { benchDatabase } from './harness/parts.ts';

const SITES = 50;
const WALLET = `0x${'a1'.repeat(20)}`;
/** A twentieth of a second is what a person calls at once; two fifths of it are the search's. */
const MOST_MS = 20;

/** Questions by how often their words stand in titles: `the` in every one, `w0` in a sixth, `w40000` in a few dozen. */
const QUESTIONS = {
  rare: ['w40000', 'w41234 the', 'w30000', 'w49000'],
  usual: ['w700 w20', 'w1000', 'the w2000', 'w150 w3'],
  common: ['the', 'the w0', 'w0 w1', 'of the'],
  absent: ['the w0 nowhere', 'w0 w1 w2 w3 w4 w5 w6 w7', 'nowhere'],
} as const;

/** Figures of the search of pages. */
export const findBench: Bench = {
  id: 'find',
  title: 'Pages by their words',
  run: async (options) => {
    const urls = await benchDatabase();
    const database = await openDatabase({ url: urls.superUrl, poolSize: 4, statementTimeoutMs: 3_600_000 });
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const clock = Date.now;
    await fill(database, options.quick ? 5_000 : 1_000_000, options);
    const given = { database, directUrl: urls.superUrl, networkIds: [], priceFloorMicro: 1_000n, clock, log };
    const snapshots = await openSnapshots(given);
    try {
      const figures: Figure[] = [];
      for (const [name, questions] of Object.entries(QUESTIONS)) {
        figures.push(await measure({ database, snapshots, clock }, { name, questions, ...options }));
      }
      return figures;
    } finally {
      await snapshots.close();
      await database.close();
      await urls.drop();
    }
  },
};

/** Sites with imported pages, first in no list; listing them fills the search as it does for an owner. */
async function fill(database: Database, pages: number, { log }: BenchOptions): Promise<void> {
  const of = Math.ceil(pages / SITES);
  const startedAt = performance.now();
  for (let site = 0; site < SITES; site++) {
    const pricing = { priceUsdc: '0.003', articlePrefixes: ['/articles/'], defaultPayee: { authorId: 'ann', wallet: WALLET } };
    const { tenantId } = await createTenant({ database }, { hosts: [`s${site}.example`], plan: 'studio', pricing });
    await database.query(
      `insert into imported_page (tenant_id, slug, path, title)
       select $1, 'page-' || n, '/articles/page-' || n, 'The story of ' || (
         select string_agg('w' || floor(50000 * power(random(), 3))::int, ' ') from generate_series(1, 7) where n > 0)
         from generate_series(1, $2::int) as n`,
      [tenantId, of],
    );
    await database.query(
      `insert into discovery_listing (tenant_id, summary, tags, words) values ($1, 'Stories', '{}', to_tsvector('simple', 'stories'))`,
      [tenantId],
    );
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  log(`${(of * SITES).toLocaleString('en-US')} pages imported and listed in ${seconds.toFixed(0)} s`);
  await database.query(`create table plain_page as
    select tenant_id, slug, path, title, to_tsvector('simple', title) as words from imported_page`);
  await database.query('create index on plain_page using gin (words)');
  await database.query('vacuum analyze');
}

async function measure(
  deps: FindDeps,
  { name, questions, quick, log }: BenchOptions & { readonly name: string; readonly questions: readonly string[] },
): Promise<Figure> {
  const timed = (turns: number, ask: (query: string) => Promise<unknown>) => async (): Promise<number> => {
    const times: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      for (const query of questions) {
        const startedAt = performance.now();
        await ask(query);
        times.push(performance.now() - startedAt);
      }
    }
    return median(times);
  };
  const ours = timed(quick ? 1 : 5, (query) => findPages(deps, { query, limit: 20 }));
  const reference = timed(1, (query) =>
    deps.database.query(
      `select * from plain_page where words @@ plainto_tsquery('simple', $1)
        order by ts_rank(words, plainto_tsquery('simple', $1)) desc limit 200`,
      [query],
    ),
  );
  await ours();
  const figure = makeFigure({
    id: `find.${name}`,
    what: `pages by ${name} words over a million titles, with prices, p50`,
    unit: 'ms',
    referenceName: 'the same words over one table and its index, all matches ranked',
    rounds: await alternate({ rounds: quick ? 1 : 3, sides: { ours, reference } }),
    target: { atMost: MOST_MS, of: 'ours' },
    ...(name === 'common' ? {} : { isDetail: true as const }),
  });
  log(`${name}: ${figure.ours.toFixed(1)} ms beside ${figure.reference.toFixed(1)} ms`);
  return figure;
}
