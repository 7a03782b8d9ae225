import type { Database, Sql } from '../../../db/database.ts';
import { markMined } from './relayer.ts';

/** What a batch's transaction cost in all. */
export interface BatchCost {
  readonly network: string;
  /** In the coin of its network. */
  readonly wei: bigint;
  /** In the coin that budgets count in, wei. */
  readonly chargedWei: bigint;
  readonly gasUsed: bigint;
}

/** Who bears the gas of a batch, by weight, as written with its bytes; nobody where none was written. Null when it is noted already. */
async function holdShares(sql: Sql, batchId: string): Promise<ReadonlyMap<string, bigint> | null> {
  const [row] = await sql.query<{ gas_shares: Record<string, string> | null }>(
    'select gas_shares from settlement_batch where batch_id = $1 and gas_wei is null for no key update',
    [batchId],
    'hold-gas-shares',
  );
  return row ? new Map(Object.entries(row.gas_shares ?? {}).map(([tenantId, weight]) => [tenantId, BigInt(weight)])) : null;
}

async function noteCost(sql: Sql, batchId: string, { wei, gasUsed }: BatchCost): Promise<void> {
  await sql.query(
    'update settlement_batch set gas_wei = $2, gas_used = $3 where batch_id = $1 and gas_wei is null',
    [batchId, wei.toString(), gasUsed.toString()],
    'note-gas',
  );
}

/**
 * Closes a mined batch: its place in flight is free, and what it cost is noted, once for good however often it is called, and charged as
 * `share` says and to the network's day, in one database transaction of two round trips.
 * False when it was noted before: a reorg that mines it again costs the chain's fee once, too.
 */
export async function closeMined(
  database: Database,
  batchId: string,
  cost: BatchCost,
  share: (weights: ReadonlyMap<string, bigint>) => ReadonlyMap<string, bigint>,
): Promise<boolean> {
  return database.shortTransaction(async (sql) => {
    const weights = await holdShares(sql, batchId);
    const usage = weights && share(weights);
    return async () => {
      await Promise.all([
        ...(usage ? [noteCost(sql, batchId, cost), addGasUsage(sql, usage), addNetworkGas(sql, cost)] : []),
        markMined(sql, batchId),
      ]);
      return usage !== null;
    };
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
    'add-gas-usage',
  );
}

/** Adds gas to the day of a network; its row is every batch's, and so written last. */
async function addNetworkGas(sql: Sql, { network, chargedWei }: BatchCost): Promise<void> {
  await sql.query(
    `insert into network_gas_usage (network, day, gas_wei) values ($1, current_date, $2)
     on conflict (network, day) do update set gas_wei = network_gas_usage.gas_wei + excluded.gas_wei`,
    [network, chargedWei.toString()],
    'add-network-gas',
  );
}

/** What the relayer keys of a network have used of its gas today, in the coin that budgets count in, wei. */
export async function readNetworkGasToday(sql: Sql, network: string): Promise<bigint> {
  const [row] = await sql.query<{ gas_wei: string }>(
    'select gas_wei from network_gas_usage where network = $1 and day = current_date',
    [network],
  );
  return BigInt(row?.gas_wei ?? 0);
}

/** What some tenants have used of their gas today, wei. */
export async function listGasToday(sql: Sql, tenantIds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql.query<{ tenant_id: string; gas_wei: string }>(
    'select tenant_id, gas_wei from gas_usage where tenant_id = any ($1::uuid[]) and day = current_date',
    [tenantIds],
  );
  return new Map(rows.map((row) => [row.tenant_id, BigInt(row.gas_wei)]));
}
