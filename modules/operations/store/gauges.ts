/** The SQL of the gauges: what waits, how old it is. Every statement reads partial indexes of open work, or a small table. */

import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { isSettledWithBatch, SETTLED_ALONE, sqlStages } from '../../../db/paymentStates.ts';
import { acrossSites, run } from '../../../db/statement.ts';
import type { GaugePoint } from '../../kernel/metrics.ts';
import { OPEN_STATES } from '../../kernel/payment/state.ts';
import { readNightAge } from './onCall.ts';

const all = acrossSites('the operator');

/** Counting stops here: beyond it, more is as bad. */
const MOST = 100_000;
/** Sites named by a label: more of them at once is one fault, not many. */
const MOST_TENANTS = 20;

/** Payments and recorded money that are not through, deliveries that are due, alerts nobody resolved, and the readers' ages. */
export async function readDatabaseGauges(sql: Sql, networks: readonly string[]): Promise<GaugePoint[]> {
  const points = await Promise.all([
    pending(sql, networks),
    outstanding(sql, networks),
    webhooks(sql),
    relayers(sql),
    alerts(sql),
    reading(sql, networks),
    spentBudgets(sql),
    size(sql),
    archive(sql),
    health(sql),
    slots(sql),
    night(sql),
  ]);
  return points.flat();
}

async function pending(sql: Sql, networks: readonly string[]): Promise<GaugePoint[]> {
  const rows = await sql.query<{ network: string; count: string; age: string | null }>(
    `select known.network, count(open.accepted_at) as count, extract(epoch from now() - min(open.accepted_at)) as age
       from unnest($1::text[]) as known (network) left join (
         select network, accepted_at from payment_state where stage in (${sqlStages(OPEN_STATES)})) as open using (network)
      group by known.network`,
    [networks],
  );
  return rows.flatMap(({ network, count, age }) => [
    { name: 'svc.settle.pending', value: Number(count), labels: { network } },
    { name: 'svc.settle.pending_age', value: Math.max(0, Number(age)), labels: { network } },
  ]);
}

/**
 * Crossings that no safe block proves: settled ones on their way to final, by their batches or by themselves, and whatever a reorg took
 * back. Each kind is asked for by itself: each has a partial index of its own, and two in one condition imply neither.
 */
async function outstanding(sql: Sql, networks: readonly string[]): Promise<GaugePoint[]> {
  const rows = await sql.query<{ network: string; micro: string; age: string | null }>(
    `select known.network, coalesce(sum(amount_micro), 0) as micro, extract(epoch from now() - min(at)) as age
       from unnest($1::text[]) as known (network) left join (
         select s.network, i.amount_micro, i.at from (
           select s.* from settlement_batch as b cross join lateral unnest(b.tenant_ids, b.payment_ids) as carried (tenant_id, payment_id)
             join payment_state as s using (tenant_id, payment_id)
            where b.final_at is null and b.kind <> 'flush' and s.batch_id = b.batch_id and s.recorded and ${isSettledWithBatch('s')}
           union all
           select * from payment_state where recorded and ${SETTLED_ALONE}
           union all
           select * from payment_state where watch_side is not null and recorded and state = 'review'
           union all
           select * from payment_state where recorded and mode = 'live' and stage in (${sqlStages(OPEN_STATES)})
         ) as s join payment_intake as i using (tenant_id, payment_id)) as open using (network)
      group by known.network`,
    [networks],
  );
  return rows.flatMap(({ network, micro, age }) => [
    { name: 'svc.recon.outstanding_micro', value: Number(micro), labels: { network } },
    { name: 'svc.recon.oldest_age', value: Math.max(0, Number(age)), labels: { network } },
  ]);
}

/** Deliveries that are due; what waits at an endpoint that its owner has paused is not late. */
async function webhooks(sql: Sql): Promise<GaugePoint[]> {
  const due = all
    .selectFrom('delivery as d')
    .select('d.dueAt')
    .where('d.state', '=', 'pending')
    .where('d.dueAt', '<=', text<Date>`clock_timestamp()`)
    .where(
      text<boolean>`not exists (select from webhook_endpoint as e where e.tenant_id = d.tenant_id and e.endpoint_id = d.endpoint_id
        and e.paused_until > clock_timestamp())`,
    )
    .limit(MOST);
  // Each kind by its own index: one condition of both implies neither.
  const some = (retrying: boolean) => all.selectFrom(due.where('d.retrying', '=', retrying).as('some')).select('some.dueAt');
  const [row] = await run(
    sql,
    all
      .selectFrom(some(false).unionAll(some(true)).as('due'))
      .select(({ fn }) => fn.countAll<string>().as('backlog'))
      .select(text<string | null>`extract(epoch from clock_timestamp() - min(due.due_at))`.as('lag')),
  );
  return [
    { name: 'svc.webhook.backlog', value: Number(row?.backlog ?? 0) },
    { name: 'svc.webhook.lag', value: Math.max(0, Number(row?.lag ?? 0)) },
  ];
}

async function relayers(sql: Sql): Promise<GaugePoint[]> {
  const rows = await run(
    sql,
    all
      .selectFrom('relayer as r')
      .select(['r.network', 'r.address as relayer', 'r.pausedReason'])
      .select(({ selectFrom, fn }) =>
        selectFrom('settlement_batch as b')
          .select(fn.countAll<string>().as('count'))
          .whereRef('b.network', '=', 'r.network')
          .whereRef('b.relayer', '=', 'r.address')
          .where('b.state', '=', 'open')
          .as('open'),
      ),
  );
  return rows.flatMap(({ network, relayer, pausedReason, open }) => [
    { name: 'svc.relayer.in_flight', value: Number(open), labels: { network, relayer } },
    { name: 'svc.relayer.paused', value: pausedReason === null ? 0 : 1, labels: { network, relayer } },
  ]);
}

async function alerts(sql: Sql): Promise<GaugePoint[]> {
  const rows = await run(
    sql,
    all
      .selectFrom('operator_alert')
      .select(({ fn }) => ['kind', fn.countAll<string>().as('count')])
      .select(({ fn }) =>
        fn.count<string>('tenantId').distinct().filterWhere('raisedAt', '>', text<Date>`now() - interval '1 day'`).as('tenants'),
      )
      .where('resolvedAt', 'is', null)
      .groupBy('kind'),
  );
  const open = rows.map(({ kind, count }): GaugePoint => ({ name: 'svc.alert.open', value: Number(count), labels: { kind } }));
  const mismatch = rows.find(({ kind }) => kind === 'rollup_mismatch');
  const none: GaugePoint[] = open.length === 0 ? [{ name: 'svc.alert.open', value: 0, labels: { kind: 'none' } }] : [];
  return [...open, ...none, { name: 'svc.rollup.mismatches', value: Number(mismatch?.tenants ?? 0) }];
}

/** Sites refused today for the gas they have spent, by a host of theirs, else by id; the budget's day is the database's. */
async function spentBudgets(sql: Sql): Promise<GaugePoint[]> {
  const spent = all
    .selectFrom('operator_alert')
    .select('tenantId')
    .distinct()
    .where('kind', '=', 'gas_budget_spent')
    .where('resolvedAt', 'is', null)
    .where('raisedAt', '>=', text<Date>`current_date`)
    .orderBy('tenantId')
    .limit(MOST_TENANTS);
  const host = text<string>`coalesce((select min(host) from tenant_host where tenant_host.tenant_id = spent.tenant_id), spent.tenant_id::text)`;
  const rows = await run(sql, all.selectFrom(spent.as('spent')).select(host.as('tenant')));
  if (rows.length === 0) return [{ name: 'svc.gas.budget_spent', value: 0, labels: { site: 'none' } }];
  return rows.map(({ tenant }): GaugePoint => ({ name: 'svc.gas.budget_spent', value: 1, labels: { site: tenant } }));
}

/** Reads the sizes of the database's files, no rows: some 10 ms for ten thousand files. */
async function size(sql: Sql): Promise<GaugePoint[]> {
  const [row] = await sql.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
  return [{ name: 'svc.database.size', value: Number(row?.bytes ?? 0) }];
}

/** How near Postgres is to running out of transaction ids, and how long the service's oldest transaction is open. */
async function health(sql: Sql): Promise<GaugePoint[]> {
  const [row] = await sql.query<{ xids: number; age: string | null }>(
    `select (select max(age(datfrozenxid)) from pg_database) as xids,
       (select extract(epoch from clock_timestamp() - min(xact_start)) from pg_stat_activity
         where datname = current_database() and usename = current_user) as age`,
  );
  return [
    { name: 'svc.database.xid_age', value: row?.xids ?? 0 },
    { name: 'svc.database.transaction_age', value: Math.max(0, Number(row?.age ?? 0)) },
  ];
}

/** What standbys have not taken yet, by the slots that keep it for them; nothing where no standby has a slot. */
async function slots(sql: Sql): Promise<GaugePoint[]> {
  const rows = await sql.query<{ slot: string; behind: string | null; active: boolean }>(
    `select slot_name as slot, active, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) as behind
       from pg_replication_slots where slot_type = 'physical' and not pg_is_in_recovery()`,
  );
  return rows.flatMap(({ slot, behind, active }): GaugePoint[] => [
    { name: 'svc.database.slot_active', value: active ? 1 : 0, labels: { slot } },
    ...(behind === null ? [] : [{ name: 'svc.database.slot_behind', value: Number(behind), labels: { slot } } as const]),
  ]);
}

async function night(sql: Sql): Promise<GaugePoint[]> {
  return [{ name: 'svc.night.age', value: await readNightAge(sql) }];
}

/** What Temporal's schedules last brought to its end, by network: what never was counts from 1970, so that a schedule that is missing shows. */
async function reading(sql: Sql, networks: readonly string[]): Promise<GaugePoint[]> {
  const cursors = all
    .selectFrom('chain_cursor')
    .select('network')
    .select(text<string | null>`extract(epoch from now() - read_at)`.as('read'))
    .select(text<string | null>`extract(epoch from now() - swept_at)`.as('swept'))
    .select(text<string | null>`next_block - compared_block`.as('behind'));
  const known = new Map((await run(sql, cursors)).map((row) => [row.network, row]));
  const ageOf = (seconds: string | null | undefined): number => Math.max(0, Number(seconds ?? Date.now() / 1_000));
  return networks.flatMap((network): GaugePoint[] => {
    const row = known.get(network);
    const labels = { network };
    return [
      { name: 'svc.recon.read_age', value: ageOf(row?.read), labels },
      { name: 'svc.recon.compared_behind', value: Math.max(0, Number(row?.behind ?? 0)), labels },
      { name: 'svc.settle.sweep_age', value: ageOf(row?.swept), labels },
    ];
  });
}

/** How old the archive of the WAL is: what a restore would lose. Nothing where none is kept. */
async function archive(sql: Sql): Promise<GaugePoint[]> {
  const rows = await sql.query<{ age: string; failing: boolean }>(
    `select extract(epoch from now() - coalesce(last_archived_time, pg_postmaster_start_time())) as age,
       coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as failing
      from pg_stat_archiver where current_setting('archive_mode') <> 'off'`,
  );
  return rows.flatMap(({ age, failing }): GaugePoint[] => [
    { name: 'svc.wal.archive_age', value: Math.max(0, Number(age)) },
    { name: 'svc.wal.archive_failing', value: failing ? 1 : 0 },
  ]);
}

/** Seconds that the database's clock is ahead of ours (`now`, epoch milliseconds), within the time that the question took. */
export async function readClockSkew(sql: Sql, now: () => number): Promise<number> {
  const before = now();
  const [clock] = await run(sql, all.selectNoFrom(text<string>`extract(epoch from clock_timestamp())`.as('epoch')));
  const middle = (before + now()) / 2_000;
  return Number(clock?.epoch ?? middle) - middle;
}
