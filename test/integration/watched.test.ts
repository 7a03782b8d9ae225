import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, Sql } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { sqlStages } from '../../db/paymentStates.ts';
import { LOOSE_STATES, PAYMENT_STATES } from '../../modules/kernel/payment/state.ts';
import { readDatabaseGauges } from '../../modules/operations/store/gauges.ts';
import { hasWork, listWatched } from '../../modules/settlement/store/sweep.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

const NETWORK = 'eip155:84532';
const ANN = `0x${'1'.repeat(40)}`;

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

test('what is watched is read in the order of its turns, however much else is: neither list is sorted', async () => {
  const plan = await database.transaction(async (sql) => {
    await sql.query('set local enable_seqscan = off');
    await sql.query('set local enable_bitmapscan = off');
    const explained: unknown[] = [];
    const asked: Sql = {
      query: async (text, values) => {
        explained.push(...(await sql.query(`explain ${text}`, values)));
        return [];
      },
    };
    await listWatched(asked, NETWORK, 600, 5_000);
    return JSON.stringify(explained);
  });
  expect(plan.match(/payment_watched/g)).toHaveLength(2);
  expect(plan.match(/Sort Key/g)).toHaveLength(2); // of the few on their way, and of what a round takes
  expect(plan).toMatch(/payment_under_way/);
});

test('no gauge reads all payments: each state that is not through has an index', async () => {
  const asked: [string, readonly unknown[] | undefined][] = [];
  const query: Sql['query'] = async (text, values) => {
    asked.push([text, values]);
    return [];
  };
  await readDatabaseGauges({ query }, [NETWORK]);
  const plan = await database.transaction(async (sql) => {
    await sql.query('set local enable_seqscan = off');
    const explained: unknown[] = [];
    for (const [text, values] of asked) explained.push(await sql.query(`explain ${text}`, values));
    return JSON.stringify(explained);
  });
  expect(plan).toMatch(/settlement_batch_unfinal/);
  expect(plan).toMatch(/payment_unfinal_alone/);
  expect(plan).toMatch(/payment_watched_in_turns/);
  expect(plan).not.toMatch(/Seq Scan on payment/);
});

test('no index of what becomes of a payment names what a claim writes: a claim touches none', async () => {
  const names = await database.query<{ definition: string }>(
    "select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'payment_state'::regclass",
  );
  expect(names.length).toBeGreaterThan(3);
  for (const { definition } of names) expect(definition).not.toMatch(/\b(state|batch_id|batch_size|settler)\b/);
});

test('whether anything is open on a network is one statement that reads no table from end to end', async () => {
  const plan = await database.transaction(async (sql) => {
    await sql.query('set local enable_seqscan = off');
    const explained: unknown[] = [];
    const query: Sql['query'] = async (text, values) => {
      explained.push(await sql.query(`explain ${text}`, values));
      return [];
    };
    await hasWork({ query }, NETWORK);
    return explained;
  });
  expect(plan).toHaveLength(1);
  expect(JSON.stringify(plan)).not.toMatch(/Seq Scan on (payment|settlement_batch)/);
});

test.each([
  ['a payment that waits', "state = 'accepted'", true],
  ['one on its way', "state = 'broadcast'", true],
  ['one that is held', "state = 'held'", true],
  ['a settled one of no batch', "state = 'settled'", true],
  ['a failed one that is watched', "state = 'failed', reason = 'settlement_failed'", true],
  ['a failed one whose time is over', "state = 'failed', reason = 'settlement_failed', watched = false", false],
  ['a final one', "state = 'final', watched = false", false],
])('the sweeper has work while there is %s: %s', async (_what, change, isOpen) => {
  const network = `eip155:${Math.floor(Math.random() * 1e9)}`;
  const tenantId = await insertTenant(database);
  const purchase = { tenantId, host: 'alpha.example', slug: 'a', kind: 'read', atMs: Date.now(), steps: 1 } as const;
  const [id] = await insertPurchases(database, [{ ...purchase, legs: [{ toAddress: ANN, amountMicro: 10 }] }]);
  expect(await hasWork(database, network)).toBe(false);
  await query(own.ownerUrl, `update test.payment set network = $2, ${change} where payment_id = $1`, [id, network]);
  expect(await hasWork(database, network)).toBe(isOpen);
});

test.each([
  ['a batch on its way', "state = 'open'", true],
  ['one that is mined and not safe', "state = 'mined'", true],
  ['one that is mined, whatever holds it', "state = 'mined', held_until = now() + interval '1 hour'", true],
  ['one that is safe and not final', "state = 'safe'", true],
  ['one that is safe, while its workflow holds it', "state = 'safe', held_until = now() + interval '1 hour'", false],
  ['one that is final', "state = 'safe', final_at = now()", false],
])('the sweeper has work while there is %s: %s', async (_what, change, isOpen) => {
  const network = `eip155:${Math.floor(Math.random() * 1e9)}`;
  await database.query(
    `insert into settlement_batch (batch_id, network, relayer, kind, nonce) values (gen_random_uuid(), $1, '0xrelayer', 'settle', 0)`,
    [network],
  );
  await database.query(`update settlement_batch set ${change} where network = $1`, [network]);
  expect(await hasWork(database, network)).toBe(isOpen);
});

test('a payment that a live batch is about to decide is left alone for some seconds; whatever else is watched is not', async () => {
  const tenantId = await insertTenant(database);
  const purchase = { tenantId, host: 'alpha.example', slug: 'a', kind: 'read', atMs: Date.now(), steps: 1 } as const;
  const legs = [{ toAddress: ANN, amountMicro: 10 }];
  const ids = await insertPurchases(
    database,
    Array.from({ length: 5 }, () => ({ ...purchase, legs })),
  );
  const [fresh, old, reviewed, failed, unwatched] = ids as [string, string, string, string, string];
  const set = (id: string, state: string, agoMs: number, watched = true) =>
    query(
      own.ownerUrl,
      `update test.payment set state = $2, reason = case $2 when 'failed' then 'settlement_failed' end, watched = $3, accepted_at = now() - make_interval(secs => $4::double precision / 1000)
       where payment_id = $1`,
      [id, state, watched, agoMs],
    );
  for (const state of PAYMENT_STATES) {
    await set(fresh, state, 0);
    const stored = `select stage in (${sqlStages([state])}) as stage, watch_side from payment where payment_id = $1`;
    const side = LOOSE_STATES.includes(state) ? 'unsent' : null;
    expect(await database.query(stored, [fresh]), state).toEqual([{ stage: true, watch_side: side }]);
  }
  await set(fresh, 'broadcast', 0);
  await set(old, 'broadcast', 60_000);
  await set(reviewed, 'review', 0);
  await set(failed, 'failed', 0);
  await set(unwatched, 'broadcast', 60_000, false);
  const listed = async (sentMs: number) =>
    (await listWatched(database, NETWORK, 10, sentMs)).map(({ paymentId }) => paymentId).toSorted();
  expect(await listed(30_000)).toEqual([old, reviewed, failed].toSorted());
  expect(await listed(0)).toEqual([fresh, old, reviewed, failed].toSorted());
  expect(await listWatched(database, 'eip155:8453', 10, 0)).toEqual([]);
});
