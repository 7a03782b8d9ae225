/** Signed bytes of batches: each attempt of a batch, under its one nonce. */
import type { Sql } from '../../../db/database.ts';
import { bytesOf, hexOf } from '../../../db/hex.ts';
import { insertRow } from '../../../db/insertRow.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';
import type { SignedBatch } from './relayer.ts';

/** A `0x` hex string. */
type Hex = `0x${string}`;

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

/** Stores further bytes of a batch under its nonce; inserting an attempt that exists changes nothing and returns false. */
export async function insertAttempt(
  sql: Sql,
  tx: Omit<SignedBatch, 'kind' | 'workflowId' | 'gasShares'> & {
    readonly attempt: number;
    readonly kind: RelayerTransaction['kind'];
  },
): Promise<boolean> {
  const row = {
    batch_id: tx.batchId,
    attempt: tx.attempt,
    network: tx.network,
    relayer: tx.relayer,
    nonce: tx.nonce.toString(),
    kind: tx.kind,
    tx_hash: tx.txHash,
    raw: bytesOf(tx.raw),
    gas_limit: tx.gasLimit.toString(),
    max_fee_wei: tx.maxFeeWei.toString(),
    priority_fee_wei: tx.priorityFeeWei.toString(),
  };
  const onConflict = 'on conflict (batch_id, attempt) do nothing';
  return await insertRow(sql, 'relayer_transaction', row, { onConflict, name: 'insert-attempt' });
}

/** All signed bytes of a batch, first attempt first. */
export async function listAttempts(sql: Sql, batchId: string): Promise<RelayerTransaction[]> {
  const rows = await sql.query<RowOf<typeof SHOWN>>(
    `select ${SHOWN.text} from relayer_transaction as t where batch_id = $1 order by attempt`,
    [batchId],
  );
  return rows.map(transactionOf);
}

/** All signed bytes of some batches, first attempts first. */
export async function listAttemptsOf(sql: Sql, batchIds: readonly string[]): Promise<RelayerTransaction[]> {
  if (batchIds.length === 0) return [];
  const rows = await sql.query<RowOf<typeof SHOWN>>(
    `select ${SHOWN.text} from relayer_transaction as t where batch_id = any ($1::uuid[]) order by batch_id, attempt`,
    [batchIds],
  );
  return rows.map(transactionOf);
}

/** Notes that bytes went out and what the node said. */
export async function recordSend(
  sql: Sql,
  { batchId, attempt }: Pick<RelayerTransaction, 'batchId' | 'attempt'>,
  result: string,
): Promise<void> {
  await sql.query(
    'update relayer_transaction set sent_at = now(), send_result = $3 where batch_id = $1 and attempt = $2',
    [batchId, attempt, result],
    'record-send',
  );
}

const SHOWN = columnsOf('relayer_transaction t', [
  'batchId',
  'attempt',
  'nonce',
  'kind',
  'txHash',
  'raw',
  'gasLimit',
  'maxFeeWei',
  'priorityFeeWei',
  'signedAt',
  'sentAt',
]);

function transactionOf(row: RowOf<typeof SHOWN>): RelayerTransaction {
  return {
    ...row,
    nonce: BigInt(row.nonce),
    raw: hexOf(row.raw),
    gasLimit: BigInt(row.gasLimit),
    maxFeeWei: BigInt(row.maxFeeWei),
    priorityFeeWei: BigInt(row.priorityFeeWei),
  };
}
