import { raiseAlert } from '../alerts.ts';
import type { Database, Sql } from '../database.ts';

/** A `0x` hex string. */
type Hex = `0x${string}`;

/** One relayer key on one network. */
export interface RelayerRef {
  readonly network: string;
  readonly address: string;
}

/** Signed bytes of a batch; all attempts of a batch share its nonce. */
export interface RelayerTransaction {
  readonly batchId: string;
  readonly attempt: number;
  readonly nonce: bigint;
  readonly kind: 'settle' | 'void' | 'flush';
  readonly txHash: Hex;
  readonly raw: Hex;
  readonly gasLimit: bigint;
  readonly maxFeeWei: bigint;
  readonly priorityFeeWei: bigint;
  readonly signedAt: Date;
  readonly sentAt: Date | null;
}

/** A batch and the relayer that sends it. */
export interface Batch extends RelayerRef {
  readonly batchId: string;
  /** `facilitator`: another one carries it; it has no nonce and no bytes of ours. */
  readonly kind: 'settle' | 'flush' | 'facilitator';
  readonly nonce: bigint;
  readonly state: 'open' | 'mined' | 'safe';
  readonly createdAt: Date;
}

/** What a lane lock found: the nonce to take, or that the lane is full or paused. */
export type Lane = { readonly kind: 'free'; readonly nonce: bigint } | { readonly kind: 'busy' } | { readonly kind: 'paused' };

/**
 * Makes sure a relayer has its row, starting at the chain's transaction count. When the chain is ahead (the key was used
 * elsewhere) its count is adopted and an alert raised; when it is behind, nothing changes: our own bytes are on their way.
 */
export async function ensureRelayer(
  database: Database,
  ref: RelayerRef,
  chainNonce: bigint,
  inFlightLimit: number,
): Promise<void> {
  await database.transaction(async (sql) => {
    const rows = await sql.query<{ next_nonce: string }>(
      `insert into relayer (network, address, next_nonce, in_flight_limit) values ($1, $2, $3, $4)
       on conflict (network, address) do update set in_flight_limit = excluded.in_flight_limit returning next_nonce`,
      [ref.network, ref.address, chainNonce.toString(), inFlightLimit],
    );
    if (BigInt(rows[0]?.next_nonce ?? 0) >= chainNonce) return;
    await sql.query('update relayer set next_nonce = $3 where network = $1 and address = $2', [
      ref.network,
      ref.address,
      chainNonce.toString(),
    ]);
    await raiseAlert(sql, 'relayer_nonce_adopted', `${ref.network} ${ref.address} now at ${chainNonce}`);
  });
}

/** Locks a relayer's lane and tells whether a batch may take its next nonce (the limit is the key's, safety 10). */
export async function lockLane(sql: Sql, ref: RelayerRef): Promise<Lane> {
  const rows = await sql.query<{ next_nonce: string; in_flight_limit: number; paused_reason: string | null }>(
    'select next_nonce, in_flight_limit, paused_reason from relayer where network = $1 and address = $2 for update',
    [ref.network, ref.address],
  );
  const row = rows[0];
  if (!row || row.paused_reason !== null) return { kind: 'paused' };
  const open = await sql.query<{ count: string }>(
    "select count(*) from settlement_batch where network = $1 and relayer = $2 and state = 'open'",
    [ref.network, ref.address],
  );
  if (Number(open[0]?.count ?? 0) >= row.in_flight_limit) return { kind: 'busy' };
  return { kind: 'free', nonce: BigInt(row.next_nonce) };
}

/** Flushes of a network in flight. */
export async function countOpenFlushes(sql: Sql, network: string): Promise<number> {
  const rows = await sql.query<{ count: string }>(
    "select count(*) from settlement_batch where network = $1 and kind = 'flush' and state = 'open'",
    [network],
  );
  return Number(rows[0]?.count ?? 0);
}

/** What a claim writes once the bytes are signed. */
export interface SignedBatch {
  readonly network: string;
  readonly relayer: string;
  readonly batchId: string;
  readonly workflowId: string | null;
  readonly kind: 'settle' | 'flush';
  readonly nonce: bigint;
  readonly txHash: Hex;
  readonly raw: Hex;
  readonly gasLimit: bigint;
  readonly maxFeeWei: bigint;
  readonly priorityFeeWei: bigint;
}

/** Takes the nonce and stores the signed bytes; the lane is locked by the caller's transaction (safety 7). */
export async function insertBatch(sql: Sql, batch: SignedBatch): Promise<void> {
  await sql.query(
    `with taken as (
       update relayer set next_nonce = $5::bigint + 1 where network = $2 and address = $3
     ), held as (
       insert into relayer_nonce (network, relayer, nonce, batch_id) values ($2, $3, $5, $1)
     )
     insert into settlement_batch (batch_id, network, relayer, kind, workflow_id, nonce) values ($1, $2, $3, $4, $6, $5)`,
    [batch.batchId, batch.network, batch.relayer, batch.kind, batch.nonce.toString(), batch.workflowId],
  );
  await insertAttempt(sql, { ...batch, attempt: 1, kind: batch.kind });
}

/** Stores further bytes of a batch under its nonce; inserting an attempt that exists changes nothing and returns false. */
export async function insertAttempt(
  sql: Sql,
  tx: Omit<SignedBatch, 'kind' | 'workflowId'> & { readonly attempt: number; readonly kind: RelayerTransaction['kind'] },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into relayer_transaction (batch_id, attempt, network, relayer, nonce, kind, tx_hash, raw, gas_limit, max_fee_wei,
       priority_fee_wei) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (batch_id, attempt) do nothing returning 1`,
    [
      ...[tx.batchId, tx.attempt, tx.network, tx.relayer, tx.nonce.toString(), tx.kind, tx.txHash, tx.raw],
      ...[tx.gasLimit.toString(), tx.maxFeeWei.toString(), tx.priorityFeeWei.toString()],
    ],
  );
  return rows.length === 1;
}

/** The batch by id; null before its claim was committed. */
export async function findBatch(sql: Sql, batchId: string): Promise<Batch | null> {
  const rows = await sql.query<BatchRow>('select * from settlement_batch where batch_id = $1', [batchId]);
  return rows[0] ? batchFromRow(rows[0]) : null;
}

/** Batches that are not safe yet: open ones first, then lowest nonce first, 200 at most. */
export async function listUnfinishedBatches(sql: Sql, ref: RelayerRef): Promise<Batch[]> {
  const rows = await sql.query<BatchRow>(
    `select * from settlement_batch where network = $1 and relayer = $2 and state <> 'safe'
      order by state = 'open' desc, nonce limit 200`,
    [ref.network, ref.address],
  );
  return rows.map(batchFromRow);
}

/** Every batch of a lane from one nonce to below another, lowest first, whatever its state: a reorg lowers the chain's count. */
export async function listLane(sql: Sql, ref: RelayerRef, fromNonce: bigint, belowNonce: bigint): Promise<Batch[]> {
  const rows = await sql.query<BatchRow>(
    `select settlement_batch.* from relayer_nonce join settlement_batch using (batch_id)
      where relayer_nonce.network = $1 and relayer_nonce.relayer = $2 and relayer_nonce.nonce >= $3 and relayer_nonce.nonce < $4
      order by relayer_nonce.nonce limit 200`,
    [ref.network, ref.address, fromNonce.toString(), belowNonce.toString()],
  );
  return rows.map(batchFromRow);
}

/** Moves a batch on, or back to `open` when a reorg took its transaction. */
export async function setBatchState(sql: Sql, batchId: string, state: Batch['state']): Promise<void> {
  await sql.query(
    `update settlement_batch set state = $2, closed_at = case when $2 = 'safe' then now() else null end where batch_id = $1`,
    [batchId, state],
  );
}

/** Frees the batch's place in flight; true for the one caller that moved it on from `open`. */
export async function markMined(sql: Sql, batchId: string): Promise<boolean> {
  const rows = await sql.query("update settlement_batch set state = 'mined' where batch_id = $1 and state = 'open' returning 1", [
    batchId,
  ]);
  return rows.length === 1;
}

/** All signed bytes of a batch, first attempt first. */
export async function listAttempts(sql: Sql, batchId: string): Promise<RelayerTransaction[]> {
  const rows = await sql.query<TransactionRow>('select * from relayer_transaction where batch_id = $1 order by attempt', [
    batchId,
  ]);
  return rows.map(transactionFromRow);
}

/** All signed bytes of some batches, first attempts first. */
export async function listAttemptsOf(sql: Sql, batchIds: readonly string[]): Promise<RelayerTransaction[]> {
  if (batchIds.length === 0) return [];
  const rows = await sql.query<TransactionRow>(
    'select * from relayer_transaction where batch_id = any ($1::uuid[]) order by batch_id, attempt',
    [batchIds],
  );
  return rows.map(transactionFromRow);
}

/** Notes that bytes went out and what the node said. */
export async function recordSend(sql: Sql, txHash: string, network: string, result: string): Promise<void> {
  await sql.query('update relayer_transaction set sent_at = now(), send_result = $3 where network = $1 and tx_hash = $2', [
    network,
    txHash,
    result,
  ]);
}

interface BatchRow extends Record<string, unknown> {
  batch_id: string;
  network: string;
  relayer: string;
  kind: Batch['kind'];
  nonce: string;
  state: Batch['state'];
  created_at: Date;
}

function batchFromRow(row: BatchRow): Batch {
  return {
    batchId: row.batch_id,
    network: row.network,
    address: row.relayer,
    kind: row.kind,
    nonce: BigInt(row.nonce),
    state: row.state,
    createdAt: row.created_at,
  };
}

interface TransactionRow extends Record<string, unknown> {
  batch_id: string;
  attempt: number;
  nonce: string;
  kind: RelayerTransaction['kind'];
  tx_hash: Hex;
  raw: Hex;
  gas_limit: string;
  max_fee_wei: string;
  priority_fee_wei: string;
  signed_at: Date;
  sent_at: Date | null;
}

function transactionFromRow(row: TransactionRow): RelayerTransaction {
  return {
    batchId: row.batch_id,
    attempt: row.attempt,
    nonce: BigInt(row.nonce),
    kind: row.kind,
    txHash: row.tx_hash,
    raw: row.raw,
    gasLimit: BigInt(row.gas_limit),
    maxFeeWei: BigInt(row.max_fee_wei),
    priorityFeeWei: BigInt(row.priority_fee_wei),
    signedAt: row.signed_at,
    sentAt: row.sent_at,
  };
}
