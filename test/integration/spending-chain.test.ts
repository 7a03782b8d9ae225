/** What an account is shown and told, of payments that really settle: the ledger's sums, and each threshold once whoever pays at once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAlerts } from '../../db/budget/alerts.ts';
import { writeBudget } from '../../db/budget/budgets.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { Terms } from '../../domain/pricing/terms.ts';
import { readSpendingBy, readSpendingSums, spendingOf } from '../../services/budget/usage.ts';
import { settle } from '../../services/settlement/accept/settle.ts';
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

test('twenty payments over two processes: each threshold is told once, and what is shown is what the ledger paid', {
  timeout: 120_000,
}, async () => {
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

test('a payment that fails counts as open and in no ledger, whatever its account is shown of the others', {
  timeout: 120_000,
}, async () => {
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

test('what a wallet pays at gates is shown to the wallet’s account, and to nobody else', { timeout: 120_000 }, async () => {
  const payer = await newPayer(world);
  const [owner, stranger] = [await newAccount(10_000n, addressOf(payer)), await newAccount(10_000n)];
  const terms = page(6_000n);
  await pay(world, terms, await paymentFor(world, payer, terms));
  expect(await readSpendingSums(reading(), owner, {})).toEqual({ payments: 1, settledMicro: 6_000n, openMicro: 0n });
  expect((await readSpendingSums(reading(), stranger, {})).payments).toBe(0);
  expect((await listAlerts(world.database, owner, 10)).map(({ percent }) => percent)).toEqual([50]);
  expect(await listAlerts(world.database, stranger, 10)).toEqual([]);
});
