import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReadSnapshot } from '../../modules/reports/store/snapshot.ts';
import { openReadSnapshot } from '../../modules/reports/store/snapshot.ts';
import { newestLegs } from '../../modules/reports/use/exportCsv.ts';
import { readStatement } from '../../modules/reports/use/statement/read.ts';
import { startTestApi } from '../support/api.ts';
import type { Purchase } from '../support/reports.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

const SALES = 120;
const AUTHORS_EACH = 50;
const LEGS = SALES * AUTHORS_EACH;
const WINDOW = { fromMs: 0, toMs: null };

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

/** A site whose sales paid fifty authors each: always the same, or each its own. */
async function siteOf(authors: 'few' | 'many') {
  const { tenantId, host } = await api.site();
  const purchases = Array.from({ length: SALES }, (_, sale): Purchase => {
    const legs = Array.from({ length: AUTHORS_EACH }, (_each, n) => {
      const number = (authors === 'many' ? sale * AUTHORS_EACH : 0) + n + 1;
      return { toAddress: `0x${number.toString(16).padStart(40, '0')}`, amountMicro: number, authorId: `writer-${number}` };
    });
    return { tenantId, host, slug: `page-${sale % 9}`, kind: 'read', atMs: Date.now() - 1_000, steps: 1, legs };
  });
  await insertPurchases(api.deps.database, purchases);
  return { tenantId, hosts: [host], plan: null };
}

interface PlanNode {
  readonly Plans?: readonly PlanNode[];
  readonly 'Actual Loops': number;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
}

/** Rows that a plan looked at, those it threw away among them. */
function rowsOf({ Plans = [], ...node }: PlanNode): number {
  const each = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return Plans.reduce((sum, plan) => sum + rowsOf(plan), each * node['Actual Loops']);
}

/** A copy without a row. */
async function* toEnd(work: Promise<void>): AsyncGenerator<Buffer> {
  yield* await work.then(() => []);
}

/** How many rows each statement of a site's PDF looks at. */
async function rowsOfStatement(site: Awaited<ReturnType<typeof siteOf>>): Promise<Map<string, number>> {
  const snapshot = await openReadSnapshot(api.deps.database);
  const looked = new Map<string, number>();
  const look = async (statement: string, values: readonly unknown[] = []): Promise<void> => {
    const [row] = await snapshot.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) ${statement}`,
      values,
    );
    looked.set(statement, rowsOf((row as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan));
  };
  const watched: ReadSnapshot = {
    query: async (statement, values) => {
      await look(statement, values);
      return await snapshot.query(statement, values);
    },
    copy: (select) => toEnd(look(select)),
    close: snapshot.close,
  };
  try {
    const frame = { generatedAtMs: Date.now(), window: { ...WINDOW, clampedToMs: null } };
    await readStatement(watched, { site, authorId: null, frame, timeZone: 'UTC' });
    for await (const _ of newestLegs(watched, site.tenantId, WINDOW)) break;
  } finally {
    await snapshot.close();
  }
  return looked;
}

test('a statement looks at each leg a few times, also of a site whose rows Postgres has not counted yet', async () => {
  const mostOf = async (authors: 'few' | 'many'): Promise<number> =>
    Math.max(...(await rowsOfStatement(await siteOf(authors))).values());
  expect(await mostOf('few')).toBeLessThan(20 * LEGS);
  await query(api.urls.ownerUrl, 'analyze');
  expect(await mostOf('many')).toBeLessThan(20 * LEGS);
});
