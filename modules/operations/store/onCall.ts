/** What an operator on call asks across sites: who uses the gas, which receivers have a backlog, which releases are connected. */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { acrossSites, run } from '../../../db/statement.ts';

const all = acrossSites('the operator');

/** Deliveries looked at for one answer: beyond them, more is as bad. */
const MOST_DELIVERIES = 100_000;

/** What a site used of the gas. */
export interface SiteGas {
  readonly tenantId: string;
  /** One of its hosts; null: it has none. */
  readonly host: string | null;
  /** In the coin that budgets count in. */
  readonly wei: bigint;
}

/** The sites that used most gas in the last `days` days of the database (1: today), and what all used. */
export async function listGasBySite(
  sql: Sql,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<{ readonly totalWei: bigint; readonly sites: readonly SiteGas[] }> {
  const used = all.selectFrom('gas_usage as g').where(text<boolean>`g.day > current_date - ${days}::int`);
  const [total] = await run(sql, used.select(text<string>`coalesce(sum(g.gas_wei), 0)::text`.as('wei')));
  const rows = await run(
    sql,
    used
      .select('g.tenantId')
      .select(text<string>`sum(g.gas_wei)::text`.as('wei'))
      .select(text<string | null>`(select min(host) from tenant_host where tenant_host.tenant_id = g.tenant_id)`.as('host'))
      .groupBy('g.tenantId')
      .orderBy(text`sum(g.gas_wei)`, 'desc')
      .orderBy('g.tenantId')
      .limit(limit),
  );
  return { totalWei: BigInt(total?.wei ?? 0), sites: rows.map(({ wei, ...row }) => ({ ...row, wei: BigInt(wei) })) };
}

/** A receiver with deliveries that are due. */
export interface ReceiverBacklog {
  readonly tenantId: string;
  readonly endpointId: string;
  /** Scheme and host of its URL: a path may hold a secret. */
  readonly origin: string;
  readonly due: number;
  readonly oldestSeconds: number;
  readonly failuresInRow: number;
  readonly pausedUntil: Date | null;
  readonly enabled: boolean;
}

/** Receivers with deliveries that are due, the largest backlog first. */
export async function listReceiverBacklogs(sql: Sql, limit: number): Promise<ReceiverBacklog[]> {
  const due = (retrying: boolean) =>
    all
      .selectFrom('delivery as d')
      .select(['d.tenantId', 'd.endpointId', 'd.dueAt'])
      .where('d.state', '=', 'pending')
      .where('d.retrying', '=', retrying)
      .where('d.dueAt', '<=', text<Date>`clock_timestamp()`)
      .limit(MOST_DELIVERIES);
  const some = (retrying: boolean) => all.selectFrom(due(retrying).as('some')).selectAll('some');
  const rows = await run(
    sql,
    all
      .selectFrom(some(false).unionAll(some(true)).as('due'))
      .innerJoin('webhook_endpoint as e', (on) =>
        on.onRef('e.tenantId', '=', 'due.tenantId').onRef('e.endpointId', '=', 'due.endpointId'),
      )
      .select(['e.tenantId', 'e.endpointId', 'e.url', 'e.failuresInRow', 'e.pausedUntil', 'e.enabled'])
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .select(text<number>`floor(extract(epoch from clock_timestamp() - min(due.due_at)))::int`.as('oldestSeconds'))
      .groupBy(['e.tenantId', 'e.endpointId'])
      .orderBy('count', 'desc')
      .orderBy('e.endpointId')
      .limit(limit),
  );
  return rows.map(({ url, count, ...row }) => ({ ...row, origin: new URL(url).origin, due: Number(count) }));
}

/** A process of the service that is connected to the database, as it named itself. */
export interface ConnectedProcess {
  /** `api` or `worker`. */
  readonly process: string;
  readonly version: string;
  readonly machine: string;
}

/** The processes that are connected now, by what they call themselves (`processName`); those of other roles are not seen. */
export async function listConnectedProcesses(sql: Sql): Promise<ConnectedProcess[]> {
  const rows = await sql.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
      where datname = current_database() and application_name ~ '^svc (api|worker) [^ ]+ on ' order by 1`,
  );
  return rows.flatMap(({ name }) => {
    const [, process, version, machine] = /^svc (api|worker) ([^ ]+) on (.*)$/.exec(name) ?? [];
    return process && version && machine ? [{ process, version, machine }] : [];
  });
}

/** When the nightly round last ended well, seconds ago; counted from the first migration while it never did. */
export async function readNightAge(sql: Sql): Promise<number> {
  const ended = all.selectFrom('retention_progress').select('doneBefore').where('what', '=', NIGHT);
  const [row] = await run(sql, ended);
  const [now] = await sql.query<{ age: string }>(
    'select extract(epoch from now() - coalesce($1::timestamptz, min(executed_at))) as age from schema_migration',
    [row?.doneBefore ?? null],
  );
  return Math.max(0, Number(now?.age ?? 0));
}

/** What the nightly round is called in `retention_progress`. */
export const NIGHT = 'night';
