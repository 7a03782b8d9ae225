import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { SETTLED_STATES, UNDECIDED_STATES } from '../../kernel/payment/state.ts';
import type { BatchOutcome, SentTransaction } from '../rules/batchOutcome.ts';
import type { PaymentRef } from './payment.ts';
import { stateOf } from './payment.ts';

/** A batch as its workflow and an operator read of it. */
export interface BatchReport extends SentTransaction {
  readonly network: string;
  /** Milliseconds since it was claimed. */
  readonly ageMs: number;
  /** Milliseconds until nobody holds it; 0 or less: nobody does. */
  readonly heldMs: number;
  /** All that it was made of. */
  readonly payments: readonly PaymentRef[];
  readonly outcome: BatchOutcome;
  /** Payments that its bytes still carry: none of them is decided. */
  readonly open: number;
  /** The highest block that proves one of its payments; null: none does. */
  readonly blockNumber: bigint | null;
  /** The safe block has decided: its nonce is used below it, and whatever settled in it is final. */
  readonly isOver: boolean;
}

/** What a batch was made of and what became of that; null when there is no such batch. */
export async function readBatchReport(sql: Sql, batchId: string): Promise<BatchReport | null> {
  const [row] = await sql.query<ReportRow>(
    `select batch.network, batch.nonce, batch.kind, batch.tenant_ids, batch.payment_ids, found.open, found.block_number,
         (extract(epoch from now() - batch.created_at) * 1000)::double precision as age_ms,
         (extract(epoch from batch.held_until - now()) * 1000)::double precision as held_ms,
         batch.state = 'safe' and batch.final_at is not null as over, coalesce(found.mined,
         (select tx_hash from relayer_transaction where batch_id = $1 order by attempt desc limit 1)) as tx_hash,
       found.settled, found.undecided, found.gone, found.reasons
     from settlement_batch as batch cross join lateral (
       select count(*) filter (where s.batch_id = $1 and s.state in (${sqlStates(SETTLED_STATES)}))::int as settled,
         count(*) filter (where s.batch_id = $1 and s.state in (${sqlStates(UNDECIDED_STATES)}))::int as undecided,
         count(*) filter (where s.batch_id is distinct from $1)::int as gone,
         count(*) filter (where s.batch_id = $1 and s.state = 'broadcast')::int as open,
         max(s.block_number) filter (where s.batch_id = $1) as block_number,
         max(s.tx_hash) filter (where s.batch_id = $1) as mined,
         coalesce(array_agg(distinct s.reason) filter (where s.batch_id = $1 and s.reason is not null), '{}') as reasons
       from unnest(batch.tenant_ids, batch.payment_ids) as carried (tenant_id, payment_id)
         cross join lateral ${stateOf('carried')} as s) as found
     where batch.batch_id = $1`,
    [batchId],
    'batch-report',
  );
  if (!row) return null;
  const { settled, undecided, gone: reverted, reasons, tx_hash: txHash } = row;
  const payments = row.payment_ids.map((paymentId, at) => ({ tenantId: row.tenant_ids[at] as string, paymentId }));
  const failed = payments.length - settled - undecided - reverted;
  return {
    network: row.network,
    ageMs: row.age_ms,
    heldMs: row.held_ms,
    open: row.open,
    blockNumber: row.block_number === null ? null : BigInt(row.block_number),
    isOver: row.over,
    payments,
    txHash,
    nonce: row.kind === 'facilitator' ? null : row.nonce,
    outcome: { settled, failed, reverted, undecided, reasons, txHash },
  };
}

interface ReportRow extends Record<string, unknown> {
  network: string;
  age_ms: number;
  held_ms: number;
  open: number;
  block_number: string | null;
  over: boolean;
  nonce: string;
  kind: string;
  tenant_ids: string[];
  payment_ids: string[];
  tx_hash: string | null;
  settled: number;
  undecided: number;
  gone: number;
  reasons: string[];
}
