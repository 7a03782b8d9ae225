/** What was paid in a month that is closed stays paid: its authorization is shown again, its money may be traced again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { requestRecheck } from '../../modules/operations/store/admin.ts';
import { closeMonth, detachMonth } from '../../modules/operations/use/months.ts';
import { recordActualLegs } from '../../modules/reconciliation/store/corrections.ts';
import { findByAuthorization } from '../../modules/settlement/store/intake.ts';
import { boughtIn, month } from '../support/closedMonths.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, pay, startSettlement } from '../support/settlement.ts';

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

const crossingsOf = async (paymentId: string): Promise<readonly { sequence: number; place: string }[]> =>
  owner.query(
    `select sequence, 'open' as place from crossing where payment_id = $1
      union all select sequence, 'closed' from archive.crossing where payment_id = $1 order by 1`,
    [paymentId],
  );
const sentBatches = async (): Promise<number> =>
  Number((await owner.query<{ count: string }>('select count(*) from settlement_batch'))[0]?.count);

test('an authorization of a closed month is answered as before and charged once, by many callers at once', async () => {
  const old = month('2015-03');
  const { receipt, paymentId, terms, payment, claim } = await boughtIn({ world, owner }, old);
  const again = () => pay(world, terms, payment);
  expect(await closeMonth(owner, old)).toMatchObject({ payments: 1, kept: 0 });
  expect(await crossingsOf(paymentId)).toEqual([{ sequence: 0, place: 'closed' }]);
  const before = await sentBatches();

  const answers = await Promise.all([again(), again(), again()]);
  for (const answer of answers) expect(answer).toMatchObject({ settlementRef: receipt.settlementRef, payer: receipt.payer });
  expect(await sentBatches()).toBe(before);
  expect(await crossingsOf(paymentId)).toEqual([{ sequence: 0, place: 'open' }]);
  for (let turn = 0; turn < 5; turn += 1) {
    expect(await closeMonth(owner, old)).toMatchObject({ payments: 1 });
    const found = await Promise.all(Array.from({ length: 6 }, () => findByAuthorization(world.database, claim)));
    expect(found.map((payment) => payment?.paymentId)).toEqual(Array.from({ length: 6 }, () => paymentId));
  }
  expect(await again()).toMatchObject({ settlementRef: receipt.settlementRef });
});

test('an authorization whose month is detached is refused as used, and nothing is sent', async () => {
  const old = month('2012-06');
  const { terms, payment } = await boughtIn({ world, owner }, old);
  const again = () => pay(world, terms, payment);
  await closeMonth(owner, old);
  await detachMonth(owner, old);
  const before = await sentBatches();
  await expect(again()).rejects.toMatchObject({
    code: 'authorization_invalid',
    message: expect.stringMatching(/no longer stored here/),
  });
  expect(await sentBatches()).toBe(before);
});

test('a flush that pays authors of a closed month corrects their legs, and an operator may have its payment looked at again', async () => {
  const old = month('2014-09');
  const authors = newAuthors(2n, 1n);
  const { paymentId, tenantId } = await boughtIn({ world, owner }, old, authors);
  await closeMonth(owner, old);
  const [sold] = await owner.query<{ legs: { toAddress: string; amountMicro: string }[] }>(
    'select legs from archive.crossing where payment_id = $1',
    [paymentId],
  );
  const [first, second] = sold?.legs ?? [];
  const amounts = new Map([
    [first?.toAddress ?? '', BigInt(first?.amountMicro ?? 0) - 1n],
    [second?.toAddress ?? '', BigInt(second?.amountMicro ?? 0) + 1n],
  ]);
  expect(await recordActualLegs(world.database, { tenantId, paymentId }, amounts)).toBe(true);
  expect(await crossingsOf(paymentId)).toEqual([0, 1, 2].map((sequence) => ({ sequence, place: 'open' })));

  const other = month('2014-10');
  const looked = await boughtIn({ world, owner }, other);
  await closeMonth(owner, other);
  expect(await requestRecheck(world.database, looked)).toBe(true);
  expect(await crossingsOf(looked.paymentId)).toEqual([{ sequence: 0, place: 'open' }]);
});
