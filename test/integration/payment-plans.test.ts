/** Named statements are planned once a connection, as a rule while their tables are small: their plan must be the one that full tables need. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, Sql } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { readTimes } from '../../db/reports/settlementTimes.ts';
import { readAdmissions } from '../../db/settlement/admission.ts';
import { applyEvents } from '../../db/settlement/applyEvents.ts';
import { markClaimed } from '../../db/settlement/claim.ts';
import { insertPayments } from '../../db/settlement/intake.ts';
import { countBroadcast, listBatchPayments, listPayments } from '../../db/settlement/payment.ts';
import { listDecided } from '../../db/settlement/waiting.ts';
import { newPaymentRow } from '../simulation/sqlPayment.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

const NETWORK = 'eip155:84532';

let used: TestDatabase;
let empty: TestDatabase;
let database: Database;
beforeAll(async () => {
  [used, empty] = await Promise.all([createDatabase(), createDatabase()]);
  database = await openDatabase({ url: used.appUrl, poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await Promise.all([used.drop(), empty.drop()]);
});

/** The database, noting the statements that have a name. */
function noting(names: Map<string, string>): Database {
  const over = (sql: Sql): Sql => ({
    query: (text, values, name) => {
      if (name !== undefined) names.set(name, text);
      return sql.query(text, values, name);
    },
  });
  return {
    ...database,
    ...over(database),
    transaction: (work, isolation) => database.transaction((sql) => work(over(sql)), isolation),
    shortTransaction: (work) => database.shortTransaction((sql) => work(over(sql))),
  };
}

/** Asks for the admission of a payment, takes it in, claims it, settles it and waits for it, by the statements of the product. */
async function sellOnce(asked: Database): Promise<void> {
  const tenantId = await insertTenant(database);
  const [paymentId, batchId] = [randomUUID(), randomUUID()];
  const auth = { payer: randomUUID(), to: 'b', nonce: randomUUID(), validAfter: 0, validBefore: 99, value: 10 };
  const legs = [{ toAddress: 'b', amountMicro: 10n }];
  const own = {
    auth,
    legs,
    payerKind: 'plain',
    resource: 'r',
    kind: 'read',
    seenBlock: 1,
    seenReorgs: 0,
    id: paymentId,
  } as const;
  const payment = newPaymentRow({ tenantId, network: NETWORK, address: 'x' } as never, paymentId, own as never);
  const { payer, nonce, to: payTo } = auth;
  await readAdmissions(asked, [{ tenantId, network: NETWORK, asset: 'a', payer, nonce, payTo, plannedGas: 1n }]);
  const [stored] = await insertPayments(asked, [{ payment, guard: () => ({ state: 'accepted' }) }]);
  if (stored?.kind !== 'inserted') throw new Error('a payment was not stored');
  await asked.query("insert into settlement_batch (batch_id, network, relayer, kind, nonce) values ($1, $2, 'r', 'settle', 1)", [
    batchId,
    NETWORK,
  ]);
  await asked.transaction(async (sql) => markClaimed(sql, await listPayments(sql, [stored.payment], true), batchId));
  await Promise.all([listPayments(asked, [stored.payment]), countBroadcast(asked, batchId), listBatchPayments(asked, batchId)]);
  const transfer = { txHash: `0x${paymentId}`, logIndex: 0, blockNumber: 5n };
  await applyEvents(asked, [{ tenantId, paymentId, event: { type: 'evidence', transfer } }]);
  expect(await listDecided(asked, [{ tenantId, paymentId }])).toHaveLength(1);
}

interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Step[];
}

/** How a plan that knows no values reads and writes the tables of payments, step by step. */
async function shapeOf(url: string, text: string): Promise<string[]> {
  const [row = {}] = await query(url, `explain (generic_plan, format json) ${text}`);
  const [{ Plan: plan }] = row['QUERY PLAN'] as [{ Plan: Step }];
  const steps = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(steps)];
  return steps(plan)
    .filter((step) =>
      /^payment|^open_purchase|^authorization_claim|^transfer_claim|^settlement_batch/.test(step['Relation Name'] ?? ''),
    )
    .map((step) => [step['Node Type'], step['Relation Name'], step['Index Name']].join(' ').trim());
}

test('each named statement of a payment reads the tables of payments by their keys, by one plan on empty and on full tables', async () => {
  const names = new Map<string, string>();
  await sellOnce(noting(names));
  expect([...names.keys()]).toEqual(
    expect.arrayContaining([
      ...[
        'read-admissions',
        'lock-purchases',
        'claim-authorizations',
        'lock-payments',
        'claim-transfers',
        'mark-claimed',
        'write-states',
        'record-crossings',
        'list-decided',
      ],
    ]),
  );
  const tenantId = await insertTenant(database, 'full.example');
  const legs = [{ toAddress: `0x${'1'.repeat(40)}`, amountMicro: 10 }];
  const sale = { tenantId, host: 'full.example', slug: 'a', kind: 'read', atMs: Date.now(), steps: 1, legs } as const;
  await insertPurchases(
    database,
    Array.from({ length: 3_000 }, (_, at) => ({ ...sale, payer: `0x${at}` })),
  );
  await database.query(
    'insert into authorization_claim select network, asset, payer, nonce, tenant_id, payment_id from payment_intake on conflict do nothing',
  );
  await database.query("insert into open_purchase select $1, 'payer' || n, 'r', 'read' from generate_series(1, 3000) n", [
    tenantId,
  ]);
  await database.query(
    `insert into settlement_batch (batch_id, network, relayer, kind, nonce, state)
     select gen_random_uuid(), 'eip155:84532', 'r', 'settle', n, 'safe' from generate_series(2, 3000) n`,
  );
  await query(used.ownerUrl, 'analyze');
  for (const [name, text] of names) {
    const [full, first] = [await shapeOf(used.ownerUrl, text), await shapeOf(empty.ownerUrl, text)];
    expect(full, name).toEqual(first);
    expect(full.join('; '), name).not.toMatch(/Seq Scan/);
  }
});

test('how long payments took is read from the settled payments of the window alone', async () => {
  const plans: string[] = [];
  await database.transaction(async (sql) => {
    await sql.query('set local enable_seqscan = off');
    const planned: Sql = {
      query: async (text, values) => {
        plans.push(JSON.stringify(await sql.query(`explain (format json) ${text}`, values)));
        return [];
      },
    };
    const scope = { tenantId: randomUUID(), host: null, kind: null, purpose: null };
    await readTimes(planned, scope, { fromMs: 0, toMs: Date.now() });
  });
  const [plan = ''] = plans;
  expect(plan).toContain('payment_settled_in_time');
  expect(plan).not.toContain('payment_intake');
});
