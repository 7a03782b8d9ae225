/** What reading costs once months are closed: the same questions of the same rows, in the tables of today and in closed months. */
import { join } from 'node:path';
import pg from 'pg';
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/database.ts';
import { CROSSINGS, LEGS } from '../db/lists/crossings.ts';
import { PAYMENTS } from '../db/lists/payments.ts';
import { listByKeys, listFrom } from '../db/lists/source.ts';
import { migrate } from '../db/migrate.ts';
import { judgeLegs } from '../db/reconciliation/legReport.ts';
import { streamLegs } from '../db/reports/earnings/exportLegs.ts';
import { listStatementLines } from '../db/reports/earnings/statements.ts';
import { openReportDatabase } from '../db/reports/reading.ts';
import { openReadSnapshot } from '../db/reports/snapshot.ts';
import type { Month } from '../domain/reports/months.ts';
import { CLOSES_AFTER_DAYS, mayClose, monthOf } from '../domain/reports/months.ts';
import type { Span } from '../domain/reports/window.ts';
import { removeCluster } from '../sandbox/parts/postgres/cluster.ts';
import { startPostgres } from '../sandbox/parts/postgres/postgres.ts';
import { closeMonth } from '../services/operations/months.ts';
import { alternate } from './harness/alternate.ts';
import type { Bench } from './harness/bench.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, median } from './harness/figure.ts';
import { benchFolder } from './harness/parts.ts';
import { BUSY, DAYS, loadRecords } from './records/load.ts';

const DAY_MS = 86_400_000;
const ROWS = 1_000_000;

/** Figures of closed months; the busy site has a fifth of the rows. */
export const monthsBench: Bench = {
  id: 'months',
  title: 'Closed months',
  run: async ({ quick, rows: asked, log }) => {
    const rows = asked ?? (quick ? 20_000 : ROWS);
    const folder = join(benchFolder(), 'months');
    const postgres = await startPostgres({
      folder,
      settings: ['shared_buffers=512MB', 'max_wal_size=8GB', 'maintenance_work_mem=512MB'],
    });
    const open: Database[] = [];
    try {
      await migrate(postgres.ownerUrl);
      // All of it ended so long ago that it may close.
      const nowMs = Date.now() - (CLOSES_AFTER_DAYS + 35) * DAY_MS;
      await loadRecords({ rows, nowMs, superUrl: postgres.superUrl, log });
      await asSuperuser(postgres.superUrl, 'create database closed template svc owner svc_owner');
      const closed = postgres.urlsOf('closed');
      const owner = await openDatabase({ url: closed.ownerUrl, poolSize: 1, statementTimeoutMs: 3_600_000 });
      open.push(owner);
      const figures = [await closeAll(owner, nowMs, log)];
      for (const url of [closed.superUrl, postgres.superUrl]) await asSuperuser(url, 'vacuum analyze');
      const [ours, whole] = [
        await openReportDatabase({ url: closed.appUrl }),
        await openReportDatabase({ url: postgres.appUrl }),
      ];
      open.push(ours, whole);
      for (const question of await questionsOf(whole, nowMs)) figures.push(await measure(question, { ours, whole }, quick));
      return figures;
    } finally {
      for (const database of open) await database.close();
      await postgres.stop();
      removeCluster(folder);
    }
  },
};

async function asSuperuser(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Closes every month of the rows; payments a second. */
async function closeAll(owner: Database, nowMs: number, log: (line: string) => void): Promise<Figure> {
  const names = Array.from({ length: DAYS + 1 }, (_, day) => new Date(nowMs - (DAYS - day) * DAY_MS).toISOString().slice(0, 7));
  const months = [...new Set(names)].map((name) => monthOf(name) as Month).filter((month) => mayClose(month, Date.now()));
  const startedAt = performance.now();
  let payments = 0;
  for (const month of months) payments += (await closeMonth(owner, month)).payments;
  const rate = payments / ((performance.now() - startedAt) / 1_000);
  log(`${payments} payments in ${months.length} months, ${rate.toFixed(0)} a second`);
  const rounds = { ours: rate, reference: 1_000, ratios: [rate / 1_000] };
  const what = 'payments moved into closed months, with their crossings and legs';
  return makeFigure({
    id: 'months.close',
    what,
    unit: 'payments/s',
    rounds,
    referenceName: 'what is wanted',
    isDetail: true,
    target: { atLeast: 1_000, of: 'ours' },
  });
}

interface Question {
  readonly id: string;
  readonly what: string;
  readonly ask: (database: Database) => Promise<unknown>;
}

async function questionsOf(database: Database, nowMs: number): Promise<readonly Question[]> {
  const at = (days: number): number => nowMs - days * DAY_MS;
  const [month, year]: readonly [Span, Span] = [
    { fromMs: at(60), toMs: at(30) },
    { fromMs: at(370), toMs: at(5) },
  ];
  const [payment] = await database.query<{ payment_id: string }>(
    'select payment_id from payment_intake where tenant_id = $1 and accepted_at < $2 order by accepted_at desc limit 1',
    [BUSY, new Date(at(200))],
  );
  const wallets = await database.query<{ to_address: string }>(
    'select distinct to_address from leg where tenant_id = $1 order by 1 limit 20',
    [BUSY],
  );
  const by = { wallets: wallets.map((row) => row.to_address), limit: 50 };
  const page = (window: Span) => ({ tenantId: BUSY, filter: { window } });
  const newest = <T extends { readonly orderings: Readonly<Record<string, unknown>> }>({ orderings }: T) => ({
    ordering: Object.values(orderings)[0] as never,
    after: null,
    limit: 50,
  });
  return [
    {
      id: 'payment',
      what: 'one payment by its id',
      ask: (sql) => listByKeys(sql, PAYMENTS, BUSY, keyed(payment?.payment_id ?? '')),
    },
    {
      id: 'payments',
      what: 'the newest 50 payments of a month',
      ask: (sql) => listFrom(sql, PAYMENTS, page(month), newest(PAYMENTS)),
    },
    {
      id: 'crossings',
      what: 'the newest 50 crossings of a year',
      ask: (sql) => listFrom(sql, CROSSINGS, page(year), newest(CROSSINGS)),
    },
    { id: 'legs', what: 'the newest 50 legs of a year', ask: (sql) => listFrom(sql, LEGS, page(year), newest(LEGS)) },
    { id: 'lines-30', what: '50 lines for each of 20 authors, 30 days', ask: (sql) => listStatementLines(sql, BUSY, month, by) },
    { id: 'lines-365', what: '50 lines for each of 20 authors, 365 days', ask: (sql) => listStatementLines(sql, BUSY, year, by) },
    {
      id: 'reconciliation',
      what: 'reconciliation of 30 days',
      ask: (sql) => judgeLegs(sql, BUSY, { from: new Date(month.fromMs), to: new Date(month.toMs ?? nowMs) }),
    },
    { id: 'export', what: 'export of 50,000 legs of a year', ask: (sql) => exportAll(sql, year) },
  ];
}

const keyed = (paymentId: string) => ({ key: 'id', values: [paymentId], each: 1 });

async function exportAll(database: Database, window: Span): Promise<void> {
  const snapshot = await openReadSnapshot(database);
  try {
    for await (const _ of streamLegs(snapshot, BUSY, window, { most: 50_000, limitMs: 600_000 }));
  } finally {
    await snapshot.close();
  }
}

async function measure(
  { id, what, ask }: Question,
  { ours, whole }: { readonly ours: Database; readonly whole: Database },
  quick: boolean,
): Promise<Figure> {
  const side = (database: Database) => async (): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n < (quick ? 2 : 11); n += 1) {
      const startedAt = performance.now();
      await ask(database);
      times.push(performance.now() - startedAt);
    }
    return median(times);
  };
  const rounds = await alternate({ rounds: quick ? 1 : 3, sides: { ours: side(ours), reference: side(whole) } });
  return makeFigure({
    id: `months.${id}`,
    what: `${what}, in closed months, p50`,
    unit: 'ms',
    rounds,
    referenceName: 'the same before they were closed',
    target: null,
    isDetail: true,
  });
}
