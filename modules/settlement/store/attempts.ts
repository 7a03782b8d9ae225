/** Signed bytes of batches: each attempt of a batch, under its one nonce. */
import type { Insertable } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { bufferOf, hexOf } from '../../../db/hex.ts';
import { anyOf, statement, tables } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
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

type Row = Insertable<Tables['relayer_transaction']>;
const insert = statement<Row>()(
  (place) =>
    tables
      .insertInto('relayer_transaction')
      .values({
        ...{ batchId: place('batchId'), attempt: place('attempt'), network: place('network'), relayer: place('relayer') },
        ...{ nonce: place('nonce'), kind: place('kind'), txHash: place('txHash'), raw: place('raw') },
        ...{ gasLimit: place('gasLimit'), maxFeeWei: place('maxFeeWei'), priorityFeeWei: place('priorityFeeWei') },
      })
      .onConflict((conflict) => conflict.columns(['batchId', 'attempt']).doNothing())
      .returning('attempt'),
  'insert-attempt',
);
const attemptsOf = statement<{ readonly batchIds: readonly string[] }>()((place) =>
  tables
    .selectFrom('relayer_transaction')
    .select([
      ...(['batchId', 'attempt', 'nonce', 'kind', 'txHash', 'raw', 'gasLimit', 'maxFeeWei', 'priorityFeeWei'] as const),
      ...(['signedAt', 'sentAt'] as const),
    ])
    .where('batchId', '=', anyOf(place('batchIds')))
    .orderBy('batchId')
    .orderBy('attempt'),
);
const send = statement<{ readonly batchId: string; readonly attempt: number; readonly result: string }>()(
  (place) =>
    tables
      .updateTable('relayer_transaction')
      .set({ sentAt: text<Date>`now()`, sendResult: place('result') })
      .where('batchId', '=', place('batchId'))
      .where('attempt', '=', place('attempt')),
  'record-send',
);

/** Stores further bytes of a batch under its nonce; inserting an attempt that exists changes nothing and returns false. */
export async function insertAttempt(
  sql: Sql,
  tx: Omit<SignedBatch, 'kind' | 'workflowId' | 'gasShares'> & {
    readonly attempt: number;
    readonly kind: RelayerTransaction['kind'];
  },
): Promise<boolean> {
  const { batchId, attempt, network, relayer, kind, txHash } = tx;
  const inserted = await insert(sql, {
    ...{ batchId, attempt, network, relayer, kind, txHash },
    nonce: tx.nonce.toString(),
    raw: bufferOf(tx.raw),
    gasLimit: tx.gasLimit.toString(),
    maxFeeWei: tx.maxFeeWei.toString(),
    priorityFeeWei: tx.priorityFeeWei.toString(),
  });
  return inserted.length > 0;
}

/** All signed bytes of a batch, first attempt first. */
export async function listAttempts(sql: Sql, batchId: string): Promise<RelayerTransaction[]> {
  return listAttemptsOf(sql, [batchId]);
}

/** All signed bytes of some batches, first attempts first. */
export async function listAttemptsOf(sql: Sql, batchIds: readonly string[]): Promise<RelayerTransaction[]> {
  if (batchIds.length === 0) return [];
  return (await attemptsOf(sql, { batchIds })).map(transactionOf);
}

/** Notes that bytes went out and what the node said. */
export async function recordSend(
  sql: Sql,
  { batchId, attempt }: Pick<RelayerTransaction, 'batchId' | 'attempt'>,
  result: string,
): Promise<void> {
  await send(sql, { batchId, attempt, result });
}

function transactionOf(row: Awaited<ReturnType<typeof attemptsOf>>[number]): RelayerTransaction {
  return {
    ...row,
    nonce: BigInt(row.nonce),
    raw: hexOf(row.raw),
    gasLimit: BigInt(row.gasLimit),
    maxFeeWei: BigInt(row.maxFeeWei),
    priorityFeeWei: BigInt(row.priorityFeeWei),
  };
}
