/** What an account may spend, on real Postgres and a real chain: never a micro more, also when several pay at once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { Budget } from '../../modules/budgets/rules/decide.ts';
import { periodOf } from '../../modules/budgets/rules/period.ts';
import { decideApproval, listApprovals, listApproved, useApprovals } from '../../modules/budgets/store/approvals.ts';
import { closeInSlices, lockAccounts, readOpenLedger, writeBudget } from '../../modules/budgets/store/budgets.ts';
import type { NewSpending } from '../../modules/budgets/store/spending.ts';
import { decideSpendings } from '../../modules/budgets/store/spending.ts';
import { previewSpending } from '../../modules/budgets/use/check.ts';
import type { Terms } from '../../modules/kernel/terms.ts';
import { settle } from '../../modules/settlement/use/accept/settle.ts';
import { addressOf } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';
import { growSpending } from '../support/spending.ts';
import { query } from '../support/sql.ts';

let world: SettlementWorld;
/** Of another process. */
let beside: Database;
let accountId: string;
beforeAll(async () => {
  world = await startSettlement({ automine: true });
  beside = await openDatabase({ pipelined: true, url: world.appUrl, poolSize: 10 });
});
afterAll(async () => {
  await beside?.close();
  await world?.close();
});
beforeEach(async () => {
  accountId = await newAccountRow();
});

async function newAccountRow(wallet: string | null = null): Promise<string> {
  const id = randomUUID();
  await world.database.query('insert into buyer_account (account_id, wallet) values ($1, $2)', [id, wallet]);
  return id;
}

const FREE: Budget = {
  period: 'month',
  totalMicro: 1_000_000n,
  hostMicro: null,
  pageMicro: null,
  approveAboveMicro: null,
  isStopped: false,
};
async function allow(changes: Partial<Budget>, id = accountId): Promise<void> {
  const version = (await readOpenLedger(world.database, id))?.budget?.version ?? 0;
  const written = await writeBudget(world.database, id, { ...FREE, ...changes }, version);
  if (typeof written === 'string') throw new Error(written);
}
const spentMicro = async (id = accountId) => (await readOpenLedger(world.database, id))?.spentMicro.get('') ?? 0n;

/** A page of one author, at a price and a host. */
const page = (priceMicro = 1_000n, host = 'alpha.example'): Terms => {
  const slug = randomUUID();
  const terms = termsFor(world, newAuthors(1n), { priceMicro });
  return { ...terms, host, slug, resource: `https://${host}/${slug}`, resourceKey: `${host}/${slug}` };
};
const buy = async (terms: Terms, changes: Partial<Parameters<typeof pay>[3]> = {}) =>
  pay(world, terms, await paymentFor(world, await newPayer(world), terms), { accountId, ...changes });
const state = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'paid',
    (error: { code?: string; details?: { spending?: { limit: string } } }) =>
      `${error.code}${error.details?.spending ? ` ${error.details.spending.limit}` : ''}`,
  );

test('fifty payments at once over two processes never spend a micro more than the budget', async () => {
  await allow({ totalMicro: 17_400n });
  const payer = await newPayer(world);
  const purchases = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const terms = page();
      return { terms, payment: await paymentFor(world, payer, terms) };
    }),
  );
  const outcomes = await Promise.all(
    purchases.map(({ terms, payment }, index) => {
      const deps = index % 2 === 0 ? world.settleDeps : { ...world.settleDeps, database: beside };
      return state(settle(deps, { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {}, accountId }));
    }),
  );
  expect(outcomes.filter((one) => one === 'paid')).toHaveLength(17);
  expect(outcomes.filter((one) => one === 'budget_exceeded total')).toHaveLength(33);
  expect(await spentMicro()).toBe(17_000n);
  const [row] = await world.database.query('select count(*)::int as rows from account_spending where account_id = $1', [
    accountId,
  ]);
  expect(row).toEqual({ rows: 17 });
  expect(await state(buy(page(400n)))).toBe('paid');
  expect(await state(buy(page(1n)))).toBe('budget_exceeded total');
});

test('limits, period and stop that change while forty pay over two processes: never above the largest, and the counters are what the rows are', async () => {
  const payer = await newPayer(world);
  const walletAccount = await newAccountRow(addressOf(payer).toLowerCase());
  await allow({ period: 'day', totalMicro: 9_000n, hostMicro: 6_000n });
  await allow({ totalMicro: 14_500n }, walletAccount);
  const purchases = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const terms = page(1_000n, index % 2 === 0 ? 'alpha.example' : 'beta.example');
      return { terms, payment: await paymentFor(world, payer, terms) };
    }),
  );
  const changes: Partial<Budget>[] = [
    { period: 'month', totalMicro: 12_300n, hostMicro: 7_000n },
    { isStopped: true },
    { period: 'week', totalMicro: 12_300n, hostMicro: 6_500n },
    { period: 'day', totalMicro: 12_300n, hostMicro: 6_500n },
  ];
  const change = async (): Promise<void> => {
    for (const one of changes) await allow(one);
  };
  const [outcomes] = await Promise.all([
    Promise.all(
      purchases.map(({ terms, payment }, index) => {
        const deps = index % 3 === 0 ? world.settleDeps : { ...world.settleDeps, database: beside };
        return state(settle(deps, { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {}, accountId }));
      }),
    ),
    change(),
  ]);
  const paid = outcomes.filter((one) => one === 'paid').length;
  expect(
    outcomes.every((one) => /^paid$|^budget_exceeded (total|host|stopped)$/.test(one)),
    outcomes.join(),
  ).toBe(true);
  expect(paid).toBeLessThanOrEqual(12);
  for (const id of [accountId, walletAccount]) {
    const counted = await world.database.query(
      'select host, sum(micro)::int as micro from account_spent where account_id = $1 group by 1 order by 1',
      [id],
    );
    const rows = await world.database.query(
      `select coalesce(host, '') as host, sum(amount_micro)::int as micro from account_spending where account_id = $1
        group by grouping sets ((), (host)) having count(*) > 0 order by 1`,
      [id],
    );
    expect(counted).toEqual(rows);
    expect(await spentMicro(id)).toBe(BigInt(paid) * 1_000n);
  }
});

test('what a budget refuses leaves nothing behind: the same authorization is taken once the budget lets it, and its request keys by another one', async () => {
  await allow({ totalMicro: 999n });
  const terms = page();
  const payer = await newPayer(world);
  const signed = await paymentFor(world, payer, terms);
  const paymentIdentifier = `pay_${'8'.repeat(28)}`;
  const payment = { ...signed, paymentIdentifier };
  const named = { accountId, idempotencyKey: randomUUID() };
  expect(await state(pay(world, terms, payment, named))).toBe('budget_exceeded total');
  const { from, nonce } = payment.authorization;
  for (const [table, where] of [
    ['authorization_claim', `digest = authorization_digest('${terms.network}', '${terms.asset}', '${from}', '${nonce}')`],
    ['payment_intake', `nonce = '${nonce}'`],
    ['observation', `slug = '${terms.slug}'`],
    ['idempotency_key', `tenant_id = '${terms.tenantId}' and (key = 'key:${named.idempotencyKey}' or key like 'id:${from}:%')`],
  ]) {
    expect(await world.database.query(`select 1 from ${table} where ${where}`)).toEqual([]);
  }
  await allow({ totalMicro: 2_000n });
  const other = page();
  const instead = { ...(await paymentFor(world, payer, other)), paymentIdentifier };
  expect(await state(pay(world, other, instead, named))).toBe('paid');
  expect(await state(pay(world, terms, payment, { accountId }))).toBe('authorization_invalid');
  expect(await state(pay(world, terms, signed, named))).toBe('invalid_parameter');
  expect(await state(pay(world, terms, signed, { accountId }))).toBe('paid');
});

test('a payment of no account waits for no account’s lock, not even where it names the request key of a payment that does', async () => {
  await allow({});
  const idempotencyKey = randomUUID();
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = beside.transaction(async (sql) => {
    await lockAccounts(sql, [accountId]);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const waits = state(buy(page(), { idempotencyKey }));
  const waiting = () => world.database.query('select from pg_locks where not granted');
  await expect.poll(waiting, { timeout: 10_000 }).not.toHaveLength(0);
  const terms = page();
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect(await state(pay(world, terms, payment, { idempotencyKey }))).toBe('paid');
  released.resolve();
  await holder;
  expect(await waits).toBe('invalid_parameter'); // its key is another payment's now
});

test('one authorization shown at once for two pages is decided for each: only its claim tells which is made', async () => {
  await allow({ pageMicro: 1_000n, hostMicro: 1_000n });
  expect(await state(buy(page(500n, 'beta.example')))).toBe('paid');
  const ask = (host: string): NewSpending => {
    const { resource, resourceKey, kind, priceMicro: amountMicro, tenantId } = page(1_000n, host);
    const shown = { tenantId, paymentId: randomUUID(), accounts: [accountId], hasMoved: false };
    return { ...shown, host, resource, resourceKey, kind, purpose: 'page', amountMicro };
  };
  const [first, second] = [ask('alpha.example'), ask('beta.example')];
  const { refusals } = await world.database.transaction(async (sql) => {
    await lockAccounts(sql, [accountId]);
    return decideSpendings(sql, [first, second]);
  });
  expect([...refusals].map(([id, { decision }]) => [id, decision])).toEqual([
    [second.paymentId, { kind: 'exceeded', limit: 'host', limitMicro: 1_000n, spentMicro: 500n }],
  ]);
});

test('a change of period at midnight keeps what is counted on either side of it', async () => {
  await allow({ period: 'month' });
  for (const micro of [100n, 200n, 300n]) expect(await state(buy(page(micro)))).toBe('paid');
  const { startMs, endMs } = periodOf('day', (await readOpenLedger(world.database, accountId))?.at.getTime() ?? 0);
  const asOwner = (statement: string, values: readonly unknown[]) => query(world.ownerUrl, statement, values);
  // As of transactions that began before midnight and got the lock after it, or the other way round.
  const moments = [startMs - 1, startMs, endMs];
  for (const [index, ms] of moments.entries()) {
    await asOwner('update account_spending set at = $3 where account_id = $1 and amount_micro = $2', [
      accountId,
      (index + 1) * 100,
      new Date(ms),
    ]);
  }
  await allow({ period: 'day' });
  const rows = await world.database.query<{ start: Date; micro: string }>(
    "select period_start as start, micro from account_spent where account_id = $1 and host = '' order by 1",
    [accountId],
  );
  expect(rows.map(({ start, micro }) => [start.getTime(), Number(micro)])).toEqual([
    [periodOf('day', startMs - 1).startMs, 100],
    [startMs, 200],
    [endMs, 300],
  ]);
});

test('a process that dies right after the row neither loses what counts nor counts it twice', async () => {
  await allow({ totalMicro: 1_500n });
  const terms = page();
  const payment = await paymentFor(world, await newPayer(world), terms);
  const request = { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {}, accountId } as const;
  const dies = (): never => {
    throw new Error('the process died here');
  };
  await expect(settle({ ...world.settleDeps, crashAt: dies }, request)).rejects.toThrow('died here');
  expect(await spentMicro()).toBe(1_000n);
  expect(await state(buy(page()))).toBe('budget_exceeded total');
  expect(await state(settle({ ...world.settleDeps, database: beside }, request))).toBe('paid');
  expect(await spentMicro()).toBe(1_000n);
});

test('one authorization shown twenty times at once counts once', async () => {
  await allow({ totalMicro: 1_500n });
  const terms = page();
  const payment = await paymentFor(world, await newPayer(world), terms);
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const deps = index % 2 === 0 ? world.settleDeps : { ...world.settleDeps, database: beside };
      return state(settle(deps, { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {}, accountId }));
    }),
  );
  expect(new Set(outcomes)).toEqual(new Set(['paid']));
  expect(await spentMicro()).toBe(1_000n);
  expect(await state(pay(world, terms, payment, { accountId }))).toBe('paid');
});

describe('limits', () => {
  test('a host gets no more than a host may get, and others get theirs', async () => {
    await allow({ hostMicro: 1_500n });
    expect(await state(buy(page(1_000n)))).toBe('paid');
    expect(await state(buy(page(1_000n)))).toBe('budget_exceeded host');
    expect(await state(buy(page(1_000n, 'beta.example')))).toBe('paid');
    expect(await state(buy(page(500n)))).toBe('paid');
  });

  test('a page above the price of a page is refused', async () => {
    await allow({ pageMicro: 999n });
    expect(await state(buy(page(1_000n)))).toBe('budget_exceeded page');
    expect(await state(buy(page(999n)))).toBe('paid');
  });

  test('an account that is stopped buys nothing from the very next call on', async () => {
    await allow({});
    expect(await state(buy(page()))).toBe('paid');
    await allow({ isStopped: true });
    expect(await state(buy(page()))).toBe('budget_exceeded stopped');
    await allow({ isStopped: false });
    expect(await state(buy(page()))).toBe('paid');
  });

  test('an account without a budget buys, and what it bought counts once it has one', async () => {
    expect(await state(buy(page()))).toBe('paid');
    await allow({ totalMicro: 1_500n });
    expect(await spentMicro()).toBe(1_000n);
    expect(await state(buy(page()))).toBe('budget_exceeded total');
  });

  test('the wallet of an account spends its budget wherever it pays, beside that of the account that buys', async () => {
    const payer = await newPayer(world);
    const owner = await newAccountRow(addressOf(payer));
    await allow({ totalMicro: 1_500n }, owner);
    const at = async (terms: Terms, id?: string) =>
      state(pay(world, terms, await paymentFor(world, payer, terms), id ? { accountId: id } : {}));
    expect(await at(page())).toBe('paid');
    expect(await at(page())).toBe('budget_exceeded total');
    await allow({ totalMicro: 10_000n });
    expect(await at(page(), accountId)).toBe('budget_exceeded total');
    await allow({ totalMicro: 2_000n }, owner);
    expect(await at(page(), accountId)).toBe('paid');
    expect([await spentMicro(), await spentMicro(owner)]).toEqual([1_000n, 2_000n]);
  });

  test('another period counts what it holds so far', async () => {
    await allow({ period: 'month', totalMicro: 5_000n });
    expect(await state(buy(page()))).toBe('paid');
    await world.database.query("update account_spending set state = 'open' where account_id = $1", [accountId]);
    await allow({ period: 'day', totalMicro: 1_500n });
    expect(await spentMicro()).toBe(1_000n);
    expect(await state(buy(page()))).toBe('budget_exceeded total');
    await allow({ period: 'week', totalMicro: 2_000n });
    expect(await state(buy(page()))).toBe('paid');
    expect(await state(buy(page()))).toBe('budget_exceeded total');
  });

  test('two changes of a budget at once: one is told that it changed', async () => {
    await allow({});
    const both = await Promise.all([
      writeBudget(world.database, accountId, FREE, 1),
      writeBudget(beside, accountId, { ...FREE, isStopped: true }, 1),
    ]);
    expect(both.filter((one) => one === 'changed')).toHaveLength(1);
  });
});

describe('what failed', () => {
  const fail = (watched: boolean) =>
    world.database.query(
      `update payment_state set state = 'failed', reason = 'settlement_failed', watched = $2, decided_at = now()
        where payment_id in (select payment_id from account_spending where account_id = $1)`,
      [accountId, watched],
    );

  test('counts while its authorization may still move money, and not after that', async () => {
    await allow({ totalMicro: 1_500n });
    expect(await state(buy(page()))).toBe('paid');
    await fail(true);
    expect(await state(buy(page()))).toBe('budget_exceeded total');
    expect(await spentMicro()).toBe(1_000n);
    await fail(false);
    expect(await spentMicro()).toBe(0n);
    for (const totalMicro of [1_400n, 1_500n]) {
      await allow({ totalMicro });
      expect(await spentMicro()).toBe(0n);
    }
    expect(await state(buy(page()))).toBe('paid');
  });

  test('is released by the payment that needs the room', async () => {
    await allow({ totalMicro: 1_500n });
    expect(await state(buy(page()))).toBe('paid');
    await fail(false);
    expect(await state(buy(page()))).toBe('paid');
    expect(await spentMicro()).toBe(1_000n);
  });
});

test('what is read is what the budget holds, whatever was closed of it; payments wait for two hundred that are closed', async () => {
  expect(await state(buy(page()))).toBe('paid');
  await growSpending(world.database, accountId, 900);
  const read = async () => (await readOpenLedger(world.database, accountId, 'alpha.example'))?.spentMicro;
  const open = async () =>
    (await world.database.query("select from account_spending where account_id = $1 and state = 'open'", [accountId])).length;
  await allow({ period: 'day' });
  // The one that was paid, and of 900 those that settled and those that are on their way; of what is decided 200 were closed with the change.
  const held = new Map(['', 'alpha.example'].map((host) => [host, 601_000n]));
  expect([await read(), await open()]).toEqual([held, 701]);
  const closedAtOnce: number[] = [];
  const database: Database = {
    ...world.database,
    transaction: async (work, isolation) => {
      const before = await open();
      const result = await world.database.transaction(work, isolation);
      closedAtOnce.push(before - (await open()));
      return result;
    },
  };
  await closeInSlices(database, accountId);
  expect([closedAtOnce, await read()]).toEqual([[200, 200], held]);
});

describe('what waits for the owner', () => {
  const buyPage = async (terms: Terms) => {
    const payment = await paymentFor(world, await newPayer(world), terms);
    return pay(world, terms, payment, { accountId });
  };

  test('one yes is good for one payment of that page at that price', async () => {
    await allow({ approveAboveMicro: 500n });
    const terms = page();
    expect(await state(buyPage(terms))).toBe('approval_required approval');
    expect(await state(buyPage(terms))).toBe('approval_required approval');
    const [asked, ...more] = await listApprovals(world.database, accountId, 10);
    expect([asked, more]).toEqual([
      expect.objectContaining({ resource: terms.resource, amountMicro: 1_000n, state: 'asked' }),
      [],
    ]);
    const word = { accountId, approvalId: asked?.approvalId ?? '', isApproved: true };
    expect(await decideApproval(world.database, { ...word, accountId: await newAccountRow() })).toBeNull();
    expect(await decideApproval(world.database, word)).toMatchObject({ state: 'approved' });
    expect(await state(buyPage(page()))).toBe('approval_required approval');
    expect(await state(buyPage({ ...terms, kind: 'citation' }))).toBe('approval_required approval');
    expect(await state(buyPage(terms))).toBe('paid');
    expect(await state(buyPage(terms))).toBe('approval_required approval');
    expect(await decideApproval(world.database, word)).toBeNull();
  });

  test('two payments at once on one yes: one is paid', async () => {
    await allow({ approveAboveMicro: 500n });
    const terms = page();
    await previewSpending(world, accountId, { ...terms, purpose: 'page', amountMicro: 1_000n });
    const [asked] = await listApprovals(world.database, accountId, 10);
    await decideApproval(world.database, { accountId, approvalId: asked?.approvalId ?? '', isApproved: true });
    const payers = [await newPayer(world), await newPayer(world)];
    const outcomes = await Promise.all(
      payers.map(async (payer, index) => {
        const payment = await paymentFor(world, payer, terms);
        const deps = index === 0 ? world.settleDeps : { ...world.settleDeps, database: beside };
        return state(settle(deps, { tenantId: terms.tenantId, keyId: null, mode: 'live', terms, payment, agent: {}, accountId }));
      }),
    );
    expect(outcomes.toSorted()).toEqual(['approval_required approval', 'paid']);
  });

  test('a yes that a payment is let through on cannot be taken back meanwhile', async () => {
    await allow({ approveAboveMicro: 500n });
    const terms = page();
    await previewSpending(world, accountId, { ...terms, purpose: 'page', amountMicro: 1_000n });
    const [asked] = await listApprovals(world.database, accountId, 1);
    const word = { accountId, approvalId: asked?.approvalId ?? '' };
    await decideApproval(world.database, { ...word, isApproved: true });
    await world.database.transaction(async (sql) => {
      await lockAccounts(sql, [accountId]);
      const yeses = await listApproved(sql, [accountId], [terms.resourceKey]);
      const takenBack = beside.transaction(async (other) => {
        await other.query("set local lock_timeout = '100ms'");
        return decideApproval(other, { ...word, isApproved: false });
      });
      await expect(takenBack).rejects.toThrow(/lock timeout/);
      await useApprovals(sql, yeses);
    });
    expect(await decideApproval(world.database, { ...word, isApproved: false })).toBeNull();
  });

  test('a hundred purchases wait at most, and a no is not asked again', async () => {
    await allow({ approveAboveMicro: 500n });
    const ask = (terms: Terms) => previewSpending(world, accountId, { ...terms, purpose: 'page', amountMicro: terms.priceMicro });
    const first = page();
    await ask(first);
    const [asked] = await listApprovals(world.database, accountId, 1);
    await decideApproval(world.database, { accountId, approvalId: asked?.approvalId ?? '', isApproved: false });
    expect((await ask(first))?.details.spending?.approvalId).toBe(asked?.approvalId);
    for (let n = 0; n < 100; n++) await ask(page());
    expect((await ask(page()))?.details.spending?.approvalId).toBeNull();
    const waiting = (await listApprovals(world.database, accountId, 200)).filter(({ state: of }) => of === 'asked');
    expect(waiting).toHaveLength(100);
  });
});

test('a look at a budget counts nothing', async () => {
  await allow({ totalMicro: 1_000n });
  const look = () => previewSpending(world, accountId, { ...page(), purpose: 'page', amountMicro: 1_000n });
  for (let n = 0; n < 3; n++) expect(await look()).toBeNull();
  expect(await state(buy(page()))).toBe('paid');
  expect((await look())?.code).toBe('budget_exceeded');
});
