/** The SQL of the operator's commands: what is wrong, what a restore lost, relayer keys, alerts. */

import type { NotNull } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { listMigrations } from '../../../db/migrations.ts';
import { acrossSites, run, tables } from '../../../db/statement.ts';

const all = acrossSites('the operator');

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
  const rows = await run(
    sql,
    tables
      .selectFrom('relayer as r')
      .select(['r.network', 'r.address', 'r.nextNonce', 'r.pausedReason'])
      .select(({ selectFrom, fn }) => {
        const batches = selectFrom('settlement_batch as b')
          .select(fn.countAll<string>().as('count'))
          .whereRef('b.network', '=', 'r.network')
          .whereRef('b.relayer', '=', 'r.address');
        return [
          batches.where('b.state', '=', 'open').as('openBatches'),
          batches.where('b.state', '<>', 'safe').as('unfinishedBatches'),
        ];
      })
      .orderBy('r.network')
      .orderBy('r.address'),
  );
  return rows.map((row) => ({
    ...row,
    nextNonce: BigInt(row.nextNonce),
    openBatches: Number(row.openBatches),
    unfinishedBatches: Number(row.unfinishedBatches),
  }));
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
  const payment = all.selectFrom('ledger.payment').select(['network', 'batchId']).where('paymentId', '=', paymentId);
  return (await run(sql, payment))[0] ?? null;
}

/** The site of a payment; null when there is no such payment. */
export async function findTenantOfPayment(sql: Sql, paymentId: string): Promise<string | null> {
  const payment = all.selectFrom('ledger.payment_intake').select('tenantId').where('paymentId', '=', paymentId);
  return (await run(sql, payment))[0]?.tenantId ?? null;
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

const sellers = text<string[]>`array(select distinct p.tenant_id::text
  from ledger.payment_intake as p where p.network = t.network and p.pay_to = t.to_address)`;

/** Transfers of a network, as stored from the chain, without a payment and not by our own keys: the oldest first, at most 1,000. */
export async function listUnexplained(sql: Sql, network: string): Promise<UnexplainedTransfer[]> {
  const rows = await run(
    sql,
    all
      .selectFrom('ledger.chain_transfer as t')
      .select(['t.txHash', 't.logIndex', 't.blockNumber', 't.blockTime', 't.fromAddress as payer', 't.toAddress as payTo'])
      .select(['t.amountMicro', 't.nonce', sellers.as('tenantIds')])
      .where('t.network', '=', network)
      .where('t.nonce', 'is not', null)
      .$narrowType<{ nonce: NotNull }>()
      .where(({ and, not, exists, selectFrom }) =>
        and([
          not(
            exists(
              selectFrom('authorization_claim as a')
                .select('a.paymentId')
                .where('a.digest', '=', text<Buffer>`authorization_digest(t.network, t.token, t.from_address, t.nonce)`),
            ),
          ),
          not(
            exists(
              selectFrom('lost_settlement as l')
                .select('l.payer')
                .whereRef('l.network', '=', 't.network')
                .whereRef('l.asset', '=', 't.token')
                .whereRef('l.payer', '=', 't.fromAddress')
                .whereRef('l.nonce', '=', 't.nonce'),
            ),
          ),
          exists(
            selectFrom('ledger.payment_intake as p')
              .select('p.paymentId')
              .whereRef('p.network', '=', 't.network')
              .whereRef('p.payTo', '=', 't.toAddress'),
          ),
        ]),
      )
      .orderBy('t.blockNumber')
      .orderBy('t.logIndex')
      .limit(1_000),
  );
  return rows.map((row) => ({ ...row, blockNumber: BigInt(row.blockNumber), amountMicro: BigInt(row.amountMicro) }));
}

/** Open alerts by kind, and an example of each. */
export async function listAlerts(sql: Sql): Promise<{ kind: string; count: number; since: Date; example: string }[]> {
  const rows = await run(
    sql,
    tables
      .selectFrom('operator_alert')
      .select(({ fn }) => ['kind', fn.countAll<string>().as('count'), fn.min('raisedAt').as('since')])
      .select(text<string>`(array_agg(detail order by raised_at desc))[1]`.as('example'))
      .where('resolvedAt', 'is', null)
      .groupBy('kind')
      .orderBy('kind'),
  );
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Marks the open alerts of a kind as dealt with; how many there were. */
export async function resolveAlerts(sql: Sql, kind: string): Promise<number> {
  const open = tables.updateTable('operator_alert').where('kind', '=', kind).where('resolvedAt', 'is', null);
  return (await run(sql, open.set({ resolvedAt: text<Date>`now()` }).returning('alertId'))).length;
}
