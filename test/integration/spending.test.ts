/** What an account spent, as a list, as sums and as a file: its own rows alone, and to the micro what the ledger says. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spendingState } from '../../modules/budgets/rules/decide.ts';
import { spendingOutcome } from '../../modules/budgets/store/standing.ts';
import { exportSpending, spendingOf } from '../../modules/budgets/use/usage.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintAccountToken } from '../../modules/identity/use/accounts/token.ts';
import { isSettled, PAYMENT_STATES } from '../../modules/kernel/payment/state.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import { insertPurchases } from '../support/reports.ts';

const LIST = '/_svc/accounts/spending';
const FILE = '/_svc/accounts/spending.csv';
const T0 = Date.UTC(2026, 10, 20);

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

async function openAccount() {
  const { accountId, token: agent } = await createBuyerAccount(api.deps, { name: 'reader' });
  return { accountId, agent, owner: (await mintAccountToken(api.deps, { accountId, isOwner: true })).token };
}

interface Bought {
  readonly host: string;
  readonly tenantId: string;
  readonly page?: string;
  readonly micro: number;
  readonly atMs?: number;
  readonly isLicence?: boolean;
  readonly resource?: string;
}

/** Payments of the ledger that count against an account, the first the newest. */
async function spend(accountId: string, bought: readonly Bought[]): Promise<string[]> {
  const { database } = api.deps;
  const paymentIds = await insertPurchases(
    database,
    bought.map(({ host, tenantId, micro, page = 'a', isLicence = false, atMs = T0, resource }) => ({
      ...({ host, tenantId, slug: page, kind: 'read', steps: 1, atMs, isLicence } as const),
      resource: resource ?? `https://${host}/${page}`,
      legs: [{ toAddress: WALLETS[0] as string, amountMicro: micro }],
    })),
  );
  const rows = bought.map(({ isLicence, atMs = T0, ...one }, index) => ({
    ...one,
    purpose: isLicence ? 'licence' : 'page',
    payment: paymentIds[index],
    at: new Date(atMs),
  }));
  await database.query(
    `insert into account_spending (account_id, tenant_id, payment_id, host, resource_key, kind, purpose, amount_micro, at)
     select $1, "tenantId", payment, host, 'x', 'read', purpose, micro, at from jsonb_to_recordset($2) as row
       ("tenantId" uuid, payment uuid, host text, purpose text, micro bigint, at timestamptz)`,
    [accountId, JSON.stringify(rows)],
  );
  return paymentIds;
}

const setState = (paymentId: string | undefined, state: string, watched: boolean): Promise<unknown> =>
  api.deps.database.query(
    "update payment_state set state = $2, watched = $3, reason = case when $2 = 'failed' then 'settlement_failed' end where payment_id = $1",
    [paymentId, state, watched],
  );

/** What the ledger has of payments, corrections included. */
async function ledgerMicro(accountId: string): Promise<number> {
  const [row] = await api.deps.database.query<{ micro: string }>(
    `select coalesce(sum(c.micro), 0) as micro from crossing c join account_spending a using (tenant_id, payment_id) where a.account_id = $1`,
    [accountId],
  );
  return Number(row?.micro);
}

/** Rows of a file without quotes, by their columns. */
function rowsOf(csv: string): Record<string, string>[] {
  const [head = '', ...lines] = csv.trimEnd().split('\r\n');
  const columns = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, n) => [columns[n] as string, cell])));
}

const get = (path: string, key: string) => api.request(path, { key });

test('list, sums, groups and file tell the same payments, and what settled is what the ledger says', async () => {
  const [mine, theirs, site, other] = [await openAccount(), await openAccount(), await api.site(), await api.site()];
  const ids = await spend(mine.accountId, [
    { ...site, page: 'a', micro: 1_000, atMs: T0 + 4 },
    { ...site, page: 'b', micro: 20_000, atMs: T0 + 3 },
    { ...other, page: 'a', micro: 300_000, atMs: T0 + 2 },
    { ...other, page: 'c', micro: 4_000_000, atMs: T0 + 1, isLicence: true },
  ]);
  await spend(theirs.accountId, [{ ...site, micro: 7 }]);
  const { body } = await get(`${LIST}?groupBy=host`, mine.owner);
  expect(body.totals).toEqual({ payments: 4, settledMicro: 4_321_000, openMicro: 0 });
  expect(body.totals.settledMicro).toBe(await ledgerMicro(mine.accountId));
  expect(body.groups).toEqual([
    { key: other.host, payments: 2, settledMicro: 4_300_000, openMicro: 0 },
    { key: site.host, payments: 2, settledMicro: 21_000, openMicro: 0 },
  ]);
  expect(body.spending.map(({ amountMicro }: { amountMicro: number }) => amountMicro)).toEqual([
    1_000, 20_000, 300_000, 4_000_000,
  ]);
  expect(body.spending[0]).toMatchObject({
    at: T0 + 4,
    host: site.host,
    resource: `https://${site.host}/a`,
    kind: 'read',
    purpose: 'page',
    outcome: 'settled',
    reason: null,
    network: 'eip155:84532',
    settlementRefKind: 'txHash',
    licenceJti: null,
  });
  expect(body.spending[3]).toMatchObject({ purpose: 'licence', licenceJti: ids[3] });
  const pages = await get(`${LIST}?groupBy=page&host=${other.host.toUpperCase()}`, mine.agent);
  expect(pages.body.groups.map(({ key }: { key: string }) => key)).toEqual([
    `https://${other.host}/c`,
    `https://${other.host}/a`,
  ]);

  const file = await get(FILE, mine.owner);
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const rows = rowsOf(file.body);
  expect(rows.map((row) => Number(row['amount_micro']))).toEqual([4_000_000, 300_000, 20_000, 1_000]);
  expect(rows.map((row) => row['settlement_ref'])).toEqual(
    body.spending.toReversed().map(({ settlementRef }: { settlementRef: string }) => settlementRef),
  );
  expect(rows[0]).toMatchObject({ purpose: 'licence', licence_jti: ids[3], amount_usdc: '4.000000', outcome: 'settled' });
});

test('what failed counts while its authorization may still be used, and no more afterwards', async () => {
  const [{ accountId, owner }, site] = [await openAccount(), await api.site()];
  const [settled, held, watched, over, followed] = await spend(
    accountId,
    [1, 10, 100, 1_000, 10_000].map((micro) => ({ ...site, micro: micro * 1_000 })),
  );
  await setState(settled, 'settled', true);
  await setState(held, 'held', true);
  await setState(watched, 'failed', true);
  await setState(over, 'expired', false);
  await setState(followed, 'superseded', false);
  const { body } = await get(LIST, owner);
  expect(body.totals).toEqual({ payments: 5, settledMicro: 1_000, openMicro: 110_000 });
  const outcomes = body.spending.map((row: { amountMicro: number; outcome: string }) => [row.amountMicro, row.outcome]);
  expect(new Map(outcomes)).toEqual(
    new Map([
      ...([
        [1_000, 'settled'],
        [10_000, 'open'],
        [100_000, 'open'],
      ] as const),
      ...([
        [1_000_000, 'released'],
        [10_000_000, 'released'],
      ] as const),
    ]),
  );
  const open = await get(`${LIST}?outcome=open`, owner);
  expect(open.body.totals).toEqual({ payments: 2, settledMicro: 0, openMicro: 110_000 });
  expect(rowsOf((await get(`${FILE}?outcome=released`, owner)).body)).toHaveLength(2);
});

test('a list goes on at its cursor, whatever is bought meanwhile; a window holds its first moment and not its last', async () => {
  const [{ accountId, owner }, site] = [await openAccount(), await api.site()];
  await spend(
    accountId,
    Array.from({ length: 7 }, (_, n) => ({ ...site, micro: n + 1, atMs: T0 + Math.floor(n / 2) })),
  );
  const seen: number[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await get(`${LIST}?limit=3${cursor ? `&cursor=${cursor}` : ''}`, owner);
    seen.push(...body.spending.map(({ amountMicro }: { amountMicro: number }) => amountMicro));
    cursor = body.nextCursor;
    await spend(accountId, [{ ...site, micro: 99, atMs: T0 + 100 }]);
  } while (cursor !== undefined);
  expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const { body } = await get(`${LIST}?from=${T0 + 1}&until=${T0 + 3}`, owner);
  expect(body.totals).toMatchObject({ payments: 4, settledMicro: 3 + 4 + 5 + 6 });
  for (const query of ['from=5&until=4', 'limit=0', 'groupBy=kind', 'cursor=nonsense', 'outcome=paid', 'host=%00', 'from=x']) {
    const answer = await get(`${LIST}?${query}`, owner);
    expect([query, answer.status, answer.headers.get('x-svc-error-code')]).toEqual([query, 400, 'invalid_parameter']);
  }
});

test('a file of more than a page has every row once; while it is read nothing of the database is held', async () => {
  const [{ accountId, owner }, site] = [await openAccount(), await api.site()];
  await spend(accountId, [{ ...site, micro: 1 }]);
  await spend(
    accountId,
    Array.from({ length: 2_500 }, (_, n) => ({ ...site, micro: 5, page: `p${n}`, atMs: T0 + (n % 7) })),
  );
  const rows = rowsOf((await get(FILE, owner)).body);
  expect(rows).toHaveLength(2_501);
  expect(new Set(rows.map((row) => row['nonce'])).size).toBe(2_501);
  expect(rows.reduce((sum, row) => sum + Number(row['amount_micro']), 0)).toBe(await ledgerMicro(accountId));

  const reading = { reading: api.deps.reports.database, clock: Date.now };
  const file = exportSpending((page) => spendingOf.page(reading, accountId, {}, page));
  const { pool } = reading.reading;
  for await (const piece of file) {
    expect(piece.length).toBeGreaterThan(0);
    await expect.poll(() => pool.totalCount - pool.idleCount).toBe(0);
  }
});

test('what a site is called starts no formula in the file', async () => {
  const [{ accountId, owner }, site] = [await openAccount(), await api.site()];
  await spend(accountId, [{ ...site, micro: 1, resource: '=cmd|"a",b' }]);
  expect((await get(FILE, owner)).body).toContain(`,"'=cmd|""a"",b",`);
});

test('another account, whoever knows its id, sees none of it; a stranger is told nothing', async () => {
  const [mine, theirs, site] = [await openAccount(), await openAccount(), await api.site()];
  await spend(mine.accountId, [{ ...site, micro: 5 }]);
  for (const path of [LIST, FILE]) {
    const answer = await get(`${path}?host=${site.host}`, theirs.owner);
    expect(JSON.stringify(answer.body)).not.toContain(site.host);
    expect((await get(path, site.key)).status).toBe(401);
    expect((await get(path, randomUUID())).status).toBe(401);
  }
});

test('what is told to be released is what the budget releases, in every state, watched and not', async () => {
  const rows = await api.deps.database.query<{ state: (typeof PAYMENT_STATES)[number]; watched: boolean; outcome: string }>(
    `select p.state, p.watched, ${spendingOutcome('p')} as outcome
       from (select state, watched, null::uuid as batch_id, true as own_finality
               from unnest($1::text[]) as state cross join (values (true), (false)) as w (watched)) as p`,
    [PAYMENT_STATES],
  );
  expect(rows).toHaveLength(2 * PAYMENT_STATES.length);
  for (const { state, watched, outcome } of rows) {
    const counted = spendingState({ state, isWatched: watched });
    expect([state, watched, outcome === 'released']).toEqual([state, watched, counted === 'released']);
    expect([state, watched, outcome === 'settled']).toEqual([state, watched, isSettled(state)]);
  }
});
