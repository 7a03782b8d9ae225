import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/database.ts';
import { reconcileLegs } from '../../modules/reconciliation/use/report.ts';
import { startTestApi } from '../support/api.ts';
import { insertPurchases } from '../support/reports.ts';

const PAYMENTS = 600;
const WEIGHTS = [5, 3, 2];
const LEGS = PAYMENTS * WEIGHTS.length;
/** Rows a step of the plan may handle for each leg; comparing each with each would be hundreds. */
const ROWS_A_LEG = 40;

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

interface Step {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Step[];
}

/** The most rows that any step of a plan handled. */
function busiest(step: Step): number {
  const rows = (step['Actual Rows'] + (step['Rows Removed by Join Filter'] ?? 0)) * step['Actual Loops'];
  return Math.max(rows, ...(step.Plans ?? []).map(busiest));
}

const address = (n: number): string => `0x${n.toString(16).padStart(40, 'a')}`;

/** Payments through splits of three authors, fifty a transaction, with their evidence. */
async function sellThroughSplits(tenantId: string, host: string): Promise<void> {
  const legs = (n: number) =>
    WEIGHTS.map((weight, place) => ({
      toAddress: address((n % 20) * 3 + place),
      amountMicro: 100 * weight,
      authorId: `${place}`,
    }));
  const sale = { tenantId, host, slug: 'trio', kind: 'read' as const, steps: 1 };
  await insertPurchases(
    api.deps.database,
    Array.from({ length: PAYMENTS }, (_, n) => ({ ...sale, atMs: Date.now() - n, payer: address(90_000 + n), legs: legs(n) })),
  );
  const owner = await openDatabase({ url: api.urls.ownerUrl });
  const transfers = `insert into chain_transfer (network, tx_hash, log_position, log_index, block_number, block_hash, block_time, token,
    from_address, to_address, amount_micro, nonce) select network, tx_hash, row_number() over () + $1::int, 1, 1, '', now(), asset`;
  await owner.query(
    `update test.payment set pay_to = 'split' || (legs -> 0 ->> 'toAddress'), leg_words = '{x}',
       tx_hash = 'batch' || abs(hashtext(payment_id::text)) % ($1::int / 50)`,
    [PAYMENTS],
  );
  await owner.query(
    `insert into split_leg select distinct on (network, pay_to, n) network, pay_to, n - 1, leg ->> 'toAddress', ($1::int[])[n], 10
     from payment, jsonb_array_elements(legs) with ordinality as list (leg, n)`,
    [WEIGHTS],
  );
  await owner.query(`${transfers}, payer, pay_to, amount_micro, nonce from payment`, [0]);
  await owner.query(
    `${transfers}, pay_to, leg ->> 'toAddress', (leg ->> 'amountMicro')::bigint, null
     from payment, jsonb_array_elements(legs) as leg`,
    [PAYMENTS],
  );
  await owner.close();
}

test('what a report of many payments costs grows with their legs, even before Postgres has counted any', async () => {
  const site = await api.site();
  await sellThroughSplits(site.tenantId, site.host);
  const { database } = api.deps;
  const asked: [string, readonly unknown[]][] = [];
  const all = { from: null, to: null };
  const report = await reconcileLegs(
    {
      query: (statement, values = []) => {
        asked.push([statement, values]);
        return database.query(statement, values);
      },
    },
    site.tenantId,
    all,
  );
  expect(report).toMatchObject({
    settled: { legs: LEGS, micro: 1_000n * BigInt(PAYMENTS) },
    outstanding: { legs: 0 },
    exceptions: [],
  });
  for (const [statement, values] of asked) {
    const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: Step }] }>(`explain (analyze, format json) ${statement}`, values);
    expect(row === undefined ? 0 : busiest(row['QUERY PLAN'][0].Plan)).toBeLessThan(LEGS * ROWS_A_LEG);
  }
});
