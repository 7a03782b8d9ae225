import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { sqlStages } from '../../../db/paymentStates.ts';
import { sameText } from '../../../db/sameText.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';
import { acrossSites, run } from '../../../db/statement.ts';
import { unseenLists } from '../../../db/unseen.ts';
import { OPEN_STATES } from '../../kernel/payment/state.ts';
import type { PayerRecord } from '../rules/payerLimits.ts';
import { payerWindow, UNDECIDED_LIMIT } from '../rules/payerLimits.ts';
import type { BatchKind, WaitingPayment } from '../rules/pickBatch.ts';
import type { QueueLoad } from '../rules/queueRoom.ts';
import { carriedBySql, intakeOf } from './payment.ts';
import { queueLoadSql } from './relayer.ts';

/** Sites and payments that one choice looks at: what bounds its cost, however much waits. */
const TENANTS = 240;
const ROWS = 480;
const LEAST_A_TENANT = 2;

/** How long a payment is postponed that a look decided nothing of: for as long again as it has waited, so that looks at it become rare. */
const MOST_POSTPONED_SECONDS = 30;
const NOT_POSTPONED = `(checked_at is null
  or checked_at + least(checked_at - accepted_at, make_interval(secs => ${MOST_POSTPONED_SECONDS})) < now())`;

/** Waits for a batch; never what is held, or a test key's. */
const ACCEPTED = "stage = 'under_way' and state = 'accepted' and mode = 'live'";
/** Waits for a batch and may be looked at now. */
const MAY_GO = `${ACCEPTED} and batch_id is null and ${NOT_POSTPONED}`;
const WAITS = `network = $1 and ${ACCEPTED}`;

/** True while payments wait that nobody has taken for so long (safety 7). */
export async function hasUntaken(sql: Sql, network: string, forMs: number): Promise<boolean> {
  const before = text<Date>`now() - ${forMs}::double precision * interval '1 millisecond'`;
  const ofNetwork = acrossSites('a worker').selectFrom('payment_state').select('paymentId').where('network', '=', network);
  const untaken = ofNetwork.where(text.raw<boolean>(MAY_GO)).where('acceptedAt', '<', before);
  return (await run(sql, untaken.limit(1))).length > 0;
}

/**
 * Payments of a network that wait for a batch, of every site its oldest, all sites alike: at most 480 rows of 240 sites, read by index
 * and without what only sending needs. Of a wallet of code no more than may go out, so that it fills nobody's window. What a look decided
 * nothing of is left out for as long again as it has waited, 30 s at most, so that it keeps nothing behind it waiting. With more sites than
 * that, `from` (any uuid) says where in their order to begin, so that each has its turn.
 */
export async function listWaiting(sql: Sql, network: string, from: string): Promise<readonly WaitingPayment[]> {
  const rows = await sql.query<WaitingRow>(
    `with recursive ahead as (
       (select tenant_id from payment_state where ${WAITS} and tenant_id > $2 order by tenant_id limit 1)
       union all
       select (select tenant_id from payment_state where ${WAITS} and tenant_id > ahead.tenant_id order by tenant_id limit 1)
         from ahead where tenant_id is not null
     ), behind as (
       (select tenant_id from payment_state where ${WAITS} and tenant_id <= $2 order by tenant_id limit 1)
       union all
       select (select tenant_id from payment_state where ${WAITS} and tenant_id > behind.tenant_id and tenant_id <= $2
                order by tenant_id limit 1)
         from behind where tenant_id is not null
     ), tenants as materialized (
       select tenant_id from (select tenant_id from ahead union all select tenant_id from behind) found
        where tenant_id is not null limit ${TENANTS}
     )
     select ${OLDEST.text}, i.router, coalesce(cardinality(i.leg_words), 1) as legs, octet_length(i.signature) as "signatureBytes"
       from tenants cross join lateral (
       select tenant_id, payment_id, payer, pay_to, payer_kind, attempts, batch_size, accepted_at
         from payment_state as s where network = $1 and ${MAY_GO}
          and tenant_id = tenants.tenant_id and (payer_kind = 'plain' or ${UNDECIDED_LIMIT} > (
           select count(*) from (select 1 from payment_state older where older.network = $1 and ${sameText('older.payer', 's.payer')}
               and older.stage = 'under_way' and older.state = 'accepted' and older.payer_kind = 'contract' and older.accepted_at < s.accepted_at
             limit ${UNDECIDED_LIMIT}) few))
        order by accepted_at, payment_id limit (select greatest(${ROWS} / count(*), ${LEAST_A_TENANT}) from tenants)) oldest
       cross join lateral ${intakeOf('oldest')} as i`,
    [network, from],
    'list-waiting',
  );
  return rows.map(({ acceptedAt, ...row }) => ({ ...row, acceptedAtMs: acceptedAt.getTime() }));
}

const OLDEST = columnsOf('payment_state oldest', [
  ...(['tenantId', 'paymentId', 'payer', 'payTo', 'payerKind', 'attempts', 'batchSize', 'acceptedAt'] as const),
]);
type WaitingRow = RowOf<typeof OLDEST> & Pick<WaitingPayment, 'router' | 'legs' | 'signatureBytes'>;

/**
 * Keeps other transactions from counting the same payers until this one ends, so that two claims cannot both find room for them. In
 * the order of their names; call it before `readPayers`.
 */
export async function lockPayers(sql: Sql, network: string, payers: readonly string[]): Promise<void> {
  await sql.query(
    `select pg_advisory_xact_lock(hashtextextended($1 || ' ' || payer, 15))
       from (select distinct payer from unnest($2::text[]) as asked (payer) order by payer) sorted`,
    [network, [...payers]],
    'lock-payers',
  );
}

/** Strikes of the hour and payments on their way, by payer. */
export async function readPayers(
  sql: Sql,
  network: string,
  payers: readonly string[],
): Promise<ReadonlyMap<string, PayerRecord>> {
  const rows = await sql.query<{ payer: string; strikes: number; sent: number }>(
    `select asked.payer, coalesce(strikes, 0) as strikes,
            (select count(*)::int from payment_state as s where s.network = $1 and ${sameText('s.payer', 'asked.payer')}
                and s.stage in (${sqlStages(OPEN_STATES)}) and s.state = 'broadcast') as sent
       from unnest(${unseenLists(['text'], 2)}) as asked (payer)
       left join lateral (select strikes from payer_strike where network = $1 and payer = asked.payer
         and last_at > now() - interval '1 hour' offset 0) as strike on true`,
    [network, [...new Set(payers)]],
    'read-payers',
  );
  return new Map(rows.map(({ payer, strikes, sent }) => [payer, { strikes, sent }]));
}

/**
 * The ids of those payments that their payers' own ones kept waiting: more of the same payer than fit into its window (`payerWindow`) went out since
 * each was taken in, and the last of them within `movingMs` before now. Where we sent nothing, or nothing that we sent was decided, the
 * window has not moved on, and none is named. Reads the batches of five minutes at most.
 */
export async function listBehindOwn(
  sql: Sql,
  network: string,
  payments: readonly (Pick<WaitingPayment, 'paymentId' | 'payer' | 'payerKind'> & { readonly acceptedAt: Date })[],
  movingMs: number,
): Promise<ReadonlySet<string>> {
  if (payments.length === 0) return new Set();
  const rows = await sql.query<{ paymentId: string }>(
    `with asked as (
       select * from unnest($3::text[], $4::text[], $5::int[], $6::timestamptz[]) as one (payment_id, payer, payer_window, accepted_at)
     ), sent as materialized (
       select s.payer, batch.created_at from settlement_batch as batch
         cross join lateral unnest(batch.tenant_ids, batch.payment_ids) as carried (tenant_id, payment_id)
         join payment_state as s using (tenant_id, payment_id)
        where batch.network = $1 and batch.kind = 'settle' and batch.created_at > now() - interval '5 minutes'
          and s.payer in (select payer from asked)
     )
     select asked.payment_id as "paymentId" from asked join sent on sent.payer = asked.payer and sent.created_at > asked.accepted_at
      group by asked.payment_id, asked.payer_window
     having count(*) > asked.payer_window and max(sent.created_at) > now() - make_interval(secs => $2::double precision / 1000)`,
    [
      network,
      movingMs,
      payments.map(({ paymentId }) => paymentId),
      payments.map(({ payer }) => payer),
      payments.map(({ payerKind }) => payerWindow(payerKind)),
      payments.map(({ acceptedAt }) => acceptedAt.toISOString()),
    ],
  );
  return new Set(rows.map(({ paymentId }) => paymentId));
}

/** The kind of the batch that went out last; null when none did, or nothing is left of it. */
export async function findLastKind(sql: Sql, network: string): Promise<BatchKind | null> {
  const rows = await sql.query<{ payerKind: 'plain' | 'contract'; router: string }>(
    `select payer_kind as "payerKind", router from (${carriedBySql(
      's.payer_kind, i.router',
      "(select batch_id from settlement_batch where network = $1 and kind = 'settle' order by created_at desc limit 1)",
    )}) carried limit 1`,
    [network],
    'find-last-kind',
  );
  return rows[0] ?? null;
}

/** What is on its way on a network. */
export interface OnTheWay {
  /** Of each relayer key that sends. */
  readonly queues: readonly QueueLoad[];
  /** Sites with a payment in one of the batches. */
  readonly tenantIds: ReadonlySet<string>;
}

/** What is on its way on a network now; another process may add to it, so that a claim looks again (`lockQueue`). */
export async function readOnTheWay(sql: Sql, network: string): Promise<OnTheWay> {
  const [queues, tenants] = await Promise.all([
    sql.query<{ open: number; open_gas: string; in_flight_limit: number }>(
      `select in_flight_limit, load.open, load.open_gas from relayer cross join lateral (${queueLoadSql('relayer.address')}) load
        where network = $1 and paused_reason is null`,
      [network],
      'read-queues',
    ),
    sql.query<{ tenant_id: string }>(
      `select distinct s.tenant_id from payment_state as s cross join lateral (
           select state, kind from settlement_batch where batch_id = s.batch_id offset 0) as batch
        where s.network = $1 and s.stage = 'under_way' and s.state = 'broadcast' and batch.state = 'open' and batch.kind = 'settle'`,
      [network],
      'list-tenants-on-the-way',
    ),
  ]);
  return {
    queues: queues.map((row) => ({ open: row.open, openGas: BigInt(row.open_gas), limit: row.in_flight_limit })),
    tenantIds: new Set(tenants.map((row) => row.tenant_id)),
  };
}
