import type { Database, Sql } from '../../../db/database.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import { isUsedUp } from '../rules/alert.ts';
import type { SpendingDecision } from '../rules/decide.ts';
import { decideSpending } from '../rules/decide.ts';
import { periodOf } from '../rules/period.ts';
import { raiseBudgetAlerts, raiseUsedUpAlert } from './alerts.ts';
import type { OpenApproval } from './approvals.ts';
import { askOwner, listApproved, useApprovals } from './approvals.ts';
import type { AccountLedger, StoredBudget } from './budgets.ts';
import { lockAccounts, presentPeriod, readLedgers, readOpenLedgers } from './budgets.ts';

/** A payment that counts against accounts: the one that buys, and the one whose wallet pays. */
export interface NewSpending {
  readonly tenantId: string;
  readonly paymentId: string;
  readonly accounts: readonly string[];
  readonly host: string;
  readonly resource: string;
  readonly resourceKey: string;
  readonly kind: CrossingKind;
  readonly purpose: 'page' | 'licence';
  readonly amountMicro: bigint;
  /** True where the money has moved before: it counts, and nothing is in its way. */
  readonly hasMoved: boolean;
}

/** Why an account may not make a payment. */
export interface SpendingRefusal {
  readonly accountId: string;
  readonly decision: Exclude<SpendingDecision, { readonly kind: 'may' }>;
  readonly budget: StoredBudget;
  /** When its period ends, epoch ms. */
  readonly endsAtMs: number;
  /** What the owner was asked; null where no yes would help, or too many wait for one. */
  readonly approvalId: string | null;
}

/** Payments decided about, and how to write down those that were made. */
export interface DecidedSpendings {
  /** By the id of the payment. */
  readonly refusals: ReadonlyMap<string, SpendingRefusal>;
  /** Counts those of these payments that got their rows, and tells of thresholds. Sends its statements at once. */
  readonly write: (madeIds: ReadonlySet<string>) => Promise<unknown>;
}

/**
 * Decides about payments of accounts, one after the other, each with what those before it would spend, also where two show the same
 * authorization: only its claim tells which of them is made. Under the accounts' locks
 * (`lockAccounts`), which are taken before any lock of purchases and held until the database transaction ends: nothing that another process
 * spends comes between, and never a micro too much is spent. What a limit would refuse is looked at again without what is released, and
 * tells the owner, once a period, where the budget is used up.
 */
export async function decideSpendings(sql: Sql, asks: readonly NewSpending[]): Promise<DecidedSpendings> {
  const accountIds = [...new Set(asks.flatMap(({ accounts }) => accounts))].toSorted();
  const hosts = [...new Set(asks.map(({ host }) => host))];
  const [ledgers, approved] = await Promise.all([
    readLedgers(sql, accountIds, hosts),
    listApproved(
      sql,
      accountIds,
      asks.map(({ resourceKey }) => resourceKey),
    ),
  ]);
  let desk = deskOf(ledgers, approved);
  let tried = asks.map((ask) => desk.decide(ask));
  if (tried.some((refusal) => refusal?.decision.kind === 'exceeded' && refusal.decision.limit !== 'page')) {
    desk = deskOf(await readOpenLedgers(sql, accountIds, hosts), approved);
    tried = asks.map((ask) => desk.decide(ask));
  }
  await tellOfRefusals(sql, desk, asks, tried);
  const refusals = new Map<string, SpendingRefusal>();
  for (const [index, refusal] of tried.entries()) {
    const ask = asks[index] as NewSpending;
    if (!refusal) continue;
    const approvalId =
      refusal.decision.kind === 'ask_owner' ? await askOwner(sql, { ...ask, accountId: refusal.accountId }) : null;
    refusals.set(ask.paymentId, { ...refusal, approvalId });
  }
  return { refusals, write: (madeIds) => writeSpendings(sql, desk, asks, madeIds) };
}

type Refused = Omit<SpendingRefusal, 'approvalId'>;

/** What accounts have left while payments are decided about. */
interface Desk {
  readonly ledgers: ReadonlyMap<string, AccountLedger>;
  readonly decide: (ask: NewSpending) => Refused | null;
  /** The yeses that payments were let through on, by payment. */
  readonly used: ReadonlyMap<string, readonly OpenApproval[]>;
}

function deskOf(ledgers: ReadonlyMap<string, AccountLedger>, approved: readonly OpenApproval[]): Desk {
  const spent = new Map([...ledgers].map(([accountId, { spentMicro }]) => [accountId, new Map(spentMicro)]));
  const used = new Map<string, readonly OpenApproval[]>();
  const taken = new Set<string>();
  const decide = (ask: NewSpending): Refused | null => {
    const yeses: OpenApproval[] = [];
    for (const accountId of ask.accounts) {
      const ledger = ledgers.get(accountId);
      if (!ledger?.budget) continue;
      const counters = spent.get(accountId);
      const yes = approved.find((one) => isFor(one, accountId, ask) && !taken.has(one.approvalId));
      const decision = decideSpending(
        ledger.budget,
        { totalMicro: counters?.get('') ?? 0n, hostMicro: counters?.get(ask.host) ?? 0n },
        { ...ask, isApproved: yes !== undefined },
      );
      if (decision.kind !== 'may' && !ask.hasMoved) {
        const { endMs } = periodOf(ledger.budget.period, ledger.at.getTime());
        return { accountId, decision, budget: ledger.budget, endsAtMs: endMs };
      }
      if (yes && isAbove(ledger.budget, ask)) yeses.push(yes);
    }
    for (const accountId of ask.accounts) {
      const counters = spent.get(accountId);
      for (const host of ['', ask.host]) counters?.set(host, (counters.get(host) ?? 0n) + ask.amountMicro);
    }
    for (const { approvalId } of yeses) taken.add(approvalId);
    used.set(ask.paymentId, yeses);
    return null;
  };
  return { ledgers, used, decide };
}

function isFor(yes: OpenApproval, accountId: string, ask: NewSpending): boolean {
  return (
    yes.accountId === accountId &&
    yes.resourceKey === ask.resourceKey &&
    yes.kind === ask.kind &&
    yes.amountMicro === ask.amountMicro
  );
}

function isAbove({ approveAboveMicro }: StoredBudget, { amountMicro }: NewSpending): boolean {
  return approveAboveMicro !== null && amountMicro > approveAboveMicro;
}

function writeSpendings(sql: Sql, desk: Desk, asks: readonly NewSpending[], madeIds: ReadonlySet<string>): Promise<unknown> {
  const made = asks.filter(({ paymentId }) => madeIds.has(paymentId));
  if (made.length === 0) return Promise.resolve();
  const rows = made.flatMap((ask) =>
    ask.accounts.map((accountId) => ({
      account_id: accountId,
      tenant_id: ask.tenantId,
      payment_id: ask.paymentId,
      host: ask.host,
      resource_key: ask.resourceKey,
      kind: ask.kind,
      purpose: ask.purpose,
      amount_micro: ask.amountMicro.toString(),
    })),
  );
  return Promise.all([
    sql.query(
      `insert into account_spending (account_id, tenant_id, payment_id, host, resource_key, kind, purpose, amount_micro)
       select account_id, tenant_id, payment_id, host, resource_key, kind, purpose, amount_micro
         from jsonb_to_recordset($1) as new (account_id uuid, tenant_id uuid, payment_id uuid, host text, resource_key text, kind text,
           purpose text, amount_micro bigint)`,
      [JSON.stringify(rows)],
      'insert-spendings',
    ),
    count(sql, desk, made),
    useApprovals(
      sql,
      made.flatMap(({ paymentId }) => desk.used.get(paymentId) ?? []),
    ),
    ...[...desk.ledgers.values()].map((ledger) => tell(sql, ledger, made)),
  ]);
}

/** Adds payments to the counters of the accounts that have a budget. */
async function count(sql: Sql, { ledgers }: Desk, made: readonly NewSpending[]): Promise<void> {
  const parts = made.flatMap(({ accounts, host, amountMicro }) =>
    accounts.flatMap((accountId) => {
      const ledger = ledgers.get(accountId);
      if (!ledger?.budget) return [];
      const start = new Date(periodOf(ledger.budget.period, ledger.at.getTime()).startMs);
      return ['', host].map((of) => ({ account_id: accountId, period_start: start, host: of, micro: amountMicro.toString() }));
    }),
  );
  if (parts.length === 0) return;
  await sql.query(
    `insert into account_spent (account_id, period_start, host, micro)
     select account_id, period_start, host, sum(micro)
       from jsonb_to_recordset($1) as part (account_id uuid, period_start timestamptz, host text, micro bigint)
      group by 1, 2, 3 order by 1, 2, 3
     on conflict (account_id, period_start, host) do update set micro = account_spent.micro + excluded.micro`,
    [JSON.stringify(parts)],
    'count-spendings',
  );
}

/** Tells an account of the thresholds that payments have crossed. */
async function tell(sql: Sql, { accountId, budget, at, spentMicro }: AccountLedger, made: readonly NewSpending[]): Promise<void> {
  if (!budget) return;
  const beforeMicro = spentMicro.get('') ?? 0n;
  const own = made.filter(({ accounts }) => accounts.includes(accountId));
  const addedMicro = own.reduce((sum, { amountMicro }) => sum + amountMicro, 0n);
  if (addedMicro === 0n) return;
  const of = presentPeriod({ accountId, budget, at });
  await raiseBudgetAlerts(sql, { ...of, limitMicro: budget.totalMicro, beforeMicro, spentMicro: beforeMicro + addedMicro });
}

/** Tells accounts whose whole budget was in the way that it is used up: one statement an account, however many were refused. */
async function tellOfRefusals(
  sql: Sql,
  { ledgers }: Desk,
  asks: readonly NewSpending[],
  tried: readonly (Refused | null)[],
): Promise<void> {
  const told = new Set<string>();
  for (const [index, refusal] of tried.entries()) {
    const ledger = refusal && ledgers.get(refusal.accountId);
    if (!ledger?.budget || refusal?.decision.kind !== 'exceeded' || refusal.decision.limit !== 'total') continue;
    const { limitMicro, spentMicro } = refusal.decision;
    const { amountMicro } = asks[index] as NewSpending;
    if (told.has(ledger.accountId) || !isUsedUp({ limitMicro, spentMicro }, amountMicro)) continue;
    told.add(ledger.accountId);
    await raiseUsedUpAlert(sql, { ...presentPeriod({ ...ledger, budget: ledger.budget }), limitMicro, spentMicro });
  }
}

/**
 * What would be in the way of one payment of an account now; null: nothing. Counts nothing; asks the owner where he must be asked. An account
 * without a budget takes no lock.
 */
export async function previewSpending(
  database: Database,
  accountId: string,
  ask: Omit<NewSpending, 'tenantId' | 'paymentId' | 'accounts' | 'hasMoved'>,
): Promise<SpendingRefusal | null> {
  const nobody = { tenantId: '', paymentId: '', accounts: [accountId], hasMoved: false };
  const ledger = (await readLedgers(database, [accountId], [])).get(accountId);
  if (!ledger?.budget) return null;
  return database.transaction(async (sql) => {
    await lockAccounts(sql, [accountId]);
    const { refusals } = await decideSpendings(sql, [{ ...ask, ...nobody }]);
    return refusals.get('') ?? null;
  });
}
