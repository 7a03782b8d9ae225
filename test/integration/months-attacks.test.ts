/** Closed months under attack: no reader, repeated payment, node or operator loses, doubles or blocks anything. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, Sql } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import {
  findBoughtLicence,
  findCoveringPurchase,
  findLicence,
  findLicenceOf,
  listLicences,
} from '../../modules/licences/store/licences.ts';
import { openClosedMonth } from '../../modules/operations/store/months/closing.ts';
import { checkMonth, closeMonth, reportMonths } from '../../modules/operations/use/months.ts';
import { findPublicPayment } from '../../modules/receipts/store/records.ts';
import { findByAuthorization } from '../../modules/settlement/store/intake.ts';
import { returnPayments } from '../../modules/settlement/store/returning.ts';
import { listFinalProvenBy } from '../../modules/settlement/store/sweep.ts';
import { recordTransfers } from '../../modules/settlement/store/transfers.ts';
import { newPaymentId } from '../../modules/settlement/use/accept/paymentId.ts';
import { boughtIn, month } from '../support/closedMonths.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { pay, paymentFor, startSettlement } from '../support/settlement.ts';

let world: SettlementWorld;
let owner: Database;
beforeAll(async () => {
  world = await startSettlement({ automine: true });
  owner = await openDatabase({ url: world.ownerUrl });
});
afterAll(async () => {
  await owner.close();
  await world.close();
});

const DAY_MS = 86_400_000;

const isOpen = async (paymentId: string): Promise<boolean> =>
  (await owner.query('select from payment_state where payment_id = $1', [paymentId])).length === 1;

test('a payment comes back to the month that counts it, whatever time zone the session is in', async () => {
  const old = month('2015-05');
  const bought = await boughtIn({ world, owner }, old);
  await closeMonth(owner, old);
  await world.database.transaction(async (sql) => {
    await sql.query("set local timezone = 'America/Los_Angeles'");
    expect(await returnPayments(sql, [bought])).toBe(1);
  });
  expect(await checkMonth(owner, old)).toMatchObject({ isRight: true, held: { payments: 0, crossings: 0, legs: 0, micro: 0n } });
});

test('a payment comes back without reading through the legs of a month', async () => {
  const [row] = await owner.query<{ body: string }>("select prosrc as body from pg_proc where proname = 'return_payment'");
  expect(row?.body).toMatch(/when 'leg' then 'crossing_id = any/);
});

test('payments of several months come back to callers who ask in any order, at once', async () => {
  const olds = ['2011-01', '2011-02', '2011-03'].map(month);
  const refs = [];
  for (const old of olds) refs.push(await boughtIn({ world, owner }, old));
  for (let turn = 0; turn < 3; turn += 1) {
    for (const old of olds) await closeMonth(owner, old);
    const asked = [refs, refs.toReversed(), refs, refs.toReversed()];
    const counts = await Promise.all(asked.map((some) => world.database.transaction((sql) => returnPayments(sql, some))));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
  }
  for (const old of olds) expect(await checkMonth(owner, old)).toMatchObject({ isRight: true, held: { payments: 0 } });
});

test('a superseded authorization whose successor is in a closed month is answered by it, also when that was never answered', async () => {
  const old = month('2015-08');
  const bought = await boughtIn({ world, owner }, old);
  const again = await paymentFor(world, bought.payer, bought.terms);
  await pay(world, bought.terms, again).catch(() => undefined);
  const superseded = { ...bought.claim, nonce: again.authorization.nonce };
  await owner.query(
    `update payment_state as s set state = 'superseded', successor_id = $2, watched = false, settled_at = null, licence_jti = null, tx_hash = null,
       log_position = null, block_number = null, block_time = null, batch_id = null, recorded = false
       from payment_intake as i where i.payment_id = s.payment_id and i.nonce = $1`,
    [again.authorization.nonce, bought.paymentId],
  );
  await owner.query(
    'update payment_state set licence_jti = null, licence_issued_at = null, licence_expires_at = null, licence_kid = null where payment_id = $1',
    [bought.paymentId],
  );
  await closeMonth(owner, old);
  expect(await isOpen(bought.paymentId)).toBe(false);
  expect(await findByAuthorization(world.database, superseded)).toMatchObject({ facts: { state: 'superseded' } });
  expect(await isOpen(bought.paymentId)).toBe(true);
  await closeMonth(owner, old);
  const answer = await pay(world, bought.terms, again);
  expect(answer).toMatchObject({ settlementRef: bought.receipt.settlementRef });
});

test('a final payment of a closed month is judged again when the chain shows its evidence no more', async () => {
  const old = month('2015-10');
  const bought = await boughtIn({ world, owner }, old);
  await closeMonth(owner, old);
  const found = await listFinalProvenBy(world.database, world.network.id, [bought.receipt.settlementRef as string]);
  expect(found.map((payment) => payment.paymentId)).toEqual([bought.paymentId]);
});

test('a transfer that stands beside its month does not keep the month from closing, and is there once then', async () => {
  const old = month('2014-04');
  const transfer = {
    network: world.network.id,
    txHash: `0x${'7'.repeat(64)}`,
    logPosition: 0,
    logIndex: 3,
    blockNumber: 5n,
    blockHash: '0x0b',
    blockTime: new Date(old.fromMs + DAY_MS),
    token: '0xt',
    from: '0xf',
    to: '0xe',
    amountMicro: 7n,
    nonce: null,
  };
  const count = async () => (await owner.query('select from ledger.chain_transfer where tx_hash = $1', [transfer.txHash])).length;
  await recordTransfers(world.database, [transfer] as never);
  expect(await closeMonth(owner, old)).toMatchObject({ transfers: 1 });
  // A node that tells another time of an old block, and a round that was on its way while the month was moved.
  await recordTransfers(world.database, [{ ...transfer, blockTime: new Date(old.fromMs - DAY_MS) }] as never);
  expect(await count()).toBe(1);
  await owner.query(
    'insert into public.chain_transfer select (jsonb_populate_record(null::public.chain_transfer, to_jsonb(t))).* from archive.chain_transfer as t where tx_hash = $1',
    [transfer.txHash],
  );
  expect(await count()).toBe(2);
  await closeMonth(owner, old);
  expect(await count()).toBe(1);
  expect(await checkMonth(owner, old)).toMatchObject({ isRight: true, held: { transfers: 1 } });
});

test('what names a payment goes on naming one that is there', async () => {
  const { paymentId } = await boughtIn({ world, owner }, month('2015-12'));
  await expect(
    owner.query('update authorization_claim set payment_id = $2 where payment_id = $1', [paymentId, newPaymentId()]),
  ).rejects.toMatchObject({ code: '23503' });
});

test('a month opens while others are being read, for two operators at once', async () => {
  const [first, second] = [month('2010-03'), month('2010-04')];
  await world.database.transaction(async (sql) => {
    await sql.query('select count(*) from ledger.payment');
    await sql.query('select count(*) from ledger.leg');
    await closeMonth(owner, first);
    const other = await openDatabase({ url: world.ownerUrl });
    await Promise.all([closeMonth(owner, second), closeMonth(other, second)]).finally(() => other.close());
    await sql.query('select count(*) from ledger.leg');
  });
  expect((await reportMonths(owner)).map((one) => one.month)).toEqual(expect.arrayContaining([first.name, second.name]));
});

test('the payment of a licence stays as long as the licence runs, so that its access opens no closed month', async () => {
  const old = month('2010-07');
  const { tenantId, paymentId, terms } = await boughtIn({ world, owner }, old);
  const [accountId, offerId] = [crypto.randomUUID(), crypto.randomUUID()];
  await owner.query('insert into buyer_account (account_id) values ($1)', [accountId]);
  const from = new Date(old.fromMs);
  const until = new Date(Date.now() + DAY_MS);
  await owner.query(
    `insert into licence_offer (offer_id, tenant_id, account_id, request_hash, host, patterns, terms, kind, period_from, period_until, price_micro, pages,
       legs, pay_to, network, asset, router, expires_at)
     select $1, tenant_id, $2, 'hash', host, '{/*}', '{all}', kind, $4, $5, amount_micro, '[]', legs, pay_to, network, asset, router, $4
       from payment_intake where payment_id = $3`,
    [offerId, accountId, paymentId, from, until],
  );
  await owner.query(
    `insert into licence (tenant_id, jti, account_id, payment_id, offer_id, host, patterns, terms, kind, period_from, period_until, price_micro, legs, bought_at)
     select tenant_id, $3, account_id, $3, offer_id, host, patterns, terms, kind, period_from, period_until, price_micro, legs, $2
       from licence_offer where offer_id = $1`,
    [offerId, from, paymentId],
  );
  await owner.query('insert into account_licence (account_id, jti, tenant_id, bought_at) values ($1, $2, $3, $4)', [
    accountId,
    paymentId,
    tenantId,
    from,
  ]);
  await owner.query("insert into licence_page (tenant_id, jti, path, slug, micro) values ($1, $2, '/page', 'page', 1)", [
    tenantId,
    paymentId,
  ]);
  expect(await closeMonth(owner, old)).toMatchObject({ payments: 0, kept: 1 });
  const buyer = { tenantId, buyer: { accountId }, host: terms.host, path: '/page', kind: 'read' as const, at: new Date() };
  expect(await findLicenceOf(world.database, buyer)).toMatchObject({ jti: paymentId });

  await owner.query('update licence set period_until = $2 where jti = $1', [paymentId, new Date(Date.now() - 2 * DAY_MS)]);
  expect(await closeMonth(owner, old)).toMatchObject({ payments: 1, kept: 0 });
  expect(await findLicence(world.database, { accountId, jti: paymentId })).toMatchObject({ jti: paymentId });
  expect(await findBoughtLicence(world.database, { tenantId, paymentId })).toMatchObject({ jti: paymentId });
  expect((await listLicences(world.database, accountId)).map(({ jti }) => jti)).toEqual([paymentId]);
});

test('a sale takes no lock of a closed month: what names its payment looks there for a payment that is not open, and for no other', async () => {
  for (const name of ['2009-01', '2009-02', '2009-03']) await openClosedMonth(owner, month(name));
  const { tenantId, paymentId, claim } = await boughtIn({ world, owner }, month('2016-01'));
  const locked = await world.database.transaction(async (sql) => {
    await sql.query(
      'insert into authorization_claim (digest, tenant_id, payment_id) values (authorization_digest($1, $2, $3, $4), $5, $6)',
      [claim.network, claim.asset, claim.payer, `${claim.nonce} once more`, tenantId, paymentId],
    );
    await sql.query('set constraints all immediate');
    return sql.query(
      `select distinct relname from pg_locks join pg_class on pg_class.oid = relation
        where pid = pg_backend_pid() and relnamespace = 'archive'::regnamespace`,
    );
  });
  expect(locked).toEqual([]);
});

test('an id that nobody has opens few months, however many are closed', async () => {
  for (let n = 0; n < 24; n += 1)
    await openClosedMonth(owner, month(`${2005 + Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}`));
  const locks = (ask: (sql: Sql) => Promise<unknown>): Promise<number> =>
    world.database.transaction(async (sql) => {
      expect(await ask(sql)).toBeNull();
      const [row] = await sql.query<{ count: string }>('select count(*) from pg_locks where pid = pg_backend_pid()');
      return Number(row?.count);
    });
  const ids = ['ffffffff-ffff-7fff-bfff-ffffffffffff', '00000000-0000-7000-8000-000000000000'];
  for (const id of [newPaymentId(), newPaymentId(month('2006-02').fromMs), crypto.randomUUID(), ...ids]) {
    expect(await locks((sql) => findPublicPayment(sql, id)), id).toBeLessThan(160);
  }
  const [tenantId, accountId, jti] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const page = { host: 'a.example', path: '/', kind: 'read' as const, at: new Date() };
  expect(await locks((sql) => findLicence(sql, { accountId, jti }))).toBeLessThan(160);
  expect(await locks((sql) => findBoughtLicence(sql, { tenantId, paymentId: jti }))).toBeLessThan(160);
  expect(await locks((sql) => findLicenceOf(sql, { ...page, tenantId, buyer: { accountId } }))).toBeLessThan(160);
  expect(await locks((sql) => findCoveringPurchase(sql, { tenantId, offerId: jti }))).toBeLessThan(160);
});

test('no month is closed for whose readers the server has no room', async () => {
  for (let n = 0; n < 24; n += 1)
    await openClosedMonth(owner, month(`${2003 + Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}`));
  await expect(closeMonth(owner, month('2002-01'))).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/max_locks_per_transaction/),
  });
  expect(await closeMonth(owner, month('2004-01'))).toMatchObject({ kept: 0 });
});
