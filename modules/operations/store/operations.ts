/** The SQL of the operator's commands: what is wrong, what a restore lost, relayer keys, alerts. */
import type { Sql } from '../../../db/database.ts';
import { listMigrations } from '../../../db/migrations.ts';

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

/** Every relayer key there ever was. */
export async function listRelayers(sql: Sql): Promise<RelayerFacts[]> {
  const rows = await sql.query<{
    network: string;
    address: string;
    next_nonce: string;
    paused_reason: string | null;
    open: string;
    unfinished: string;
  }>(
    `select r.network, r.address, r.next_nonce, r.paused_reason,
       (select count(*) from settlement_batch as b where b.network = r.network and b.relayer = r.address and b.state = 'open') as open,
       (select count(*) from settlement_batch as b where b.network = r.network and b.relayer = r.address and b.state <> 'safe')
         as unfinished
     from relayer as r order by r.network, r.address`,
  );
  return rows.map((row) => ({
    network: row.network,
    address: row.address,
    nextNonce: BigInt(row.next_nonce),
    pausedReason: row.paused_reason,
    openBatches: Number(row.open),
    unfinishedBatches: Number(row.unfinished),
  }));
}

/** Stops a key from taking batches (a reason), or lets it again (null); false when there is no such key. */
export async function pauseRelayer(sql: Sql, network: string, address: string, reason: string | null): Promise<boolean> {
  const rows = await sql.query('update relayer set paused_reason = $3 where network = $1 and address = $2 returning 1', [
    network,
    address,
    reason,
  ]);
  return rows.length > 0;
}

/** Why a key takes no batches; null while it does, and for a key that is not there. */
export async function findPausedReason(sql: Sql, network: string, address: string): Promise<string | null> {
  const rows = await sql.query<{ paused_reason: string | null }>(
    'select paused_reason from relayer where network = $1 and address = $2',
    [network, address],
  );
  return rows[0]?.paused_reason ?? null;
}

/** The batch that holds a nonce of a key; null when none does. */
export async function findBatchAt(sql: Sql, network: string, address: string, nonce: bigint): Promise<string | null> {
  const rows = await sql.query<{ batch_id: string }>(
    'select batch_id from relayer_nonce where network = $1 and relayer = $2 and nonce = $3',
    [network, address, nonce.toString()],
  );
  return rows[0]?.batch_id ?? null;
}

/** The network and the batch of a payment; null when there is no such payment. */
export async function findBatchOfPayment(
  sql: Sql,
  paymentId: string,
): Promise<{ readonly network: string; readonly batchId: string | null } | null> {
  const rows = await sql.query<{ network: string; batch_id: string | null }>(
    'select network, batch_id from ledger.payment where payment_id = $1',
    [paymentId],
  );
  return rows[0] ? { network: rows[0].network, batchId: rows[0].batch_id } : null;
}

/** The site of a payment; null when there is no such payment. */
export async function findTenantOfPayment(sql: Sql, paymentId: string): Promise<string | null> {
  const rows = await sql.query<{ tenant_id: string }>('select tenant_id from ledger.payment_intake where payment_id = $1', [
    paymentId,
  ]);
  return rows[0]?.tenant_id ?? null;
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

/** Transfers of a network, as stored from the chain, without a payment and not by our own keys: the oldest first, at most 1,000. */
export async function listUnexplained(sql: Sql, network: string): Promise<UnexplainedTransfer[]> {
  const rows = await sql.query<{
    tx_hash: string;
    log_index: number;
    block_number: string;
    block_time: Date;
    payer: string;
    nonce: string;
    to_address: string;
    amount_micro: string;
    tenants: string[];
  }>(
    `select t.tx_hash, t.log_index, t.block_number, t.block_time, t.from_address as payer, t.nonce, t.to_address, t.amount_micro,
       array(select distinct p.tenant_id::text from ledger.payment_intake as p where p.network = t.network and p.pay_to = t.to_address) as tenants
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
  return rows.map((row) => ({
    txHash: row.tx_hash,
    logIndex: row.log_index,
    blockNumber: BigInt(row.block_number),
    blockTime: row.block_time,
    payer: row.payer,
    nonce: row.nonce,
    payTo: row.to_address,
    amountMicro: BigInt(row.amount_micro),
    tenantIds: row.tenants,
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
  const rows = await sql.query(
    'update operator_alert set resolved_at = now() where kind = $1 and resolved_at is null returning 1',
    [kind],
  );
  return rows.length;
}
