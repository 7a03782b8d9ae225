import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { toldState } from '../../db/paymentStates.ts';
import { MAX_NAMES } from '../../modules/gate/rules/agentName.ts';
import { labelAgents } from '../../modules/gate/use/agentLabels.ts';
import { recordActualLegs } from '../../modules/reconciliation/store/corrections.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import type { PaymentRow } from '../../modules/settlement/store/payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from '../../modules/settlement/store/payment.ts';
import type { SettleDeps } from '../../modules/settlement/use/accept/settle.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { closeDueWindows } from '../../modules/webhooks/use/closeWindows.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, runBatches, startSettlement, termsFor } from '../support/settlement.ts';
import { query } from '../support/sql.ts';

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlement();
});
afterAll(() => world.close());
afterEach(() => checkInvariants(world));

const count = async (table: string, paymentOf: string): Promise<number> => {
  const rows = await world.database.query<{ count: string }>(
    `select count(*) from ${table} where payment_id in (select payment_id from payment where resource_key like $1)`,
    [`%/${paymentOf}`],
  );
  return Number(rows[0]?.count);
};

test('one signature pays three authors their legs, to the micro, and leaves crossing, legs, observation and outbox rows', async () => {
  const authors = newAuthors(5n, 3n, 2n);
  const terms = termsFor(world, authors, { slug: 'three', priceMicro: 1_001n });
  const payer = await newPayer(world);
  const receipt = await pay(world, terms, await paymentFor(world, payer, terms));
  expect(receipt.settlementRefKind).toBe('txHash');
  expect(receipt.chargedMicro).toBe(1_001n);
  const balances = await listBalances(world.rpc, world.network, [
    ...terms.legs.map((leg) => leg.toAddress),
    addressOf(payer),
    terms.payTo,
  ]);
  expect(balances).toEqual([...terms.legs.map((leg) => leg.amountMicro), 1_000_000n - 1_001n, 0n]);
  expect(await count('crossing', 'three')).toBe(1);
  expect(await count('leg', 'three')).toBe(3);
  expect(await count('observation', 'three')).toBe(1);
  const claims = await world.database.query(
    'select * from transfer_claim join payment using (tenant_id, payment_id) where slug = $1',
    ['three'],
  );
  expect(claims).toHaveLength(1);
  const legs = await world.database.query<{ total: string; share: number }>(
    'select sum(amount_micro) as total, sum(share) as share from leg where slug = $1',
    ['three'],
  );
  expect(legs[0]).toMatchObject({ total: '1001', share: 1 });
});

test('a sale and a refusal have the label of the agent that paid, as its visits have, and a full day has none left', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'named' });
  const payer = await newPayer(world);
  const agent = { ua: 'Mozilla/5.0 (compatible; NewBot/2.0)' };
  await pay(world, terms, await paymentFor(world, payer, terms), { agent });
  const misfit = await paymentFor(world, payer, terms, { value: 1n });
  await expect(pay(world, terms, misfit, { agent, keyId: crypto.randomUUID() })).rejects.toMatchObject({
    code: 'authorization_invalid',
  });
  const said = (slug: string) =>
    world.database.query(
      `select 'crossing' as of, agent, null as ua from crossing where slug = $1
       union all select verdict, agent, agent_ua from observation where slug = $1
       union all select 'payment', agent ->> 'label', agent ->> 'ua' from payment_intake where slug = $1 order by 1`,
      [slug],
    );
  expect(await said('named')).toEqual([
    { of: 'crossing', agent: 'newbot', ua: null },
    { of: 'paid', agent: 'newbot', ua: agent.ua },
    { of: 'payment', agent: 'newbot', ua: agent.ua },
    { of: 'payment-failed', agent: 'newbot', ua: agent.ua },
  ]);

  const { tenantId } = terms;
  const crowd = Array.from({ length: MAX_NAMES }, (_, n) => ({ tenantId, agent: { ua: `Crowd${n}/1` }, atMs: Date.now() }));
  await labelAgents(world.database, crowd);
  const late = termsFor(world, newAuthors(1n), { slug: 'late' });
  await pay(world, late, await paymentFor(world, payer, late), { agent: { ua: 'Latecomer/1' } });
  expect(new Set((await said('late')).map((row) => row['agent']))).toEqual(new Set(['other']));
});

test('the same payment fifty times at once settles once and gives fifty equal answers', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'fifty' });
  const payer = await newPayer(world);
  const payment = await paymentFor(world, payer, terms);
  const receipts = await Promise.all(Array.from({ length: 50 }, () => pay(world, terms, payment)));
  expect(
    new Set(receipts.map((receipt) => JSON.stringify({ ...receipt, chargedMicro: receipt.chargedMicro.toString() }))).size,
  ).toBe(1);
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([1_000n]);
  expect(await count('crossing', 'fifty')).toBe(1);
});

test('ten authorizations of one payer for one page at once charge once and all get the first receipt', async () => {
  const terms = termsFor(world, newAuthors(1n, 1n), { slug: 'ten' });
  const payer = await newPayer(world);
  const payments = await Promise.all(Array.from({ length: 10 }, () => paymentFor(world, payer, terms)));
  const receipts = await Promise.all(payments.map((payment) => pay(world, terms, payment)));
  expect(new Set(receipts.map((receipt) => receipt.settlementRef)).size).toBe(1);
  expect(await listBalances(world.rpc, world.network, [addressOf(payer)])).toEqual([999_000n]);
  const states = await world.database.query<{ state: string }>("select state from payment where slug = 'ten' order by state");
  expect(states.filter((row) => row.state === 'superseded')).toHaveLength(9);
});

test('citations are charged each, but not a second time within ten seconds of the same purchase', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'cite', kind: 'citation', priceMicro: 5_000n });
  const payer = await newPayer(world);
  const first = await pay(world, terms, await paymentFor(world, payer, terms));
  const soonMs = Date.now();
  const atOnce = { ...world.settleDeps, now: () => soonMs };
  const again = await pay({ ...world, settleDeps: atOnce }, terms, await paymentFor(world, payer, terms));
  expect(again).toEqual(first);
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([5_000n]);
});

test('a read under a live licence answers with a fresh licence and moves nothing', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'live' });
  const payer = await newPayer(world);
  const first = await pay(world, terms, await paymentFor(world, payer, terms));
  const second = await pay(world, terms, await paymentFor(world, payer, terms));
  expect(second.chargedMicro).toBe(0n);
  expect(second.settlementRef).toBe(first.settlementRef);
  expect(second.licenseJws).not.toBe(first.licenseJws);
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([1_000n]);
});

test('a payer who has spent all on a page is answered by that purchase when he signs again', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'all-spent' });
  const payer = await newPayer(world, terms.priceMicro);
  const first = await pay(world, terms, await paymentFor(world, payer, terms));
  const second = await pay(world, terms, await paymentFor(world, payer, terms));
  expect([second.chargedMicro, second.settlementRef]).toEqual([0n, first.settlementRef]);
});

test('a payer without funds is refused with insufficient_funds at every call, each an observation of the site’s gate, and nothing is stored', async () => {
  const terms = termsFor(world, newAuthors(1n, 2n), { slug: 'poor' });
  const payer = await newPayer(world, 10n);
  const payment = await paymentFor(world, payer, terms);
  const first = await pay(world, terms, payment, { keyId: randomUUID() }).catch((error: unknown) => error);
  expect(first).toBeInstanceOf(PaymentError);
  expect((first as PaymentError).code).toBe('insufficient_funds');
  const again = (await pay(world, terms, payment, { keyId: randomUUID() }).catch((error: unknown) => error)) as PaymentError;
  expect(again.code).toBe('insufficient_funds');
  const { id, asset } = world.network;
  for (const { next } of [first as PaymentError, again])
    expect(next).toEqual({
      action: 'fund',
      address: payment.authorization.from,
      network: id,
      asset,
      needsMicro: Number(terms.priceMicro),
      hasMicro: 10,
    });
  const rows = await world.database.query("select reason, count from observation where slug = 'poor'");
  const refused = { reason: 'insufficient_funds', count: 1 };
  expect(rows).toEqual([refused, refused]);
  expect(await world.database.query("select 1 as one from payment where slug = 'poor'")).toEqual([]);
});

test('an authorization shown for another page is refused and the first sale stays as it is', async () => {
  const authors = newAuthors(1n);
  const terms = termsFor(world, authors, { slug: 'bound' });
  const payer = await newPayer(world);
  const payment = await paymentFor(world, payer, terms);
  const first = await pay(world, terms, payment);
  const other = (await pay(world, termsFor(world, authors, { slug: 'elsewhere' }), payment).catch(
    (e: unknown) => e,
  )) as PaymentError;
  expect(other.code).toBe('authorization_invalid');
  expect(await pay(world, terms, payment)).toEqual(first);
});

test('settled payments become final once their block is safe, and their batch is done', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'final' });
  await pay(world, terms, await paymentFor(world, await newPayer(world), terms));
  await expect
    .poll(
      async () => {
        await sweepNetwork(world.deps, world.network.id);
        const told = `select ${toldState('payment')} as state from payment where slug = 'final'`;
        return (await world.database.query<{ state: string }>(told))[0]?.state;
      },
      { interval: 500 },
    )
    .toBe('final');
});

/** Closes windows of a millisecond until the outbox is empty. */
async function announceAll(): Promise<void> {
  const waiting = () => world.database.query('select 1 from unannounced_crossing limit 1');
  while ((await waiting()).length > 0) await closeDueWindows(world.database, 1);
}

test('a reorg takes back what a flush had corrected the legs to, to the micro; the sale is recorded again as the chain shows it', async () => {
  const terms = termsFor(world, newAuthors(2n, 1n), { slug: 'corrected' });
  await pay(world, terms, await paymentFor(world, await newPayer(world), terms));
  const stored = async () => {
    const [row] = await world.database.query<PaymentRow & Record<string, unknown>>(
      `select ${PAYMENT_COLUMNS} from payment_state as s join payment_intake as i using (tenant_id, payment_id) where slug = 'corrected'`,
    );
    return paymentFromRow(row as PaymentRow);
  };
  const untilState = (state: string) =>
    expect
      .poll(
        async () => {
          await sweepNetwork(world.deps, world.network.id);
          return (await stored()).facts.state;
        },
        { interval: 300 },
      )
      .toBe(state);
  await untilState('final');
  const payment = await stored();
  const [first, second] = terms.legs.map((leg) => leg.toAddress);
  const got = new Map([
    [first ?? '', 666n],
    [second ?? '', 334n],
  ]);
  const original = payment.facts.evidence?.txHash;
  await announceAll();
  expect(await recordActualLegs(world.database, payment, got)).toBe(true);
  const transfer = payment.facts.evidence;
  if (!transfer) throw new Error('a final payment has no evidence');
  const { tenantId, paymentId } = payment;
  await applyEvents(world.database, [{ tenantId, paymentId, event: { type: 'reorged', transfer } }]);
  const net = () =>
    world.database.query<{ to_address: string; net: string }>(
      'select to_address, sum(amount_micro)::text as net from leg where payment_id = $1 group by 1 order by 2',
      [paymentId],
    );
  expect((await net()).map((row) => row.net)).toEqual(['0', '0']);
  await untilState('final');
  expect((await net()).map((row) => row.net)).toEqual(['333', '667']);
  await announceAll();
  const events = await world.database.query<{ to_address: string; net: string; reversed: string[] }>(
    `select leg ->> 'toAddress' as to_address, sum((leg ->> 'amountMicro')::bigint)::text as net,
       array_agg(distinct leg ->> 'reverses') filter (where (leg ->> 'amountMicro')::bigint < 0) as reversed
     from webhook_event cross join lateral json_array_elements(detailed -> 'legs') as leg
     where leg ->> 'receiptId' = $1 group by 1 order by 2`,
    [paymentId],
  );
  expect(events.map((row) => row.net)).toEqual(['333', '667']);
  for (const { reversed } of events) expect(reversed).toContain(original);
});

test('forty payers at once settle in few transactions, and a mixed-in empty wallet fails alone', async () => {
  const authors = newAuthors(5n, 3n, 2n);
  const jobs = [];
  for (let n = 0; n < 40; n++) {
    const terms = termsFor(world, authors, { slug: `many-${n % 4}` });
    const payer = await newPayer(world, n === 7 ? 5n : 50_000n);
    jobs.push({ terms, payment: await paymentFor(world, payer, terms) });
  }
  const results = await Promise.allSettled(jobs.map(({ terms, payment }) => pay(world, terms, payment)));
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(39);
  expect((results[7] as PromiseRejectedResult).reason.code).toBe('insufficient_funds');
  const batches = await world.database.query(
    "select distinct batch_id from payment where slug like 'many-%' and batch_id is not null",
  );
  expect(batches.length).toBeLessThan(20); // how many come together depends on the machine
});

test('two flights at once and a late one sign one payment once', async () => {
  const idle = await startSettlement({ runBatches: false });
  try {
    const terms = termsFor(idle, newAuthors(1n, 1n), { slug: 'retry' });
    const answer = pay(idle, terms, await paymentFor(idle, await newPayer(idle), terms));
    await expect.poll(() => idle.database.query("select 1 from payment where state = 'accepted'")).toHaveLength(1);
    await Promise.all([runBatches(idle.deps), runBatches(idle.deps)]);
    await runBatches(idle.deps);
    expect((await answer).settlementRefKind).toBe('txHash');
    expect(await idle.database.query('select nonce, attempt from relayer_transaction')).toEqual([{ nonce: '0', attempt: 1 }]);
  } finally {
    await idle.close();
  }
});

test('the service role cannot change or delete crossings, legs and what was taken in, and unequal legs are refused by the database', async () => {
  for (const forbidden of [
    'update crossing set micro = micro + 1',
    'delete from leg',
    "update payment_intake set slug = 'other'",
    'delete from payment_intake',
    "update payment_state set payer = 'other'",
    'delete from payment_state',
  ]) {
    await expect(world.database.query(forbidden), forbidden).rejects.toThrow(/permission denied/);
  }
  const unequal = "update test.payment set amount_micro = amount_micro + 1 where slug = 'three'";
  await expect(query(world.ownerUrl, unequal)).rejects.toThrow(/check/);
});

test('what settles while its caller waits has its licence from its settlement on, and one whose caller is gone when it is answered', async () => {
  const licenceOf = async (slug: string) => {
    const [row] = await world.database.query<{ issued: boolean | null; life: string | null; settled: boolean }>(
      `select abs(licence_issued_at - extract(epoch from settled_at)) <= 1 as issued, licence_expires_at - licence_issued_at as life,
         state in ('settled', 'final') as settled from payment where slug = $1`,
      [slug],
    );
    return row;
  };
  const fixed = { issued: true, life: '600', settled: true };
  const none = { issued: null, life: null, settled: true };
  const buy = async (slug: string, changes: Partial<SettleDeps>) => {
    const terms = termsFor(world, newAuthors(1n), { slug });
    const payment = await paymentFor(world, await newPayer(world), terms);
    const answer = () => pay({ ...world, settleDeps: { ...world.settleDeps, ...changes } }, terms, payment);
    return { answer, first: await answer().catch((error: unknown) => error) };
  };
  // A process that cannot fix a licence itself.
  const unable: Database['query'] = (text, ...rest) =>
    text.includes('update payment_state') ? Promise.reject(new Error('no')) : world.database.query(text, ...rest);
  const database = { ...world.database, query: unable };
  const waited = await buy('waits', { database });
  expect(waited.first).toMatchObject({ settlementRefKind: 'txHash' });
  expect(await licenceOf('waits')).toEqual(fixed);
  expect(await waited.answer()).toEqual(waited.first);
  // Later decisions leave it as it is.
  const stored = () =>
    world.database.query<PaymentRow & Record<string, unknown>>(
      `select ${PAYMENT_COLUMNS} from payment_state as s join payment_intake as i using (tenant_id, payment_id) where slug = 'waits'`,
    );
  const [before] = await stored();
  const { tenantId, paymentId, facts } = paymentFromRow(before as PaymentRow);
  if (!facts.evidence) throw new Error('a settled payment has no evidence');
  for (const type of ['reorged', 'evidence'] as const) {
    await applyEvents(world.database, [{ tenantId, paymentId, event: { type, transfer: facts.evidence } }]);
    expect(await stored()).toMatchObject([{ licenceJti: before?.licenceJti }]);
  }

  const { settings } = world.settleDeps;
  // On a busy machine a payment may settle within the millisecond that its caller waits: another one is tried then.
  const gone = async (tries = 10): Promise<{ slug: string; answer: () => Promise<unknown> }> => {
    const slug = `gone-${tries}`;
    const { answer, first } = await buy(slug, { settings: { ...settings, waitMs: 1 } });
    if (first instanceof Error || tries === 0) expect(first).toMatchObject({ code: 'settlement_pending' });
    return first instanceof Error ? { slug, answer } : gone(tries - 1);
  };
  const { slug, answer } = await gone();
  await expect.poll(async () => (await licenceOf(slug))?.settled).toBe(true);
  expect(await licenceOf(slug)).toEqual(none);
  const receipt = await answer();
  expect(await answer()).toEqual(receipt);
  expect((await licenceOf(slug))?.life).toBe('600');

  // A key that was retired while its caller waited signs nothing more.
  const { kid } = world.settleDeps.signer.current();
  await query(world.ownerUrl, 'update signing_key set retired_at = now() where kid = $1', [kid]);
  try {
    expect((await buy('retired', { database })).first).toMatchObject({ message: 'no' });
    expect(await licenceOf('retired')).toEqual(none);
  } finally {
    await query(world.ownerUrl, 'update signing_key set retired_at = null where kid = $1', [kid]);
  }
});

test('a ledger that takes too long decides nothing: 503 without a word of reports at first, settlement_pending once the row exists', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'slow' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  const owner = await openDatabase({ url: world.ownerUrl, poolSize: 1 });
  // Long beside what a statement takes that nobody holds up, also on a slow machine.
  const hasty = await openDatabase({ url: world.ownerUrl, statementTimeoutMs: 2_000 });
  const ask = () => pay({ ...world, settleDeps: { ...world.settleDeps, database: hasty } }, terms, payment);
  const whileHeld = async (lock: string) => {
    const held = await owner.pool.connect();
    try {
      await held.query(`begin; ${lock}`);
      return await ask().catch((error: unknown) => error);
    } finally {
      await held.query('rollback');
      held.release();
    }
  };
  try {
    expect(await whileHeld('lock table authorization_claim in share mode')).toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('send the same payment again'),
    });
    expect(await count('payment', 'slow')).toBe(0);
    const first = await pay(world, terms, payment);
    await world.database.query('update test.payment set licence_jti = null where slug = $1', ['slow']);
    expect(await whileHeld("select 1 from payment where slug = 'slow' for update")).toMatchObject({ code: 'settlement_pending' });
    expect((await ask()).settlementRef).toBe(first.settlementRef);
    expect(await count('crossing', 'slow')).toBe(1);
  } finally {
    await Promise.all([hasty.close(), owner.close()]);
  }
});
