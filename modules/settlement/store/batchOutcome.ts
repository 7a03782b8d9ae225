import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { SETTLED_STATES, UNDECIDED_STATES } from '../../kernel/payment/state.ts';
import type { BatchOutcome, SentTransaction } from '../rules/batchOutcome.ts';
import type { PaymentRef } from './payment.ts';
import { stateOf } from './payment.ts';

/** A batch as an operator reads of it. */
export interface BatchReport extends SentTransaction {
  /** All that it was made of. */
  readonly payments: readonly PaymentRef[];
  readonly outcome: BatchOutcome;
}

/** What a batch was made of and what became of that; null when there is no such batch. */
export async function readBatchReport(sql: Sql, batchId: string): Promise<BatchReport | null> {
  const [row] = await sql.query<ReportRow>(
    `select batch.nonce, batch.kind, batch.tenant_ids, batch.payment_ids, coalesce(found.mined,
         (select tx_hash from relayer_transaction where batch_id = $1 order by attempt desc limit 1)) as tx_hash,
       found.settled, found.undecided, found.gone, found.reasons
     from settlement_batch as batch cross join lateral (
       select count(*) filter (where s.batch_id = $1 and s.state in (${sqlStates(SETTLED_STATES)}))::int as settled,
         count(*) filter (where s.batch_id = $1 and s.state in (${sqlStates(UNDECIDED_STATES)}))::int as undecided,
         count(*) filter (where s.batch_id is distinct from $1)::int as gone,
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
    payments,
    txHash,
    nonce: row.kind === 'facilitator' ? null : row.nonce,
    outcome: { settled, failed, reverted, undecided, reasons, txHash },
  };
}

interface ReportRow extends Record<string, unknown> {
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
