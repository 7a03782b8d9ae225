/** Named statements are planned once a connection, as a rule while their tables are small: their plan must be the one that full tables need. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, Sql } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { sameText } from '../../db/sameText.ts';
import { findPayments } from '../../modules/operations/store/finds/payments.ts';
import { listRecipients } from '../../modules/reconciliation/store/chainRounds.ts';
import { readTimes } from '../../modules/reports/store/settlementTimes.ts';
import { listBlockedPayees, readAdmissions } from '../../modules/settlement/store/admission.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { recordSend } from '../../modules/settlement/store/attempts.ts';
import { claimBatch } from '../../modules/settlement/store/claim.ts';
import { closeMined } from '../../modules/settlement/store/gasUsage.ts';
import { insertPayments } from '../../modules/settlement/store/intake.ts';
import { countBroadcast, listBatchPayments, listPayments } from '../../modules/settlement/store/payment.ts';
import { findPagePurchase } from '../../modules/settlement/store/purchases.ts';
import { findLastKind, listWaiting, readOnTheWay, readPayers } from '../../modules/settlement/store/queue.ts';
import type { SignedBatch } from '../../modules/settlement/store/relayer.ts';
import { ensureRelayer } from '../../modules/settlement/store/relayer.ts';
import { listDecided } from '../../modules/settlement/store/waiting.ts';
import { newPaymentRow } from '../simulation/sqlPayment.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

const NETWORK = 'eip155:84532';

const NEW_PAYMENT = {
  auth: { payer: 'p', to: 'b', nonce: 'n', validAfter: 0, validBefore: 99, value: 10 },
  legs: [{ toAddress: 'b', amountMicro: 10n }],
  payerKind: 'plain',
  resource: 'r',
  kind: 'read',
  seenBlock: 1,
  seenReorgs: 0,
} as const;

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
  const auth = { ...NEW_PAYMENT.auth, payer: randomUUID(), nonce: randomUUID() };
  const own = { ...NEW_PAYMENT, auth, id: paymentId };
  const payment = newPaymentRow({ tenantId, network: NETWORK, address: 'x' } as never, paymentId, own as never);
  const { payer, nonce, to: payTo } = auth;
  await readAdmissions(asked, [{ tenantId, network: NETWORK, asset: 'a', payer, nonce, payTo, plannedGas: 1n }]);
  const [stored] = await insertPayments(asked, [{ payment, guard: () => ({ state: 'accepted' }) }]);
  if (stored?.kind !== 'inserted') throw new Error('a payment was not stored');
  const relayer = { network: NETWORK, address: 'r' };
  await ensureRelayer(database, relayer, 1n, 4);
  await Promise.all([readOnTheWay(asked, NETWORK), listWaiting(asked, NETWORK, batchId)]);
  await Promise.all([
    readPayers(asked, NETWORK, [payer]),
    findLastKind(asked, NETWORK),
    listBlockedPayees(asked, NETWORK, [payTo]),
  ]);
  await listPayments(asked, [stored.payment]);
  const txHash = `0x${paymentId.replaceAll('-', '')}` as const;
  const batch: Omit<SignedBatch, 'nonce'> = {
    network: NETWORK,
    relayer: relayer.address,
    batchId,
    workflowId: null,
    kind: 'settle',
    txHash,
    raw: '0x',
    gasLimit: 1n,
    maxFeeWei: 1n,
    priorityFeeWei: 1n,
    gasShares: new Map([[tenantId, 1n]]),
  };
  const claimed = await claimBatch(asked, relayer, [stored.payment], (_, nonce) =>
    Promise.resolve({ batch: { ...batch, nonce }, taken: new Set([paymentId]) }),
  );
  expect(claimed.kind).toBe('claimed');
  await Promise.all([
    recordSend(asked, { batchId, attempt: 1 }, 'accepted'),
    countBroadcast(asked, batchId),
    listBatchPayments(asked, batchId),
  ]);
  const transfer = { txHash, logIndex: 0, blockNumber: 5n };
  const seen = {
    network: NETWORK,
    txHash,
    logPosition: 0,
    logIndex: 0,
    blockNumber: 5n,
    blockHash: '0x0b',
    blockTime: new Date(),
    token: 'a',
    from: payer,
    to: payTo,
    amountMicro: 10n,
    nonce,
  };
  await applyEvents(asked, [{ tenantId, paymentId, event: { type: 'evidence', transfer } }], [seen]);
  const cost = { network: NETWORK, wei: 1n, chargedWei: 1n, gasUsed: 1n };
  await closeMined(asked, batchId, cost, (weights) => weights);
  expect(await listDecided(asked, [{ tenantId, paymentId }])).toHaveLength(1);
}

interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Step[];
}

const READ = /^(payment|authorization_claim|transfer_claim|settlement_batch|relayer_|chain_transfer|gas_usage|payer_strike)/;

/** How a plan that knows no values reads and writes the tables of payments, step by step. */
async function shapeOf(url: string, text: string): Promise<string[]> {
  const [row = {}] = await query(url, `explain (generic_plan, format json) ${text}`);
  const [{ Plan: plan }] = row['QUERY PLAN'] as [{ Plan: Step }];
  const steps = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(steps)];
  return steps(plan)
    .filter((step) => READ.test(step['Relation Name'] ?? ''))
    .map((step) => [step['Node Type'], step['Relation Name'], step['Index Name']].join(' ').trim());
}

test('each named statement of a payment reads the tables of payments by their keys, by one plan on empty and on full tables', async () => {
  const names = new Map<string, string>();
  await sellOnce(noting(names));
  expect([...names.keys()]).toEqual(
    expect.arrayContaining([
      'read-admissions',
      'lock-purchases',
      'claim-authorizations',
      'lock-payments',
      'claim-transfers',
      'mark-claimed',
      'write-states',
      'record-crossings',
      'list-decided',
      'list-waiting',
      'read-queues',
      'list-tenants-on-the-way',
      'read-payers',
      'find-last-kind',
      'list-blocked-payees',
      'list-payments',
      'lock-queue',
      'list-held-nonces',
      'read-queue-load',
      'hold-payments',
      'lock-payers',
      'insert-batch',
      'insert-attempt',
      'record-send',
      'record-transfers',
      'record-observations',
      'hold-gas-shares',
      'note-gas',
      'add-gas-usage',
      'mark-mined',
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
    `insert into authorization_claim select authorization_digest(network, asset, payer, nonce), tenant_id, payment_id from payment_intake
     on conflict do nothing`,
  );
  await database.query(
    `insert into settlement_batch (batch_id, network, relayer, kind, nonce, state)
     select gen_random_uuid(), 'eip155:84532', 'r', 'settle', n, 'safe' from generate_series(2, 3000) n`,
  );
  await database.query(
    `insert into relayer_transaction (batch_id, attempt, network, relayer, nonce, kind, tx_hash, raw, gas_limit, max_fee_wei, priority_fee_wei)
     select batch_id, 1, network, relayer, nonce, 'settle', batch_id::text, '0x', 1, 1, 1 from settlement_batch on conflict do nothing`,
  );
  await database.query(
    'insert into relayer_nonce (network, relayer, nonce, batch_id) select network, relayer, nonce, batch_id from settlement_batch on conflict do nothing',
  );
  await database.query("insert into payer_strike (network, payer) select 'n', n::text from generate_series(1, 3000) n");
  await database.query('insert into gas_usage (tenant_id, day) select $1, current_date - n from generate_series(1, 3000) n', [
    tenantId,
  ]);
  await query(used.ownerUrl, 'analyze');
  const differing: unknown[] = [];
  for (const [name, text] of names) {
    const [full, first] = [await shapeOf(used.ownerUrl, text), await shapeOf(empty.ownerUrl, text)];
    if (full.join() !== first.join() || /Seq Scan/.test(full.join())) differing.push({ name, full, first });
  }
  expect(differing).toEqual([]);
});

test('what a wallet bought is read by the index of purchases, of a page and of a site, also where another index of the site looks as good', async () => {
  const plans = new Map<string, string>();
  const planned: Sql = {
    query: async (text, values) => {
      const [row = {}] = await database.query(`explain (format json) ${text}`, values);
      plans.set(text, JSON.stringify(row));
      return [];
    },
  };
  const tenantId = await insertTenant(database, 'planned.example');
  const payer = `0x${'a'.repeat(40)}` as const;
  const [wallet, since, until] = [{ wallet: payer, network: null }, new Date(0), null];
  await findPagePurchase(planned, { tenantId, buyer: wallet, resourceKey: 'k', kind: 'read', mode: 'live', since });
  await findPayments(planned, { limit: 10, after: null }, { tenantId, payer, state: null, since: null, until });
  const asked: [string, readonly unknown[]][] = [];
  const taken = { ...NEW_PAYMENT, auth: { ...NEW_PAYMENT.auth, payer, nonce: 'planned' }, id: randomUUID() };
  const payment = newPaymentRow({ tenantId, network: NETWORK, address: 'x' } as never, taken.id, taken as never);
  const shortTransaction: Database['shortTransaction'] = (work) =>
    database.shortTransaction((sql) =>
      work({
        query: (text, values = [], name) => {
          if (name === undefined && text.includes('payment_intake')) asked.push([text, values]);
          return sql.query(text, values, name);
        },
      }),
    );
  await insertPayments({ ...database, shortTransaction }, [{ payment, guard: () => ({ state: 'accepted' }) }]);
  for (const [text, values] of asked) await planned.query(text, values);
  expect(plans.size).toBe(3);
  for (const [text, plan] of plans) expect(plan, text).toContain('payment_purchase');
});

/** The plans of the statements that `ask` sends, by an index wherever there is one; none of them runs. */
async function plansByIndex(ask: (sql: Sql) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  await database.transaction(async (sql) => {
    await sql.query('set local enable_seqscan = off');
    await ask({
      query: async (text, values) => {
        plans.push(JSON.stringify(await sql.query(`explain (format json) ${text}`, values)));
        return [];
      },
    });
  });
  return plans;
}

test('recipients are walked in the order of their index, and what is under way of a payer is found by its hash', async () => {
  const wanted = { tenantId: null, payer: `0x${'a'.repeat(40)}`, state: 'accepted', since: null, until: null } as const;
  const plans = await plansByIndex(async (sql) => {
    await listRecipients(sql, NETWORK);
    await findPayments(sql, { limit: 10, after: null }, wanted);
  });
  const [recipients = '', , found = ''] = plans;
  expect(recipients).toContain('payment_pay_to');
  expect(recipients).not.toContain('"Sort"');
  expect(found).toContain('payment_open_of_payer');
  expect(found).toContain('hashtext');
});

test('how long payments took is read from the settled payments of the window alone', async () => {
  const scope = { tenantId: randomUUID(), host: null, kind: null, purpose: null };
  const [plan = ''] = await plansByIndex((sql) => readTimes(sql, scope, { fromMs: 0, toMs: Date.now() }));
  expect(plan).toContain('payment_settled_in_time');
  expect(plan).not.toContain('payment_intake');
});

test('texts with one hash, as two of a few hundred thousand wallets have, are not the same; equal ones are', async () => {
  const wallets = `select '0x' || substr(md5(n::text) || md5(n::text), 1, 40) as wallet from generate_series(1, 400000) as n`;
  const pairs = await database.query<{ a: string; b: string; same: boolean; own: boolean }>(
    `select a, b, ${sameText('a', 'b')} as same, ${sameText('a', 'a')} as own from (
       select min(wallet) as a, max(wallet) as b from (${wallets}) as made group by hashtext(wallet) having count(*) > 1) as pairs`,
  );
  expect(pairs.length).toBeGreaterThan(0);
  for (const { a, b, same, own } of pairs) expect([a === b, same, own]).toEqual([false, false, true]);
});
