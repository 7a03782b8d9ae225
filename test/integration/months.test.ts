/** Months of money that are closed: what anybody reads stays the same, and nothing of it can be written. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { Month } from '../../modules/kernel/time/months.ts';
import { monthOf } from '../../modules/kernel/time/months.ts';
import { moveSlice, openClosedMonth } from '../../modules/operations/store/months/closing.ts';
import { attachMonth, checkMonth, closeMonth, detachMonth, reportMonths } from '../../modules/operations/use/months.ts';
import { findMismatches, rebuildRollups } from '../../modules/reports/store/rollupCheck.ts';
import { returnPayments } from '../../modules/settlement/store/returning.ts';
import { recordTransfers } from '../../modules/settlement/store/transfers.ts';
import { startTestGraphql } from '../support/graphql.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

const DAY_MS = 86_400_000;
const WALLETS = ['a1', 'b2', 'c3'].map((pair) => `0x${pair.repeat(20)}`) as [string, string, string];
const month = (name: string): Month => monthOf(name) as Month;
/** Two years ago: the plans scale and enterprise read it. */
const READ = month(new Date(Date.now() - 730 * DAY_MS).toISOString().slice(0, 7));
/** No plan reads it. */
const UNREAD = month('2012-03');

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
let owner: Database;
let site: Awaited<ReturnType<typeof graph.api.site>>;
beforeAll(async () => {
  graph = await startTestGraphql();
  owner = await openDatabase({ url: graph.api.urls.ownerUrl });
  site = await graph.api.site({ plan: 'enterprise', hosts: ['old.months.example'] });
});
afterAll(async () => {
  await owner.close();
  await graph.stop();
});

/** Purchases of a month, final as years leave them; some of them taken back, each with a transfer of its transaction. */
async function fill({ fromMs, toMs }: Month, tenantId = site.tenantId, count = 40): Promise<string[]> {
  const purchases = Array.from({ length: count }, (_, n) => ({
    tenantId,
    host: 'old.months.example',
    slug: ['solo', 'trio'][n % 2] as string,
    steps: 1 + (n % 7 === 0 ? 1 : 0),
    kind: n % 5 === 0 ? ('citation' as const) : ('read' as const),
    atMs: fromMs + Math.floor(((toMs - fromMs) * n) / count),
    legs: [
      { toAddress: WALLETS[n % 2] as string, amountMicro: 1_000 + n, authorId: 'ann' },
      ...(n % 3 === 0 ? [{ toAddress: WALLETS[2], amountMicro: 10 + n }] : []),
    ],
  }));
  const ids = await insertPurchases(graph.api.deps.database, purchases);
  await owner.query('update payment_intake set accepted_at = at where payment_id = any($1)', [ids]);
  await owner.query(
    `update payment_state as s set accepted_at = i.at, state = 'final', final_at = i.at, settled_at = i.at, decided_at = i.at, watched = false
       from payment_intake as i where i.payment_id = s.payment_id and s.payment_id = any($1)`,
    [ids],
  );
  await owner.query(
    `insert into chain_transfer (network, tx_hash, log_position, log_index, block_number, block_hash, block_time, token, from_address, to_address,
       amount_micro, nonce)
     select network, nonce, 0, 0, extract(epoch from at)::bigint, '\\x0b', at, asset, payer, pay_to, amount_micro, nonce
       from payment_intake where payment_id = any($1)`,
    [ids],
  );
  return ids;
}

/** Everything a site reads of a month. */
async function answers({ fromMs, toMs }: Month, paymentId: string): Promise<unknown[]> {
  const window = `from=${fromMs}&to=${toMs}`;
  const paths = [
    ...['host', 'slug', 'author', 'kind'].map((by) => `/_svc/earnings?${window}&groupBy=${by}`),
    `/_svc/earnings?from=${fromMs + 3_600_001}&to=${toMs - 7_200_001}&groupBy=author`,
    `/_svc/earnings/reconciliation?${window}`,
    `/_svc/earnings/export.csv?${window}`,
    `/_svc/earnings/statements?${window}`,
  ];
  const rest = await Promise.all(paths.map((path) => graph.api.request(path, { key: site.key })));
  for (const [n, { status }] of rest.entries()) expect(status, paths[n]).toBe(200);
  const asked = await graph.ask(
    site.key,
    `query ($window: WindowInput, $id: ID!) { tenant {
      crossings(first: 50, filter: { window: $window }) { totalCount nodes { crossingId slug micro at legs { toAddress micro } } }
      payments(first: 50, filter: { window: $window }) { totalCount nodes { paymentId state micro acceptedAt evidence { txHash } } }
      legs(first: 50, filter: { window: $window }, orderBy: LARGEST) { totalCount nodes { id micro toAddress } }
      payment(paymentId: $id) { paymentId state micro crossings { crossingId micro } }
      reconciliation(window: $window) { recorded { events } settled { legs } exceptions(first: 5) { nodes { reason } } }
      settlementTimes(window: $window) { __typename }
    } }`,
    { window: { from: fromMs, to: toMs }, id: paymentId },
  );
  expect(asked.errors).toEqual([]);
  const rows = rest.map(({ body }) =>
    typeof body === 'string' ? body.split('\n') : JSON.parse(JSON.stringify(body, withoutNow)),
  );
  return [...rows, JSON.parse(JSON.stringify(asked.data, withoutNow))];
}

/** When an answer was made is no part of it. */
const withoutNow = (key: string, value: unknown): unknown => (key === 'generatedAt' || key === 'ageMs' ? undefined : value);

const inHot = async (ids: readonly string[]): Promise<number> =>
  Number(
    (await query(graph.api.urls.ownerUrl, 'select count(*) from payment_intake where payment_id = any($1)', [ids]))[0]?.['count'],
  );

test('a site reads the same before, while and after a month is closed, and when a payment of it has come back', async () => {
  const ids = await fill(READ);
  const [one = ''] = ids;
  const before = await answers(READ, one);
  expect(JSON.stringify(before)).toContain(one);

  await openClosedMonth(owner, READ);
  const first = await moveSlice(owner, READ, { tenantId: site.tenantId, after: null, limit: 15 });
  expect(first).toMatchObject({ moved: 15, kept: 0 });
  expect(await inHot(ids)).toBe(25);
  expect(await answers(READ, one)).toEqual(before);

  expect(await closeMonth(owner, READ, 7)).toEqual({ month: READ.name, payments: 25, transfers: 40, kept: 0 });
  expect(await inHot(ids)).toBe(0);
  expect(await answers(READ, one)).toEqual(before);
  expect(await checkMonth(owner, READ)).toMatchObject({ isRight: true, held: { payments: 40, transfers: 40 } });
  expect(await closeMonth(owner, READ)).toEqual({ month: READ.name, payments: 0, transfers: 0, kept: 0 });

  expect(await returnPayments(graph.api.deps.database, [{ tenantId: site.tenantId, paymentId: one }])).toBe(1);
  expect(await returnPayments(graph.api.deps.database, [{ tenantId: site.tenantId, paymentId: one }])).toBe(0);
  expect(await inHot(ids)).toBe(1);
  expect(await answers(READ, one)).toEqual(before);
  expect(await checkMonth(owner, READ)).toMatchObject({ isRight: true, held: { payments: 39 } });
  expect(await findMismatches(owner, site.tenantId, READ)).toEqual([]);
});

describe('what stays where it is written', () => {
  const stays: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
    ['is watched', (id) => owner.query('update payment_state set watched = true where payment_id = $1', [id])],
    [
      'is settled and not final',
      (id) => owner.query("update payment_state set state = 'settled', final_at = null where payment_id = $1", [id]),
    ],
    [
      'was corrected in another month',
      (id) => owner.query("update crossing set at = at + interval '40 days' where payment_id = $1", [id]),
    ],
    [
      'is in a list that was not announced',
      (id) =>
        owner.query(
          `insert into unannounced_crossing (tenant_id, crossing_id, host, crossing_ids)
             select tenant_id, max(crossing_id::text)::uuid, min(host), array_agg(crossing_id) from crossing where tenant_id in (
               select tenant_id from crossing where payment_id = $1) group by tenant_id`,
          [id],
        ),
    ],
    [
      'was not announced',
      (id) =>
        owner.query(
          'insert into unannounced_crossing (tenant_id, crossing_id, host, crossing_ids) select tenant_id, crossing_id, host, array[crossing_id] from crossing where payment_id = $1',
          [id],
        ),
    ],
    [
      'counts against a budget that may still change',
      async (id) => {
        const account = randomUUID();
        await owner.query('insert into buyer_account (account_id) values ($1)', [account]);
        await owner.query(
          `insert into account_spending (tenant_id, payment_id, account_id, host, resource_key, kind, purpose, amount_micro)
             select tenant_id, payment_id, $2, host, resource_key, kind, purpose, amount_micro from payment_intake where payment_id = $1`,
          [id, account],
        );
      },
    ],
  ];
  test.each(stays)('a payment that %s', async (_, change) => {
    const { tenantId } = await graph.api.site({ hosts: [`${randomUUID()}.example`] });
    const old = month('2011-05');
    const [id = ''] = await fill(old, tenantId, 1);
    await change(id);
    const closed = await closeMonth(owner, old);
    expect(closed).toMatchObject({ payments: 0, kept: expect.any(Number) });
    expect(closed.kept).toBeGreaterThan(0);
    expect(await inHot([id])).toBe(1);
  });
});

test('a month that ended less than 400 days ago is not closed, and nothing is made for it', async () => {
  const young = month(new Date(Date.now() - 380 * DAY_MS).toISOString().slice(0, 7));
  await expect(closeMonth(owner, young)).rejects.toMatchObject({ code: 'invalid_parameter' });
  expect((await reportMonths(owner)).map((one) => one.month)).not.toContain(young.name);
});

test('the service’s role reads closed months and writes nothing in them', async () => {
  const url = graph.api.urls.appUrl;
  for (const table of ['payment_intake', 'payment_state', 'crossing', 'leg', 'chain_transfer', 'month']) {
    await query(url, `select count(*) from archive.${table}`);
    await expect(query(url, `delete from archive.${table}`)).rejects.toMatchObject({ code: '42501' });
    await expect(query(url, `insert into archive.${table} select * from archive.${table}`)).rejects.toMatchObject({
      code: '42501',
    });
  }
  for (const table of ['payment_intake', 'crossing', 'leg']) {
    await expect(query(url, `delete from ledger.${table}`)).rejects.toMatchObject({ code: expect.stringMatching(/42501|55000/) });
  }
});

test('a month that no plan reads is detached and attached again; one that a plan reads is not', async () => {
  const ids = await fill(UNREAD);
  await closeMonth(owner, UNREAD);
  const all = async () =>
    (await query(graph.api.urls.appUrl, 'select count(*) from ledger.payment where payment_id = any($1)', [ids]))[0];
  expect(await all()).toEqual({ count: '40' });

  await expect(detachMonth(owner, READ)).rejects.toMatchObject({ code: 'invalid_parameter' });
  expect(await detachMonth(owner, UNREAD)).toMatchObject({ isRight: true, held: { payments: 40 } });
  expect(await all()).toEqual({ count: '0' });
  await expect(detachMonth(owner, UNREAD)).rejects.toMatchObject({ code: 'conflict' });
  await expect(closeMonth(owner, UNREAD)).rejects.toMatchObject({ code: 'conflict' });
  expect(await returnPayments(owner, [{ tenantId: site.tenantId, paymentId: ids[0] as string }])).toBe(0);

  // A month that was put into the rollups when it happened stays there: nobody can add it up again.
  const sums = async () =>
    owner.query('select dimension, key, sum(micro) as micro from crossing_day where bucket < $1 group by 1, 2 order by 1, 2', [
      new Date('2012-04-01'),
    ]);
  const before = await sums();
  expect(before.length).toBeGreaterThan(0);
  await rebuildRollups(owner, site.tenantId, { fromMs: 0, toMs: null });
  expect(await sums()).toEqual(before);
  expect(await findMismatches(owner, site.tenantId, { fromMs: 0, toMs: null })).toEqual([]);

  const [gone] = await owner.query<{ payment_id: string }>(
    'delete from archive.payment_intake_2012_03 where payment_id = $1 returning *',
    [ids[0]],
  );
  await expect(attachMonth(owner, UNREAD)).rejects.toMatchObject({ code: 'conflict' });
  await owner.query(
    'insert into archive.payment_intake_2012_03 select * from jsonb_populate_record(null::archive.payment_intake, $1)',
    [JSON.stringify(gone)],
  );
  expect(await attachMonth(owner, UNREAD)).toMatchObject({ isRight: true });
  expect(await all()).toEqual({ count: '40' });
});

test('a month that is being read all the time stays attached, and its readers go on', async () => {
  const busy = month('2010-01');
  await fill(busy, site.tenantId, 2);
  await closeMonth(owner, busy);
  await graph.api.deps.database.transaction(async (sql) => {
    await sql.query('select count(*) from ledger.leg');
    await expect(detachMonth(owner, busy, 1)).rejects.toMatchObject({ code: 'conflict' });
    await sql.query('select count(*) from ledger.leg');
  });
  expect(await detachMonth(owner, busy)).toMatchObject({ isRight: true });
});

test('a transfer of a closed month that is read from the chain again is not stored beside itself; one that was missing is', async () => {
  const late = month('2013-07');
  await fill(late, site.tenantId, 3);
  await closeMonth(owner, late);
  const stored = await owner.query<Record<string, never>>(
    `select network, tx_hash as "txHash", log_position as "logPosition", log_index as "logIndex", block_number::text as "blockNumber",
       '0x' || encode(block_hash, 'hex') as "blockHash", block_time as "blockTime", token, from_address as "from", to_address as "to", amount_micro as "amountMicro", nonce
       from archive.chain_transfer where block_time >= $1 and block_time < $2`,
    [new Date(late.fromMs), new Date(late.toMs)],
  );
  const again = stored.map((row) => ({ ...(row as object), blockNumber: BigInt(row['blockNumber'] as unknown as string) }));
  const count = async () =>
    Number((await owner.query<{ count: string }>('select count(*) from ledger.chain_transfer'))[0]?.count);
  const before = await count();
  await recordTransfers(graph.api.deps.database, again as never);
  expect(await count()).toBe(before);
  await recordTransfers(graph.api.deps.database, [{ ...again[0], logPosition: 9 }] as never);
  expect(await count()).toBe(before + 1);
});

test('what names a payment names one that is there, of an open month or of a closed one', async () => {
  const claim = (paymentId: string) =>
    query(
      graph.api.urls.appUrl,
      `insert into authorization_claim (digest, tenant_id, payment_id) values (authorization_digest('n', 'a', 'p', $1), $2, $3)`,
      [randomUUID(), site.tenantId, paymentId],
    );
  await expect(claim(randomUUID())).rejects.toMatchObject({ code: '23503' });
  const [id = ''] = await fill(month('2014-02'), site.tenantId, 1);
  await claim(id);
  await closeMonth(owner, month('2014-02'));
  await claim(id);
});

test('a column that a table gets, its closed months and the ledger’s view get too', async () => {
  const columns = async (of: string): Promise<string> => {
    const rows = await owner.query<{ text: string }>(
      `select string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum) as text from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [of],
    );
    return rows[0]?.text ?? '';
  };
  for (const table of ['payment_intake', 'payment_state', 'crossing', 'leg', 'chain_transfer']) {
    const ours = await columns(`public.${table}`);
    expect(await columns(`archive.${table}`), table).toBe(ours);
    expect(await columns(`ledger.${table}`), table).toBe(ours);
  }
});
