import type { NotNull } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';
import { run, tables } from '../../../db/statement.ts';
import type { AlertRecord, AlertState, BudgetAlert, Spending, Threshold } from '../rules/alert.ts';
import { thresholdsCrossed } from '../rules/alert.ts';

/** A period of an account's budget. */
export type BudgetPeriod = Pick<BudgetAlert, 'accountId' | 'period' | 'periodStart' | 'periodEnd'>;

/** What an account has spent of its whole budget in a period, before and after a change. */
export interface BudgetCrossing extends Spending, BudgetPeriod {}

/**
 * Writes the alerts of the thresholds that a change has crossed, in the database transaction of the change and under the account's lock. One
 * that was written in this period for this limit is not written again. An account that did not say where to send finds it in its list alone.
 */
export async function raiseBudgetAlerts(sql: Sql, crossing: BudgetCrossing): Promise<void> {
  const crossed = thresholdsCrossed(crossing);
  if (crossed.length > 0) await insertAlerts(sql, crossing, crossed);
}

/**
 * Writes the alert that a budget is used up, though no payment has come to it exactly: what is left does not pay what was to be bought. In the
 * same way, and once in a period, whichever comes first.
 */
export function raiseUsedUpAlert(sql: Sql, standing: Omit<BudgetCrossing, 'beforeMicro'>): Promise<void> {
  return insertAlerts(sql, standing, [100]);
}

async function insertAlerts(
  sql: Sql,
  { accountId, period, periodStart, periodEnd, limitMicro, spentMicro }: Omit<BudgetCrossing, 'beforeMicro'>,
  percents: readonly Threshold[],
): Promise<void> {
  const isSent = text<boolean>`exists (select from buyer_account where account_id = ${accountId} and alert_url is not null)`;
  const state = text<AlertState>`case when ${isSent} then 'waiting' else 'unsent' end`;
  const amounts = { limitMicro: limitMicro.toString(), spentMicro: spentMicro.toString() };
  const alerts = percents.map((percent) => ({ accountId, period, periodStart, periodEnd, ...amounts, percent, state }));
  await run(
    sql,
    tables
      .insertInto('account_alert')
      .values(alerts)
      .onConflict((known) => known.doNothing()),
  );
}

/** Where an account's alerts go, with the sealed secret that signs them. */
export interface AlertEndpoint {
  readonly accountId: string;
  readonly endpointId: string;
  readonly url: string;
  readonly sealed: Buffer;
  /** Check value of the key it is sealed with. */
  readonly keyId: string;
}

const change = (accountId: string) => tables.updateTable('buyer_account').where('accountId', '=', accountId);

/** Stores where alerts go, in place of the one before; false when the account was erased. What waits goes there. */
export async function writeAlertEndpoint(sql: Sql, endpoint: AlertEndpoint): Promise<boolean> {
  const { accountId, endpointId, url, sealed, keyId } = endpoint;
  const there = { alertEndpointId: endpointId, alertUrl: url, alertSealed: sealed, alertKeyId: keyId };
  const written = change(accountId).set({ ...there, alertSetAt: text<Date>`now()` });
  return (await run(sql, written.where('erasedAt', 'is', null).returning('accountId'))).length > 0;
}

/**
 * Forgets where alerts go; what waits is not sent, and what is on its way counts as an attempt that failed: taking the address away is no way to
 * look like a receiver that answers. Under the account's lock, so that no alert is written meanwhile as one to send. Run it in a database
 * transaction. Again: nothing.
 */
export async function deleteAlertEndpoint(sql: Sql, accountId: string): Promise<void> {
  const nowhere = { alertEndpointId: null, alertUrl: null, alertSealed: null, alertKeyId: null, alertSetAt: null };
  await run(sql, change(accountId).set(nowhere));
  const unsent = { state: 'unsent', attempts: text<number>`attempts + (leased_until > clock_timestamp())::int` } as const;
  const waiting = tables.updateTable('account_alert').set(unsent).where('accountId', '=', accountId);
  await run(sql, waiting.where('state', '=', 'waiting'));
}

/** Where an account's alerts go, and since when; null when nowhere. */
export async function findAlertEndpoint(
  sql: Sql,
  accountId: string,
): Promise<{ readonly url: string; readonly setAt: Date } | null> {
  const there = tables.selectFrom('buyer_account').select(['alertUrl as url', 'alertSetAt as setAt']);
  const [row] = await run(
    sql,
    there.where('accountId', '=', accountId).where('alertUrl', 'is not', null).$narrowType<{ url: NotNull; setAt: NotNull }>(),
  );
  return row ?? null;
}

const ALERT = [
  ...(['accountId', 'eventId', 'period', 'periodStart', 'periodEnd', 'percent', 'spentMicro', 'limitMicro', 'at'] as const),
] as const;
const SHOWN = columnsOf('account_alert a', ALERT);
type AlertRow = RowOf<typeof SHOWN>;

function alertOf<Row extends AlertRow>({ spentMicro, limitMicro, ...row }: Row) {
  return { ...row, spentMicro: BigInt(spentMicro), limitMicro: BigInt(limitMicro) };
}

/** The newest alerts of an account, at most `most`, newest first. */
export async function listAlerts(sql: Sql, accountId: string, most: number): Promise<AlertRecord[]> {
  const alerts = tables.selectFrom('account_alert').select(ALERT).select(['state', 'reason', 'attempts']);
  const rows = await run(sql, alerts.where('accountId', '=', accountId).orderBy('at', 'desc').orderBy('eventId').limit(most));
  return rows.map(alertOf);
}

/** An alert that is to be sent now, leased until then under the id of its lease. */
export interface LeasedAlert {
  readonly alert: BudgetAlert;
  readonly leaseId: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly url: string;
  readonly endpointId: string;
  readonly sealed: Buffer;
}

/**
 * Leases alerts that are due, the longest due first and of each account its first: one request of an account is on its way at a time, so
 * that a receiver who hangs holds one place. Accounts of which an attempt failed within the hour (`hasFailed`) have places of their own.
 */
export async function leaseDueAlerts(
  sql: Sql,
  { hasFailed, most, leaseMs }: { readonly hasFailed: boolean; readonly most: number; readonly leaseMs: number },
): Promise<LeasedAlert[]> {
  if (most <= 0) return [];
  const rows = await sql.query<AlertRow & Pick<LeasedAlert, 'leaseId' | 'attempt' | 'url' | 'endpointId' | 'sealed'>>(
    `with due as (
       select a.event_id, e.alert_url as url, e.alert_endpoint_id as endpoint_id, e.alert_sealed as sealed
         from account_alert as a join buyer_account as e using (account_id)
        where e.alert_url is not null and a.state = 'waiting' and a.due_at <= clock_timestamp()
          and not exists (select from account_alert as other where other.account_id = a.account_id
            and (other.leased_until > clock_timestamp() or other.state = 'waiting' and other.due_at <= clock_timestamp()
              and (other.due_at, other.percent, other.event_id) < (a.due_at, a.percent, a.event_id)))
          and $1 = exists (select from account_alert as failed where failed.account_id = a.account_id
            and failed.attempts > (failed.state = 'delivered')::int
            and coalesce(failed.decided_at, failed.due_at) > clock_timestamp() - interval '1 hour')
        order by a.due_at limit $2 for update of a skip locked
     )
     update account_alert as a set leased_until = clock_timestamp() + $3 * interval '1 millisecond', lease_id = gen_random_uuid()
       from due where a.event_id = due.event_id
     returning ${SHOWN.text}, a.lease_id as "leaseId", a.attempts + 1 as attempt, due.url, due.endpoint_id as "endpointId", due.sealed`,
    [hasFailed, most, leaseMs],
  );
  return rows.map(({ leaseId, attempt, url, endpointId, sealed, ...row }) => {
    return { alert: alertOf(row), leaseId, attempt, url, endpointId, sealed };
  });
}

/** How an attempt ended. */
export interface AlertAttempt {
  readonly eventId: string;
  readonly leaseId: string;
  readonly attempt: number;
  readonly state: Exclude<AlertState, 'unsent'>;
  readonly reason: string | null;
  /** When it is tried again; null: never. */
  readonly dueAt: Date | null;
}

/** Writes down how an attempt ended; false when another holder of the lease wrote first, or its endpoint was taken away meanwhile. */
export async function recordAlertAttempt(sql: Sql, attempt: AlertAttempt): Promise<boolean> {
  const { eventId, leaseId, attempt: attempts, state, reason, dueAt } = attempt;
  const ended = tables.updateTable('account_alert').set({
    ...{ state, reason, attempts, leaseId: null, leasedUntil: text<Date>`'-infinity'` },
    ...(dueAt === null ? {} : { dueAt }),
    decidedAt: state === 'waiting' ? null : text<Date>`clock_timestamp()`,
  });
  const held = ended.where('eventId', '=', eventId).where('leaseId', '=', leaseId).where('state', '=', 'waiting');
  return (await run(sql, held.returning('eventId'))).length > 0;
}

/** The sealed secrets of alerts that are not known to be under this key, by account, after `after`; an operator's work, over all accounts. */
export async function listAlertSecretsNotUnder(
  sql: Sql,
  keyId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<Pick<AlertEndpoint, 'accountId' | 'endpointId' | 'sealed'>[]> {
  const under = tables
    .selectFrom('buyer_account')
    .select(['accountId', 'alertEndpointId as endpointId', 'alertSealed as sealed'])
    .where('alertKeyId', '<>', keyId);
  const left = after === null ? under : under.where('accountId', '>', after);
  return run(sql, left.orderBy('accountId').limit(limit).$narrowType<{ endpointId: NotNull; sealed: NotNull }>());
}

/** Puts other sealed bytes in the place of a secret's; false, and nothing changed, when these no longer stand. */
export async function resealAlertSecret(
  sql: Sql,
  from: Pick<AlertEndpoint, 'endpointId' | 'sealed' | 'accountId'>,
  to: Pick<AlertEndpoint, 'sealed' | 'keyId'>,
): Promise<boolean> {
  const sealed = change(from.accountId).set({ alertSealed: to.sealed, alertKeyId: to.keyId });
  const same = sealed.where('alertEndpointId', '=', from.endpointId).where('alertSealed', '=', from.sealed);
  const rows = await run(sql, same.returning('accountId'));
  return rows.length > 0;
}
