import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';
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
  await sql.query(
    `insert into account_alert (account_id, period, period_start, limit_micro, percent, period_end, spent_micro, state)
     select $1, $2, $3, $4, percent, $5, $6,
       case when exists (select from buyer_account where account_id = $1 and alert_url is not null) then 'waiting' else 'unsent' end
       from unnest($7::smallint[]) as percent on conflict do nothing`,
    [accountId, period, periodStart, limitMicro, periodEnd, spentMicro, [...percents]],
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

/** Stores where alerts go, in place of the one before; false when the account was erased. What waits goes there. */
export async function writeAlertEndpoint(sql: Sql, endpoint: AlertEndpoint): Promise<boolean> {
  const { accountId, endpointId, url, sealed, keyId } = endpoint;
  const rows = await sql.query(
    `update buyer_account set alert_endpoint_id = $2, alert_url = $3, alert_sealed = $4, alert_key_id = $5, alert_set_at = now()
      where account_id = $1 and erased_at is null returning 1`,
    [accountId, endpointId, url, sealed, keyId],
  );
  return rows.length > 0;
}

/**
 * Forgets where alerts go; what waits is not sent, and what is on its way counts as an attempt that failed: taking the address away is no way to
 * look like a receiver that answers. Under the account's lock, so that no alert is written meanwhile as one to send. Run it in a database
 * transaction. Again: nothing.
 */
export async function deleteAlertEndpoint(sql: Sql, accountId: string): Promise<void> {
  await sql.query(
    `update buyer_account set alert_endpoint_id = null, alert_url = null, alert_sealed = null, alert_key_id = null, alert_set_at = null
      where account_id = $1`,
    [accountId],
  );
  await sql.query(
    `update account_alert set state = 'unsent', attempts = attempts + (leased_until > clock_timestamp())::int
      where account_id = $1 and state = 'waiting'`,
    [accountId],
  );
}

/** Where an account's alerts go, and since when; null when nowhere. */
export async function findAlertEndpoint(
  sql: Sql,
  accountId: string,
): Promise<{ readonly url: string; readonly setAt: Date } | null> {
  const [row] = await sql.query<{ url: string; setAt: Date }>(
    'select alert_url as url, alert_set_at as "setAt" from buyer_account where account_id = $1 and alert_url is not null',
    [accountId],
  );
  return row ?? null;
}

const SHOWN = columnsOf('account_alert a', [
  ...(['accountId', 'eventId', 'period', 'periodStart', 'periodEnd', 'percent', 'spentMicro', 'limitMicro', 'at'] as const),
]);
type AlertRow = RowOf<typeof SHOWN>;

function alertOf<Row extends AlertRow>({ spentMicro, limitMicro, ...row }: Row) {
  return { ...row, spentMicro: BigInt(spentMicro), limitMicro: BigInt(limitMicro) };
}

/** The newest alerts of an account, at most `most`, newest first. */
export async function listAlerts(sql: Sql, accountId: string, most: number): Promise<AlertRecord[]> {
  const rows = await sql.query<AlertRow & Pick<AlertRecord, 'state' | 'reason' | 'attempts'>>(
    `select ${SHOWN.text}, a.state, a.reason, a.attempts from account_alert as a where a.account_id = $1
      order by a.at desc, a.event_id limit $2`,
    [accountId, most],
  );
  return rows.map(alertOf);
}

/** An alert that is to be sent now, leased until then by whoever knows the id of its lease. */
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
  const rows = await sql.query(
    `update account_alert set state = $3, reason = $4, attempts = $5, due_at = coalesce($6, due_at), leased_until = '-infinity',
       lease_id = null, decided_at = case when $3 = 'waiting' then null else clock_timestamp() end
     where event_id = $1 and lease_id = $2 and state = 'waiting' returning 1`,
    [attempt.eventId, attempt.leaseId, attempt.state, attempt.reason, attempt.attempt, attempt.dueAt],
  );
  return rows.length > 0;
}

/** The sealed secrets of alerts that are not known to be under this key, by account, after `after`; an operator's work, over all accounts. */
export async function listAlertSecretsNotUnder(
  sql: Sql,
  keyId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<Pick<AlertEndpoint, 'accountId' | 'endpointId' | 'sealed'>[]> {
  return await sql.query<Pick<AlertEndpoint, 'accountId' | 'endpointId' | 'sealed'> & Record<string, unknown>>(
    `select account_id as "accountId", alert_endpoint_id as "endpointId", alert_sealed as sealed from buyer_account
     where alert_key_id <> $1 and ($2::uuid is null or account_id > $2) order by account_id limit $3`,
    [keyId, after, limit],
  );
}

/** Puts other sealed bytes in the place of a secret's; false, and nothing changed, when these no longer stand. */
export async function resealAlertSecret(
  sql: Sql,
  from: Pick<AlertEndpoint, 'endpointId' | 'sealed' | 'accountId'>,
  to: Pick<AlertEndpoint, 'sealed' | 'keyId'>,
): Promise<boolean> {
  const rows = await sql.query(
    `update buyer_account set alert_sealed = $4, alert_key_id = $5
      where account_id = $1 and alert_endpoint_id = $2 and alert_sealed = $3 returning 1`,
    [from.accountId, from.endpointId, from.sealed, to.sealed, to.keyId],
  );
  return rows.length > 0;
}
