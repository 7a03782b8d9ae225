import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../../api/app.ts';
import type { Database } from '../../db/database.ts';
import { openReportDatabase } from '../../modules/reports/store/pools.ts';
import { readAudit } from '../../modules/reports/use/audit.ts';
import { readEarnings } from '../../modules/reports/use/earnings.ts';
import { startTestApi } from '../support/api.ts';
import { insertPurchases } from '../support/reports.ts';
import { whileLocked } from '../support/sql.ts';

const HOUR = 3_600_000;
const ANN = `0x${'a1'.repeat(20)}`;

let api: Awaited<ReturnType<typeof startTestApi>>;
let site: Awaited<ReturnType<typeof api.site>>;
let reading: Database;
beforeAll(async () => {
  api = await startTestApi();
  site = await api.site();
  reading = await openReportDatabase({ url: api.urls.appUrl, poolSize: 2 });
});
afterAll(async () => {
  await reading.close();
  await api.stop();
});

/** Sells at each of these moments, for one micro more each time. */
async function sellAt(moments: readonly number[]): Promise<void> {
  const legs = (amountMicro: number) => [{ toAddress: ANN, amountMicro }];
  const { tenantId, host } = site;
  await insertPurchases(
    api.deps.database,
    moments.map((atMs, n) => ({ tenantId, host, slug: 'a', kind: 'read', atMs, steps: 1, legs: legs(n + 1) })),
  );
}

/** The database, with what is asked of it: whole transactions, and statements outside of one. */
function watched(): { readonly database: Database; readonly asked: string[] } {
  const asked: string[] = [];
  const database: Database = {
    ...reading,
    query: (...given) => {
      asked.push('statement');
      return reading.query(...given);
    },
    transaction: (...given) => {
      asked.push('transaction');
      return reading.transaction(...given);
    },
  };
  return { database, asked };
}

test('earnings are one statement as a rule, and where they need another one all of them are read again from one snapshot', async () => {
  const now = Date.now();
  const tied = now - HOUR;
  await sellAt([tied, tied, tied, now - 2 * HOUR, now - 3 * HOUR]);
  const query = { fromMs: now - 5 * HOUR, toMs: now, compare: false, cursorMs: null, host: null, kind: null, groupBy: null };
  const ask = async (changes: object) => {
    const { database, asked } = watched();
    const found = await readEarnings(
      { database, clock: () => now },
      { tenantId: site.tenantId, hosts: [site.host], plan: 'studio' },
      { ...query, limit: 50, ...changes },
    );
    return { asked, found };
  };
  const whole = await ask({});
  expect(whole.asked).toEqual(['statement']);
  expect(whole.found.totals).toMatchObject({ events: 5, grossMicro: 15n, authors: 1 });

  // Three of one millisecond fill a page of two, so that it must be asked whether there are older ones.
  const page = await ask({ limit: 2 });
  expect(page.asked).toEqual(['statement', 'transaction']);
  expect(page.found.recent).toMatchObject({ nextCursorMs: tied, rows: [{ atMs: tied }, { atMs: tied }, { atMs: tied }] });
  expect(page.found.totals).toEqual(whole.found.totals);
  for (const changes of [{ groupBy: 'author' }, { groupBy: 'slug' }, { groupBy: 'host' }]) {
    expect((await ask(changes)).asked, JSON.stringify(changes)).toEqual(['statement']);
  }
  for (const changes of [{ compare: true }, { cursorMs: tied }]) {
    expect((await ask(changes)).asked, JSON.stringify(changes)).toEqual(['transaction']);
  }
});

test('an audit is one statement, without a transaction around it, unless it asks for more', async () => {
  const ask = async (changes: object) => {
    const { database, asked } = watched();
    const nothing = { groupBy: null, verdict: null, agent: null, host: null, kind: null, cursorMs: null };
    const query = { fromMs: Date.now() - 5 * HOUR, toMs: null, compare: false, limit: 50, ...nothing, ...changes };
    await readAudit({ database, clock: Date.now }, { tenantId: site.tenantId, hosts: [site.host], plan: 'studio' }, query);
    return asked;
  };
  for (const changes of [{}, { groupBy: 'verdict' }]) expect(await ask(changes)).toEqual(['statement']);
  for (const changes of [{ compare: true }, { groupBy: 'slug' }, { agent: 'gptbot' }])
    expect(await ask(changes)).toEqual(['transaction']);
});

test('a report that Postgres gives up for taking too long is a 503 that says when to ask again, not a fault of ours', async () => {
  const hasty = await openReportDatabase({ url: api.urls.appUrl, poolSize: 2, statementTimeoutMs: 300 });
  const server = createServer(createApi({ ...api.deps, reports: { database: hasty, clock: Date.now } }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await whileLocked(api.urls.superUrl, 'crossing_month, observation_month', async () => {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/_svc`;
      for (const path of ['/earnings', '/earnings/statements', '/earnings/export.pdf', '/audit?from=1']) {
        const answer = await fetch(base + path, { headers: { authorization: `Bearer ${site.key}` } });
        expect([path, answer.status, answer.headers.get('x-svc-error-code')]).toEqual([path, 503, 'overloaded']);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(await answer.json()).toEqual({
          error: 'overloaded: this took too long; try again later, or ask for a shorter window',
          next: { action: 'wait', seconds: 5 },
        });
      }
      expect(api.problems).toEqual([]);
    });
  } finally {
    server.closeAllConnections();
    server.close();
    await hasty.close();
  }
});
