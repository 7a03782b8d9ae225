/** What an account is shown and told, of payments that really settle: the ledger's sums, and each threshold once, also when several pay at once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { listAlerts } from '../../modules/budgets/store/alerts.ts';
import { writeBudget } from '../../modules/budgets/store/budgets.ts';
import { previewSpending } from '../../modules/budgets/use/check.ts';
import { readSpendingBy, readSpendingSums, spendingOf } from '../../modules/budgets/use/usage.ts';
import type { Terms } from '../../modules/kernel/terms.ts';
import { settle } from '../../modules/settlement/use/accept/settle.ts';
import { addressOf } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

const LIMITS = { hostMicro: null, pageMicro: null, approveAboveMicro: null, isStopped: false };

let world: SettlementWorld;
/** Of another process. */
let beside: Database;
beforeAll(async () => {
  world = await startSettlement({ automine: true });
  beside = await openDatabase({ pipelined: true, url: world.appUrl, poolSize: 10 });
});
afterAll(async () => {
  await beside?.close();
  await world?.close();
});

async function newAccount(totalMicro: bigint, wallet: string | null = null): Promise<string> {
  const accountId = randomUUID();
  await world.database.query('insert into buyer_account (account_id, wallet) values ($1, $2)', [accountId, wallet]);
  await writeBudget(world.database, accountId, { ...LIMITS, period: 'month', totalMicro }, 0);
  return accountId;
}

const page = (priceMicro: bigint, host = 'alpha.example'): Terms => {
  const slug = randomUUID();
  const terms = termsFor(world, newAuthors(1n, 2n), { priceMicro });
  return { ...terms, host, slug, resource: `https://${host}/${slug}`, resourceKey: `${host}/${slug}` };
};

const reading = () => ({ reading: world.database, clock: Date.now });

/** What the ledger has of an account's payments. */
async function ledgerMicro(accountId: string): Promise<bigint> {
  const [row] = await world.database.query<{ micro: string }>(
    `select coalesce(sum(l.amount_micro), 0) as micro from leg l join account_spending a using (tenant_id, payment_id) where a.account_id = $1`,
    [accountId],
  );
  return BigInt(row?.micro ?? 0);
}

test('twenty payments over two processes: each threshold is told once, and what is shown is what the ledger paid', async () => {
  const accountId = await newAccount(20_000n);
  const payer = await newPayer(world);
  const purchases = await Promise.all(
    Array.from({ length: 22 }, async (_, n) => {
      const terms = page(1_000n, n % 2 === 0 ? 'alpha.example' : 'beta.example');
      return { terms, payment: await paymentFor(world, payer, terms) };
    }),
  );
  const outcomes = await Promise.allSettled(
    purchases.map(({ terms, payment }, n) => {
      const deps = n % 2 === 0 ? world.settleDeps : { ...world.settleDeps, database: beside };
      return settle(deps, { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {}, accountId });
    }),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);

  const sums = await readSpendingSums(reading(), accountId, {});
  expect(sums).toEqual({ payments: 20, settledMicro: 20_000n, openMicro: 0n });
  expect(sums.settledMicro).toBe(await ledgerMicro(accountId));
  const groups = await readSpendingBy(reading(), accountId, {}, { by: 'host', most: 10 });
  expect(groups.reduce((sum, { settledMicro }) => sum + settledMicro, 0n)).toBe(20_000n);
  const { rows } = await spendingOf.page(reading(), accountId, {}, { first: 50, after: null, orderBy: 'NEWEST' });
  expect(rows).toHaveLength(20);
  for (const { row } of rows)
    expect(row).toMatchObject({ outcome: 'settled', txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });

  const alerts = await listAlerts(world.database, accountId, 10);
  expect(new Map(alerts.map(({ percent, limitMicro }) => [percent, limitMicro]))).toEqual(
    new Map([50, 80, 100].map((percent) => [percent, 20_000n])),
  );
  expect(alerts).toHaveLength(3);
  for (const { percent, spentMicro } of alerts) expect(spentMicro * 100n).toBeGreaterThanOrEqual(20_000n * BigInt(percent));
});

test('a payment that fails counts as open and in no ledger, whatever its account is shown of the others', async () => {
  const accountId = await newAccount(1_000_000n);
  const poor = await newPayer(world, 0n);
  const terms = page(3_000n);
  const paid = page(5_000n);
  await expect(pay(world, terms, await paymentFor(world, poor, terms), { accountId })).rejects.toThrow();
  await pay(world, paid, await paymentFor(world, await newPayer(world), paid), { accountId });
  const sums = await readSpendingSums(reading(), accountId, {});
  expect(sums.settledMicro).toBe(5_000n);
  expect(sums.settledMicro).toBe(await ledgerMicro(accountId));
  expect(sums.settledMicro + sums.openMicro).toBeLessThanOrEqual(8_000n);
});

test('what a wallet pays at gates is shown to the wallet’s account, and to nobody else', async () => {
  const payer = await newPayer(world);
  const [owner, stranger] = [await newAccount(10_000n, addressOf(payer)), await newAccount(10_000n)];
  const terms = page(6_000n);
  await pay(world, terms, await paymentFor(world, payer, terms));
  expect(await readSpendingSums(reading(), owner, {})).toEqual({ payments: 1, settledMicro: 6_000n, openMicro: 0n });
  expect((await readSpendingSums(reading(), stranger, {})).payments).toBe(0);
  expect((await listAlerts(world.database, owner, 10)).map(({ percent }) => percent)).toEqual([50]);
  expect(await listAlerts(world.database, stranger, 10)).toEqual([]);
});

const toldOf = async (accountId: string) =>
  new Map(
    (await listAlerts(world.database, accountId, 20)).map(({ percent, limitMicro, spentMicro }) => [
      `${percent} of ${limitMicro}`,
      spentMicro,
    ]),
  );
const buy = async (accountId: string, priceMicro: bigint) => {
  const terms = page(priceMicro);
  return pay(world, terms, await paymentFor(world, await newPayer(world), terms), { accountId });
};
const refused = expect.objectContaining({ code: 'budget_exceeded' });

test('a purchase that what is left does not pay tells the owner, once a period, that the budget is used up', async () => {
  const accountId = await newAccount(10_000n);
  await expect(buy(accountId, 10_001n)).rejects.toEqual(refused);
  expect(await toldOf(accountId)).toEqual(new Map());
  await buy(accountId, 6_000n);
  expect(await toldOf(accountId)).toEqual(new Map([['50 of 10000', 6_000n]]));
  const attempts = await Promise.allSettled([buy(accountId, 5_000n), buy(accountId, 4_500n), buy(accountId, 4_001n)]);
  expect(attempts.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  const used = [
    ['50 of 10000', 6_000n],
    ['100 of 10000', 6_000n],
  ] as const;
  expect(await toldOf(accountId)).toEqual(new Map(used));
  await buy(accountId, 4_000n);
  await expect(buy(accountId, 1n)).rejects.toEqual(refused);
  expect(await toldOf(accountId)).toEqual(new Map([...used, ['80 of 10000', 10_000n]]));
  expect(await listAlerts(world.database, accountId, 20)).toHaveLength(3);
});

test('who only asks for the price of what does not fit is told the same, and its owner too', async () => {
  const accountId = await newAccount(10_000n);
  await buy(accountId, 2_000n);
  const asked = { ...page(9_000n), purpose: 'page', amountMicro: 9_000n } as const;
  for (let n = 0; n < 3; n++) expect(await previewSpending(world, accountId, asked)).toMatchObject({ code: 'budget_exceeded' });
  expect(await toldOf(accountId)).toEqual(new Map([['100 of 10000', 2_000n]]));
});

test('a limit of a host, of a page or a stop tells nothing of the whole budget', async () => {
  const accountId = await newAccount(100_000n);
  for (const [version, limits] of [{ hostMicro: 10n }, { pageMicro: 10n }, { isStopped: true }].entries()) {
    await writeBudget(world.database, accountId, { ...LIMITS, ...limits, period: 'month', totalMicro: 100_000n }, version + 1);
    await expect(buy(accountId, 11n)).rejects.toEqual(refused);
  }
  expect(await toldOf(accountId)).toEqual(new Map());
});

test('a limit that is set below what was spent tells the thresholds that it has behind it, each once a period', async () => {
  const accountId = await newAccount(10_000n);
  await buy(accountId, 6_000n);
  let version = 1;
  const allow = (totalMicro: bigint) =>
    writeBudget(world.database, accountId, { ...LIMITS, period: 'month', totalMicro }, version++);
  const told = new Map([['50 of 10000', 6_000n]]);
  await allow(9_000n);
  expect(await toldOf(accountId)).toEqual(told);
  await allow(7_000n);
  expect(await toldOf(accountId)).toEqual(told.set('80 of 7000', 6_000n));
  await allow(20_000n);
  await allow(7_000n);
  await allow(6_001n);
  expect(await toldOf(accountId)).toEqual(told.set('50 of 7000', 6_000n));
  await allow(6_000n);
  expect(await toldOf(accountId)).toEqual(told.set('100 of 6000', 6_000n));
  await expect(buy(accountId, 1n)).rejects.toEqual(refused);
  expect(await listAlerts(world.database, accountId, 20)).toHaveLength(told.size);
});
