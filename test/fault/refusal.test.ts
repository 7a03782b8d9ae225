import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { PLAIN_SENT_LIMIT } from '../../modules/settlement/rules/payerLimits.ts';
import { blockPayee } from '../../modules/settlement/store/admission.ts';
import { listPayments } from '../../modules/settlement/store/payment.ts';
import { settle } from '../../modules/settlement/use/accept/settle.ts';
import type { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { runBlindRound, runRound } from '../../modules/settlement/use/batch/round.ts';
import { chainOf } from '../../modules/settlement/use/deps.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { recheckPayees } from '../../modules/settlement/use/watch/payees.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import {
  age,
  attempt,
  block,
  chainCall,
  changed,
  cuttable,
  look,
  mine,
  sendAll,
  spend,
  stateOf,
  submitAlone,
  sweep,
} from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, runBatches, startSettlement, termsFor } from '../support/settlement.ts';
import { query } from '../support/sql.ts';

const EXPIRED_WAITING = 'svc.settle.expired_waiting';
/** Metrics that keep the names of what they count. */
function counter() {
  const counted: string[] = [];
  return { counted, metrics: { count: (name: string) => void counted.push(name), record: () => undefined } };
}

let world: SettlementWorld;
let line: ReturnType<typeof cuttable>;
beforeAll(async () => {
  const wrap = (rpc: Parameters<typeof cuttable>[0]) => (line = cuttable(rpc));
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50, wrap });
  await mine(world, 5);
});
afterAll(() => world.close());
afterEach(() => checkInvariants(world));

const failures = async (slug: string) => {
  const rows = await world.database.query<{ reason: string }>(
    "select reason from observation where slug = $1 and verdict = 'payment-failed'",
    [slug],
  );
  return rows.map((row) => row.reason);
};

test('a test key settles by magic amounts without touching the chain, and its receipt is no good for a live key', async () => {
  const codes: string[] = [];
  for (const [slug, priceMicro] of [
    ['mock', 1_000n],
    ['mock-1', 1_001n],
    ['mock-2', 1_002n],
    ['mock-3', 1_003n],
    ['mock-4', 1_004n],
    ['mock-5', 1_005n],
    ['mock-6', 1_006n],
  ] as const) {
    const terms = termsFor(world, newAuthors(1n, 1n), { slug, priceMicro });
    const payment = await paymentFor(world, await newPayer(world), terms);
    const answer = await pay(world, terms, payment, { mode: 'mock' }).catch((error: unknown) => error as { code: string });
    codes.push('code' in answer ? answer.code : answer.settlementRefKind);
    if (slug === 'mock') expect((await attempt(world, terms, payment)).code).toBe('authorization_invalid');
  }
  const reasons = ['insufficient_funds', 'authorization_invalid', 'settlement_failed'];
  expect(codes).toEqual(['mock', ...reasons, 'settlement_pending', 'malformed_payment', 'network_unsupported']);
  await age(world);
  await sweep(world, 2);
  expect(await world.database.query("select 1 as one from payment where mode = 'mock' and batch_id is not null")).toEqual([]);
  const counted = await world.database.query("select 1 as one from observation where slug like 'mock%' and verdict = 'paid'");
  expect(counted).toEqual([]);
});

test('a sale that failed for want of money says to sign again: money does not bring it back, and a new signature buys the page', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'money-left' });
  const payer = await newPayer(world, terms.priceMicro);
  const payment = await paymentFor(world, payer, terms);
  const told = () => pay(world, terms, payment).catch(({ code, next }: PaymentError) => ({ code, next }));
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await spend(world, addressOf(payer), newWallet(), terms.priceMicro);
  await sendAll(world);
  const failed = { code: 'insufficient_funds', next: { action: 'sign_again' } };
  expect(await told()).toEqual(failed);
  await world.fund(addressOf(payer), terms.priceMicro);
  expect(await told()).toEqual(failed);
  const again = await paymentFor(world, payer, terms);
  await attempt(world, terms, again);
  await look(world, await sendAll(world));
  expect(await pay(world, terms, again)).toMatchObject({ chargedMicro: terms.priceMicro });
  expect(await told()).toEqual(failed);
});

test('a silent node during verify is an outage: 503, no row, nothing counted; the same payment settles later', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'silent' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  line.cut.before = () => true;
  expect((await attempt(world, terms, payment)).code).toBe('chain_unavailable');
  line.cut.before = () => null;
  expect(await stateOf(world, payment)).toBeNull();
  expect(await failures('silent')).toEqual([]);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('a node that falls silent after the row leaves it pending and undecided, and it settles when the node is back', async () => {
  const terms = termsFor(world, newAuthors(1n, 2n), { slug: 'silent-later' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  line.cut.before = () => true;
  await expect(sendAll(world)).rejects.toThrow();
  await sweep(world).catch(() => undefined);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  line.cut.before = () => null;
  expect(await failures('silent-later')).toEqual([]);
  await age(world);
  await sweep(world, 3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
});

test('a database that falls silent after the row answers settlement_pending, not that nothing was charged', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'database-silent' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  const outage = Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
  const issuerOf = () => Promise.reject(outage);
  const request = { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {} } as const;
  await expect(settle({ ...world.settleDeps, issuerOf }, request)).rejects.toMatchObject({ code: 'settlement_pending' });
  expect((await pay(world, terms, payment)).chargedMicro).toBe(1_000n);
});

test('a wallet emptied between check and mining fails alone, with insufficient_funds, counted once, its neighbour paid', async () => {
  const authors = newAuthors(2n, 1n);
  const terms = termsFor(world, authors, { slug: 'drained' });
  const [poor, rich] = [await newPayer(world, 1_000n), await newPayer(world)];
  const payments = [await paymentFor(world, poor, terms), await paymentFor(world, rich, terms)];
  for (const payment of payments) expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'evm_setAutomine', true);
  await spend(world, addressOf(poor), newWallet(), 900n);
  await look(world, batchId);
  await look(world, batchId);
  const states = [];
  for (const payment of payments) states.push(await stateOf(world, payment));
  expect(states).toMatchObject([{ state: 'failed', reason: 'insufficient_funds' }, { state: 'settled' }]);
  expect(await failures('drained')).toEqual(['insufficient_funds']);
  expect(await world.database.query('select strikes from payer_strike where payer = $1', [addressOf(poor)])).toEqual([
    { strikes: 1 },
  ]);
});

test('an authorization that runs out while it waits is refused unsent, as a delay of ours that is counted, and no mistake of the buyer', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'late' });
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 300);
  const payment = await paymentFor(world, await newPayer(world), terms, { validBefore });
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  const [row] = await world.database.query<{ payment_id: string }>("select payment_id from payment where slug = 'late'");
  const read = await listPayments(world.database, [{ tenantId: world.tenantId, paymentId: row?.payment_id ?? '' }]);
  const { counted, metrics } = counter();
  const late = changed(world, { now: () => Date.now() + 294_000, metrics });
  await sendAll(world, late);
  await runBlindRound(chainOf(late, world.network.id), read); // another worker that read it before
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'settlement_failed', tx_hash: null });
  expect(await failures('late')).toEqual(['settlement_failed']);
  expect(await world.database.query("select raw_reason from payment where slug = 'late'")).toEqual([
    { raw_reason: 'expired_waiting' },
  ]);
  expect(counted.filter((name) => name === EXPIRED_WAITING)).toHaveLength(1);
});

test('a payment that a stranger submits is counted as front-run once, though another worker judges it, too', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'front-run-once' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  const [row] = await world.database.query<{ payment_id: string }>(
    "select payment_id from payment where slug = 'front-run-once'",
  );
  const read = await listPayments(world.database, [{ tenantId: world.tenantId, paymentId: row?.payment_id ?? '' }]);
  const hash = await submitAlone(world, payment);
  const { counted, metrics } = counter();
  const deps = changed(world, { metrics });
  await sendAll(world, deps);
  const late = read.map((one) => ({ payment: one, hashes: [] }));
  await runRound(chainOf(deps, world.network.id), late, { atSafe: false });
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled', tx_hash: hash });
  expect(counted.filter((name) => name === 'svc.settle.front_run')).toHaveLength(1);
});

test('a buyer who signs for too short a time, or whose payment was sent in vain, hears that it expired, and pages no operator', async () => {
  const { counted, metrics } = counter();
  const run = async (slug: string, seconds: number, between: () => Promise<unknown>) => {
    const terms = termsFor(world, newAuthors(1n), { slug });
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + seconds);
    const payment = await paymentFor(world, await newPayer(world), terms, { validBefore });
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    await between();
    await sendAll(world, changed(world, { now: () => Number(validBefore) * 1_000 - 1_000, metrics }));
    expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
    expect(await failures(slug)).toEqual(['authorization_invalid']);
  };
  await run('short', 29, async () => undefined);
  await run('in-vain', 300, () => world.database.query("update payment_state set attempts = 1 where state = 'accepted'"));
  expect(counted).not.toContain(EXPIRED_WAITING);
});

test('payments that wait behind more of their own payer’s than may be on their way are its own doing; where those do not move, it is our delay', async () => {
  const { counted, metrics } = counter();
  const run = async (name: string, moves: boolean) => {
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 300);
    const payer = await newPayer(world);
    for (let page = 0; page < 2 * PLAIN_SENT_LIMIT + 2; page += 1) {
      const terms = termsFor(world, newAuthors(1n), { slug: `${name}-${page}` });
      expect((await attempt(world, terms, await paymentFor(world, payer, terms, { validBefore }))).code).toBe(
        'settlement_pending',
      );
    }
    // Half a minute passes before any of them goes out.
    await query(
      world.ownerUrl,
      `update test.payment set accepted_at = accepted_at - interval '31 seconds' where slug like '${name}-%'`,
    );
    await look(world, await sendAll(world));
    if (moves) await look(world, await sendAll(world));
    await sendAll(world, changed(world, { now: () => Number(validBefore) * 1_000 - 1_000, metrics }));
    const found = await world.database.query<{ reason: string; raw_reason: string; n: number }>(
      "select reason, raw_reason, count(*)::int as n from payment where slug like $1 and state = 'failed' group by 1, 2",
      [`${name}-%`],
    );
    return found;
  };
  expect(await run('own', true)).toEqual([{ reason: 'authorization_invalid', raw_reason: 'expired_behind_own', n: 2 }]);
  expect(counted).not.toContain(EXPIRED_WAITING);
  const ours = await run('stuck', false);
  expect(ours).toEqual([{ reason: 'settlement_failed', raw_reason: 'expired_waiting', n: PLAIN_SENT_LIMIT }]);
  expect(counted.filter((name) => name === EXPIRED_WAITING)).toHaveLength(PLAIN_SENT_LIMIT); // as many as one look may take of a payer
});

test('one USDC and more waits for its second confirmation, and is neither lost nor failed before', async () => {
  const terms = termsFor(world, newAuthors(1n, 1n), { slug: 'dear', priceMicro: 1_000_000n });
  const payment = await paymentFor(world, await newPayer(world, 1_000_000n), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  const batchId = await sendAll(world);
  expect((await look(world, batchId)).undecided).toBe(1);
  await sweep(world, 1);
  await sweep(world, 1);
  expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
});

test('text that no database takes is made storable at intake and holds up nobody of its batch', async () => {
  const agent = { ua: 'bot\u0000\ud800', classifyReason: '\udfff', verified: true, verifiedAgent: 'a\u0000.example' };
  const jobs = [];
  for (const [slug, changes] of [
    ['poison', { agent }],
    ['poison-neighbour', {}],
  ] as const) {
    const terms = termsFor(world, newAuthors(1n), { slug });
    const payment = await paymentFor(world, await newPayer(world), terms);
    await expect(pay(world, terms, payment, changes)).rejects.toMatchObject({ code: 'settlement_pending' });
    jobs.push(payment);
  }
  await look(world, await sendAll(world));
  for (const payment of jobs) expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('legs that the ledger would refuse are refused before the row, not after the money', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'bad-leg' });
  const bad = { ...terms, legs: terms.legs.map((leg) => ({ ...leg, role: 'friend' as never })) };
  const payment = await paymentFor(world, await newPayer(world), terms);
  await expect(pay(world, bad, payment)).rejects.toThrow(RangeError);
  expect(await stateOf(world, payment)).toBeNull();
});

test('a settled payload shown again after its licence has ended is refused, and moves nothing', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'replayed' });
  const payer = await newPayer(world);
  const payment = await paymentFor(world, payer, terms);
  await attempt(world, terms, payment);
  await look(world, await sendAll(world));
  const first = await pay(world, terms, payment);
  expect(await pay(world, terms, payment)).toEqual(first);
  const later = { ...world.settleDeps, now: () => Date.now() + 601_000 };
  const request = { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {} } as const;
  await expect(settle(later, request)).rejects.toMatchObject({ code: 'authorization_invalid' });
  expect(await listBalances(world.rpc, world.network, [addressOf(payer)])).toEqual([999_000n]);
});

/** The database as another process has it, which hesitates between its look at the open purchase and its row. */
function hesitant(database: Database): Database {
  return {
    ...database,
    shortTransaction: (work) =>
      database.shortTransaction(async (sql) => {
        const last = await work(sql);
        await sleep(150);
        return last;
      }),
  };
}

test('two processes asked for the same page by one payer at once charge once', async () => {
  const terms = termsFor(world, newAuthors(1n, 1n), { slug: 'two-processes' });
  const payer = await newPayer(world);
  const other = { ...world.settleDeps, database: hesitant(world.database) };
  const payments = await Promise.all(Array.from({ length: 8 }, () => paymentFor(world, payer, terms)));
  const settleAll = () =>
    Promise.allSettled(
      payments.map((payment, at) =>
        settle(at % 2 === 0 ? world.settleDeps : other, {
          tenantId: terms.tenantId,
          keyId: null,
          mode: 'live',
          terms,
          payment,
          agent: {},
        }),
      ),
    );
  // Two intakes of each process are there at the same time, one with the purchase's lock: each sees what the one before it left.
  let all: Promise<unknown> | undefined;
  const owner = await openDatabase({ url: world.ownerUrl, poolSize: 1 });
  await owner.transaction(async (held) => {
    await held.query('lock table authorization_claim in share mode');
    all = settleAll();
    const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    await expect.poll(async () => (await world.database.query(waits)).length, { interval: 10 }).toBe(4);
  });
  await owner.close();
  await all;
  const states = await world.database.query("select state from payment where slug = 'two-processes' order by state");
  expect(states.map((row) => row['state'])).toEqual(['accepted', ...Array.from({ length: 7 }, () => 'held')]);
  await look(world, await sendAll(world));
  await sweep(world, 1);
  const receipts = await Promise.all(payments.map((payment) => pay(world, terms, payment)));
  expect(new Set(receipts.map((receipt) => receipt.settlementRef)).size).toBe(1);
  expect(await listBalances(world.rpc, world.network, [addressOf(payer)])).toEqual([999_000n]);
});

test.for([
  ['a single author', [1n]],
  ['one author of three', [3n, 2n, 1n]],
] as const)(
  '%s whom the token refuses is found before anything is sent, marked, and lifted when he can be paid',
  async ([name, weights]) => {
    const slug = `blocked-${weights.length}`;
    const terms = termsFor(world, newAuthors(...weights), { slug });
    const wallet = terms.legs[0]?.toAddress ?? '';
    await block(world, wallet);
    const payment = await paymentFor(world, await newPayer(world), terms);
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    await sendAll(world);
    expect(await stateOf(world, payment), name).toMatchObject({ state: 'failed', reason: 'settlement_failed', attempts: 0 });
    const next = await paymentFor(world, await newPayer(world), terms);
    expect((await attempt(world, terms, next)).code).toBe('payee_blocked');
    await recheckPayees(world.deps, world.network.id);
    expect((await attempt(world, terms, next)).code).toBe('payee_blocked');
    await block(world, wallet, false);
    await recheckPayees(world.deps, world.network.id);
    expect((await attempt(world, terms, next)).code).toBe('settlement_pending');
    await look(world, await sendAll(world));
    expect(await stateOf(world, next)).toMatchObject({ state: 'settled' });
  },
);

test.for([
  ['a single author', [1n]],
  ['one author of two', [2n, 1n]],
] as const)(
  '%s blocked between check and mining costs nobody money, is marked, and gives the payer no strike',
  async ([, weights]) => {
    const terms = termsFor(world, newAuthors(...weights), { slug: `blocked-late-${weights.length}` });
    const wallet = terms.legs[0]?.toAddress ?? '';
    const payers = [await newPayer(world), await newPayer(world)];
    const payments = [];
    for (const payer of payers) {
      const payment = await paymentFor(world, payer, terms);
      expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
      payments.push(payment);
    }
    await chainCall(world, 'evm_setAutomine', false);
    const batchId = await sendAll(world);
    await chainCall(world, 'anvil_dropAllTransactions');
    await chainCall(world, 'evm_setAutomine', true);
    await block(world, wallet);
    await look(world, batchId);
    await look(world, batchId);
    for (const payment of payments)
      expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'settlement_failed' });
    expect(await world.database.query('select 1 as one from blocked_payee where pay_to = $1', [terms.payTo])).toHaveLength(1);
    const strikes = await world.database.query('select 1 as one from payer_strike where payer = any ($1)', [
      payers.map(addressOf),
    ]);
    expect(strikes).toEqual([]);
  },
);

test('more blocked recipients than one round looks at are all looked at in the end', async () => {
  const wallets = Array.from({ length: 30 }, () => newWallet());
  for (const wallet of wallets) {
    await blockPayee(world.database, world.network.id, wallet, 'test');
    if (wallet !== wallets.at(-1)) await block(world, wallet);
  }
  for (let round = 0; round < 3; round += 1) await recheckPayees(world.deps, world.network.id);
  expect(await world.database.query('select 1 as one from blocked_payee where pay_to = $1', [wallets.at(-1)])).toEqual([]);
});

test('more payments than one transaction may hold are spread over several, each within the limit, and all are paid', async () => {
  const jobs = [];
  const payer = await newPayer(world, 20_000n);
  for (let page = 0; page < 9; page += 1) {
    const weights = Array.from({ length: 50 }, (_, at) => BigInt(at + 1 + page));
    const terms = termsFor(world, newAuthors(...weights), { slug: `large-${page}`, priceMicro: 2_000n });
    const payment = await paymentFor(world, payer, terms);
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    jobs.push({ terms, payment });
  }
  await runBatches(world.deps);
  await expect
    .poll(
      async () =>
        (await world.database.query("select 1 as one from payment where slug like 'large-%' and state = 'settled'")).length,
    )
    .toBe(9);
  const gas = await world.database.query<{ gas: string }>('select max(gas_limit) as gas from relayer_transaction');
  expect(Number(gas[0]?.gas)).toBeLessThanOrEqual(16_777_216);
});

test('money at a split that the token itself refuses costs no flush its gas, and is paid out once it can be', async () => {
  const terms = termsFor(world, newAuthors(3n, 1n), { slug: 'flush-blocked' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await submitAlone(world, payment);
  await sendAll(world);
  await block(world, terms.payTo);
  const flushes = () => world.database.query("select 1 as one from settlement_batch where kind = 'flush'");
  for (let round = 0; round < 3; round += 1) expect(await flushSplits(world.deps, world.network.id)).toBe(0);
  expect(await flushes()).toEqual([]);
  await block(world, terms.payTo, false);
  for (let round = 0; round < 3; round += 1) await recheckPayees(world.deps, world.network.id);
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
});
