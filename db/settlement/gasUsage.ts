import type { Database, Sql } from '../database.ts';
import { markMined } from './relayer.ts';

/** What a batch's transaction cost in all, in the coin of its network, and the gas it used. */
export interface BatchCost {
  readonly wei: bigint;
  readonly gasUsed: bigint;
}

/** Who bears the gas of a batch, by weight, as written with its bytes; nobody for one of an older version. Null when it is noted already. */
async function takeShares(sql: Sql, batchId: string, { wei, gasUsed }: BatchCost): Promise<ReadonlyMap<string, bigint> | null> {
  const rows = await sql.query<{ gas_shares: Record<string, string> | null }>(
    'update settlement_batch set gas_wei = $2, gas_used = $3 where batch_id = $1 and gas_wei is null returning gas_shares',
    [batchId, wei.toString(), gasUsed.toString()],
  );
  const [row] = rows;
  return row ? new Map(Object.entries(row.gas_shares ?? {}).map(([tenantId, weight]) => [tenantId, BigInt(weight)])) : null;
}

/**
 * Closes a mined batch: its place in flight is free, and what it cost is noted, once for good however often it is called, and charged as
 * `share` says, in one database transaction.
 * False when it was noted before: a reorg that mines it again costs the chain's fee once, too.
 */
export async function closeMined(
  database: Database,
  batchId: string,
  cost: BatchCost,
  share: (weights: ReadonlyMap<string, bigint>) => ReadonlyMap<string, bigint>,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const weights = await takeShares(sql, batchId, cost);
    await markMined(sql, batchId);
    if (weights) await addGasUsage(sql, share(weights));
    return weights !== null;
  });
}

/** Adds gas to the tenants' day, in key order. */
async function addGasUsage(sql: Sql, usage: ReadonlyMap<string, bigint>): Promise<void> {
  const entries = [...usage].sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return;
  await sql.query(
    `insert into gas_usage (tenant_id, day, gas_wei)
     select tenant_id, current_date, wei from unnest($1::uuid[], $2::numeric[]) as used (tenant_id, wei)
     on conflict (tenant_id, day) do update set gas_wei = gas_usage.gas_wei + excluded.gas_wei`,
    [entries.map(([tenantId]) => tenantId), entries.map(([, wei]) => wei.toString())],
  );
}

/** What some tenants have used of their gas today, wei. */
export async function listGasToday(sql: Sql, tenantIds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql.query<{ tenant_id: string; gas_wei: string }>(
    'select tenant_id, gas_wei from gas_usage where tenant_id = any ($1::uuid[]) and day = current_date',
    [tenantIds],
  );
  return new Map(rows.map((row) => [row.tenant_id, BigInt(row.gas_wei)]));
}
