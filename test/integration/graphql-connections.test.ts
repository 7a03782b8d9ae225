/** Connections that questions read through are shared among sites: a blocked query leaves the others theirs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Budget } from '../../graphql/limits/budget.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import { findKey } from '../../modules/identity/use/keys/keys.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { whileLocked } from '../support/sql.ts';

const READS = Array.from({ length: 6 }, (_, n) => `a${n}: audit(window: { lastDays: ${30 + n} }) { totals { denied } }`).join(
  ' ',
);
/** Reports that run side by side, all over one table. */
const BLOCKED = `{ tenant { ${READS} } }`;
let graph: Awaited<ReturnType<typeof startTestGraphql>>;
beforeAll(async () => {
  graph = await startTestGraphql({ isThreaded: true });
});
afterAll(() => graph?.stop());

/** Does some work while nobody can read the tables of those reports. */
const whileBlocked = (work: () => Promise<void>): Promise<void> =>
  whileLocked(graph.api.urls.ownerUrl, 'observation_day, observation_month', work);

/** Statements of the reading pools that wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await graph.api.deps.database.query<{ count: string }>(
    `select count(*) as count from pg_stat_activity
     where application_name = 'svc graphql' and datname = current_database() and wait_event_type = 'Lock'`,
  );
  return Number(row?.count);
}

test('a site whose query is blocked holds one of two connections, and another site is answered meanwhile', async () => {
  const [busy, other] = [await graph.api.site(), await graph.api.site()];
  await graph.ask(other.key, '{ tenant { plan } }');
  let blocked: ReturnType<typeof graph.ask> | undefined;
  await whileBlocked(async () => {
    blocked = graph.ask(busy.key, BLOCKED);
    await expect.poll(waiting).toBe(1);
    const { data } = await graph.ask(
      other.key,
      '{ tenant { plan payments(first: 1) { totalCount } earnings { totals { events } } } }',
    );
    expect(data.tenant.earnings.totals.events).toBe(0);
    expect(await waiting()).toBe(1);
  });
  const { data, errors } = await (blocked as NonNullable<typeof blocked>);
  expect([errors, Object.keys(data.tenant)]).toEqual([[], ['a0', 'a1', 'a2', 'a3', 'a4', 'a5']]);
});

test('what waits for its turn when its query is given up is not sent any more', async () => {
  const { key } = await graph.api.site();
  const state = await findKey(graph.api.deps, key);
  const deps = { ...graph.api.deps, reading: graph.reading, networkIds: [] };
  const ask = openEngine(deps, null, () => new Budget({ ms: 1_000 }));
  const visitor = { requestId: 'late', key: state, owner: null, account: null };
  await whileBlocked(async () => {
    graph.count();
    const body = new TextEncoder().encode(JSON.stringify({ query: BLOCKED }));
    const answer = await ask({ ...visitor, accept: 'application/json', body });
    expect(new TextDecoder().decode(answer.body)).toContain('takes longer than 1 seconds');
    expect(answer.cost).toBeGreaterThan(2_000);
  });
  await sleep(500);
  expect(graph.count()).toBeLessThan(6);
});
