import type { Sql } from '../../../db/database.ts';
import type { PaymentState } from '../../kernel/payment/state.ts';
import type { BatchSums, SentTransaction } from '../rules/batchOutcome.ts';
import { sumUp } from '../rules/batchOutcome.ts';
import type { PaymentRef } from './payment.ts';
import { stateOf } from './payment.ts';

/** A batch as its workflow and an operator read of it. */
export interface BatchReport extends SentTransaction, BatchSums {
  readonly network: string;
  /** Milliseconds since it was claimed. */
  readonly ageMs: number;
  /** Milliseconds until nobody holds it; 0 or less: nobody does. */
  readonly heldMs: number;
  /** All that it was made of. */
  readonly payments: readonly PaymentRef[];
  /** The highest block that proves one of its payments; null: none does. */
  readonly blockNumber: bigint | null;
  /** The safe block has decided: its nonce is used below it, and whatever settled in it is final. */
  readonly isOver: boolean;
}

/** What a batch was made of and what became of that; null when there is no such batch. */
export async function readBatchReport(sql: Sql, batchId: string): Promise<BatchReport | null> {
  const [row] = await sql.query<ReportRow>(
    `select batch.network, batch.nonce, batch.kind, batch.tenant_ids, batch.payment_ids, found.block_number,
         (extract(epoch from now() - batch.created_at) * 1000)::double precision as age_ms,
         (extract(epoch from batch.held_until - now()) * 1000)::double precision as held_ms,
         batch.state = 'safe' and batch.final_at is not null as over, coalesce(found.mined,
         (select tx_hash from relayer_transaction where batch_id = $1 order by attempt desc limit 1)) as tx_hash,
       found.states, found.reasons
     from settlement_batch as batch cross join lateral (
       select array_agg(s.state order by carried.at) as states, array_agg(s.reason order by carried.at) as reasons,
         max(s.block_number) as block_number, max(s.tx_hash) as mined
       from unnest(batch.tenant_ids, batch.payment_ids) with ordinality as carried (tenant_id, payment_id, at)
         left join lateral ${stateOf('carried')} as s on s.batch_id = $1) as found
     where batch.batch_id = $1`,
    [batchId],
    'batch-report',
  );
  if (!row) return null;
  const { states, reasons, tx_hash: txHash } = row;
  const payments = row.payment_ids.map((paymentId, at) => ({ tenantId: row.tenant_ids[at] as string, paymentId }));
  const carried = payments.map(({ paymentId }, at) => ({
    paymentId,
    state: states?.[at] ?? null,
    reason: reasons?.[at] ?? null,
  }));
  return {
    network: row.network,
    ageMs: row.age_ms,
    heldMs: row.held_ms,
    blockNumber: row.block_number === null ? null : BigInt(row.block_number),
    isOver: row.over,
    payments,
    txHash,
    nonce: row.kind === 'facilitator' ? null : row.nonce,
    ...sumUp(carried, txHash),
  };
}

interface ReportRow extends Record<string, unknown> {
  network: string;
  age_ms: number;
  held_ms: number;
  block_number: string | null;
  over: boolean;
  nonce: string;
  kind: string;
  tenant_ids: string[];
  payment_ids: string[];
  tx_hash: string | null;
  /** In the order of the payments, null where one went on without the batch; null for a batch without payments. */
  states: (PaymentState | null)[] | null;
  reasons: (string | null)[] | null;
}
