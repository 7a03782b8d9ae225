import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { anyOf, run, statement, tables } from '../../../db/statement.ts';
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

const shares = statement<{ batchId: string }>()(
  (place) =>
    tables
      .selectFrom('settlement_batch')
      .select('gasShares')
      .where('batchId', '=', place('batchId'))
      .where('gasWei', 'is', null)
      .forNoKeyUpdate(),
  'hold-gas-shares',
);

/** Who bears the gas of a batch, by weight, as written with its bytes; nobody where none was written. Null when it is noted already. */
async function holdShares(sql: Sql, batchId: string): Promise<ReadonlyMap<string, bigint> | null> {
  const [row] = await shares(sql, { batchId });
  return row ? new Map(Object.entries(row.gasShares ?? {}).map(([tenantId, weight]) => [tenantId, BigInt(weight)])) : null;
}

const note = statement<{ batchId: string; gasWei: string; gasUsed: string }>()(
  (place) =>
    tables
      .updateTable('settlement_batch')
      .set({ gasWei: place('gasWei'), gasUsed: place('gasUsed') })
      .where('batchId', '=', place('batchId'))
      .where('gasWei', 'is', null),
  'note-gas',
);

async function noteCost(sql: Sql, batchId: string, { wei, gasUsed }: BatchCost): Promise<void> {
  await note(sql, { batchId, gasWei: wei.toString(), gasUsed: gasUsed.toString() });
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

const TODAY = text<string>`current_date`;
const addToNetwork = statement<{ network: string; chargedWei: string }>()(
  (place) =>
    tables
      .insertInto('network_gas_usage')
      .values({ network: place('network'), day: TODAY, gasWei: place('chargedWei') })
      .onConflict((known) =>
        known.columns(['network', 'day']).doUpdateSet({
          gasWei: text<string>`network_gas_usage.gas_wei + excluded.gas_wei`,
        }),
      ),
  'add-network-gas',
);

/** Adds gas to the day of a network; its row is every batch's, and so written last. */
async function addNetworkGas(sql: Sql, { network, chargedWei }: BatchCost): Promise<void> {
  await addToNetwork(sql, { network, chargedWei: chargedWei.toString() });
}

/** What the relayer keys of a network have used of its gas today, in the coin that budgets count in, wei. */
export async function readNetworkGasToday(sql: Sql, network: string): Promise<bigint> {
  const used = tables.selectFrom('network_gas_usage').select('gasWei').where('network', '=', network).where('day', '=', TODAY);
  return BigInt((await run(sql, used))[0]?.gasWei ?? 0);
}

/** What some tenants have used of their gas today, wei. */
export async function listGasToday(sql: Sql, tenantIds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  const used = tables.selectFrom('gas_usage').select(['tenantId', 'gasWei']).where('tenantId', '=', anyOf(tenantIds));
  const rows = await run(sql, used.where('day', '=', TODAY));
  return new Map(rows.map(({ tenantId, gasWei }) => [tenantId, BigInt(gasWei)]));
}
