/** The SQL of the operator's commands: what is wrong, what a restore lost, relayer keys, alerts. */

import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { listMigrations } from '../../../db/migrations.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import { run, tables } from '../../../db/statement.ts';

/** Where the database stands. */
export interface DatabaseFacts {
  readonly version: string;
  readonly isReplica: boolean;
  /** Epoch milliseconds of its own clock. */
  readonly nowMs: number;
  /** Days ahead for which observations have a partition. */
  readonly partitionDays: number;
}

/** Version, role, clock and partitions. */
export async function readDatabaseFacts(sql: Sql): Promise<DatabaseFacts> {
  const [row] = await sql.query<{ version: string; replica: boolean; now: Date; days: number | null }>(
    `select current_setting('server_version') as version, pg_is_in_recovery() as replica, clock_timestamp() as now,
       (select max(to_date(right(c.relname, 8), 'YYYYMMDD')) - current_date from pg_class as c
         where c.relkind = 'r' and c.relname ~ '^observation_[0-9]{8}$') as days`,
  );
  if (!row) throw new Error('the database tells nothing of itself');
  return { version: row.version, isReplica: row.replica, nowMs: row.now.getTime(), partitionDays: Number(row.days ?? 0) };
}

/** Migrations of this version that the database does not have, and such as it has from a newer version. */
export async function compareMigrations(sql: Sql): Promise<{ readonly missing: string[]; readonly unknown: string[] }> {
  const rows = await sql.query<{ name: string }>('select name from schema_migration order by name');
  const done = new Set(rows.map(({ name }) => name));
  const known = new Set(listMigrations().map(({ name }) => name));
  return { missing: [...known].filter((name) => !done.has(name)), unknown: [...done].filter((name) => !known.has(name)) };
}

/** A relayer key as the database knows it. */
export interface RelayerFacts {
  readonly network: string;
  readonly address: string;
  readonly nextNonce: bigint;
  readonly pausedReason: string | null;
  readonly openBatches: number;
  /** Batches of it that no safe block has passed: its key must stay until this is 0. */
  readonly unfinishedBatches: number;
}

const KEY = columnsOf('relayer r', ['network', 'address', 'nextNonce', 'pausedReason']);

/** Every relayer key there ever was. */
export async function listRelayers(sql: Sql): Promise<RelayerFacts[]> {
  const batches = (state: string) =>
    `(select count(*)::int from settlement_batch as b where b.network = r.network and b.relayer = r.address and ${state})`;
  const rows = await sql.query<RowOf<typeof KEY> & Pick<RelayerFacts, 'openBatches' | 'unfinishedBatches'>>(
    `select ${KEY.text}, ${batches("b.state = 'open'")} as "openBatches", ${batches("b.state <> 'safe'")} as "unfinishedBatches"
     from relayer as r order by r.network, r.address`,
  );
  return rows.map((row) => ({ ...row, nextNonce: BigInt(row.nextNonce) }));
}

/** Stops a key from taking batches (a reason), or lets it again (null); false when there is no such key. */
export async function pauseRelayer(sql: Sql, network: string, address: string, reason: string | null): Promise<boolean> {
  const key = tables
    .updateTable('relayer')
    .set({ pausedReason: reason })
    .where('network', '=', network)
    .where('address', '=', address);
  return (await run(sql, key.returning('address'))).length > 0;
}

/** Why a key takes no batches; null while it does, and for a key that is not there. */
export async function findPausedReason(sql: Sql, network: string, address: string): Promise<string | null> {
  const key = tables.selectFrom('relayer').select('pausedReason').where('network', '=', network).where('address', '=', address);
  return (await run(sql, key))[0]?.pausedReason ?? null;
}

/** The batch that holds a nonce of a key; null when none does. */
export async function findBatchAt(sql: Sql, network: string, address: string, nonce: bigint): Promise<string | null> {
  const [row] = await run(
    sql,
    tables
      .selectFrom('relayer_nonce')
      .select('batchId')
      .where('network', '=', network)
      .where('relayer', '=', address)
      .where('nonce', '=', nonce.toString()),
  );
  return row?.batchId ?? null;
}

/** The network and the batch of a payment; null when there is no such payment. */
export async function findBatchOfPayment(
  sql: Sql,
  paymentId: string,
): Promise<{ readonly network: string; readonly batchId: string | null } | null> {
  const [row] = await sql.query<{ network: string; batchId: string | null }>(
    'select network, batch_id as "batchId" from ledger.payment where payment_id = $1',
    [paymentId],
  );
  return row ?? null;
}

/** The site of a payment; null when there is no such payment. */
export async function findTenantOfPayment(sql: Sql, paymentId: string): Promise<string | null> {
  const rows = await sql.query<{ tenantId: string }>(
    'select tenant_id as "tenantId" from ledger.payment_intake where payment_id = $1',
    [paymentId],
  );
  return rows[0]?.tenantId ?? null;
}

/** A transfer by an authorization to an address of ours that no payment row explains. */
export interface UnexplainedTransfer {
  readonly txHash: string;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockTime: Date;
  readonly payer: string;
  readonly nonce: string;
  readonly payTo: string;
  readonly amountMicro: bigint;
  /** Sites that sold under this address before. */
  readonly tenantIds: readonly string[];
}

const UNEXPLAINED = both(
  columnsOf('chain_transfer t', ['txHash', 'logIndex', 'blockNumber', 'blockTime', 'fromAddress', 'toAddress', 'amountMicro']),
  workedOut<Pick<UnexplainedTransfer, 'nonce' | 'tenantIds'>>(`t.nonce, array(select distinct p.tenant_id::text
    from ledger.payment_intake as p where p.network = t.network and p.pay_to = t.to_address) as "tenantIds"`),
);

/** Transfers of a network, as stored from the chain, without a payment and not by our own keys: the oldest first, at most 1,000. */
export async function listUnexplained(sql: Sql, network: string): Promise<UnexplainedTransfer[]> {
  const rows = await sql.query<RowOf<typeof UNEXPLAINED>>(
    `select ${UNEXPLAINED.text}
     from ledger.chain_transfer as t
     where t.network = $1 and t.nonce is not null
       and not exists (select 1 from authorization_claim as a
         where a.digest = authorization_digest(t.network, t.token, t.from_address, t.nonce))
       and not exists (select 1 from lost_settlement as l where l.network = t.network and l.asset = t.token
         and l.payer = t.from_address and l.nonce = t.nonce)
       and exists (select 1 from ledger.payment_intake as p where p.network = t.network and p.pay_to = t.to_address)
     order by t.block_number, t.log_index limit 1000`,
    [network],
  );
  return rows.map(({ fromAddress, toAddress, blockNumber, amountMicro, ...row }) => ({
    ...row,
    payer: fromAddress,
    payTo: toAddress,
    blockNumber: BigInt(blockNumber),
    amountMicro: BigInt(amountMicro),
  }));
}

/** Open alerts by kind, and an example of each. */
export async function listAlerts(sql: Sql): Promise<{ kind: string; count: number; since: Date; example: string }[]> {
  const rows = await sql.query<{ kind: string; count: string; since: Date; example: string }>(
    `select kind, count(*) as count, min(raised_at) as since, (array_agg(detail order by raised_at desc))[1] as example
       from operator_alert where resolved_at is null group by kind order by kind`,
  );
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Marks the open alerts of a kind as dealt with; how many there were. */
export async function resolveAlerts(sql: Sql, kind: string): Promise<number> {
  const open = tables.updateTable('operator_alert').where('kind', '=', kind).where('resolvedAt', 'is', null);
  return (await run(sql, open.set({ resolvedAt: text<Date>`now()` }).returning('alertId'))).length;
}
