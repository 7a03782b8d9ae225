import type { Sql } from '../../db/database.ts';
import type { Payment, PaymentRef, PaymentRow as StoredRow } from '../../modules/settlement/store/payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from '../../modules/settlement/store/payment.ts';
import type { Batch } from '../../modules/settlement/store/relayer.ts';
import type { AuditedPayment, BatchRow, PaymentRow, SignedTx } from './store.ts';

/** Batches with their bytes and the payments they carry now, in order of nonce. */
export async function readBatches(
  sql: Sql,
  batches: readonly Batch[],
  nameOf: (uuid: string) => string,
): Promise<readonly BatchRow[]> {
  if (batches.length === 0) return [];
  const rows = await sql.query<{
    batch_id: string;
    attempts: { attempt: number; kind: 'settle' | 'void'; raw: string }[];
    items: string[];
  }>(
    `select batch_id,
       (select json_agg(json_build_object('attempt', attempt, 'kind', kind, 'raw', convert_from(raw, 'UTF8')) order by attempt)
          from relayer_transaction sent where sent.batch_id = batch.batch_id) as attempts,
       array(select payment_id::text from payment where payment.batch_id = batch.batch_id order by 1) as items
     from settlement_batch batch where batch_id = any ($1::uuid[])`,
    [batches.map((batch) => batch.batchId)],
  );
  const found = batches.map((batch): BatchRow => {
    const row = rows.find((one) => one.batch_id === batch.batchId);
    const id = nameOf(batch.batchId);
    return {
      id,
      nonce: Number(batch.nonce),
      items: (row?.items ?? []).map(nameOf).toSorted(),
      attempts: (row?.attempts ?? []).map(
        ({ attempt, kind, raw }): SignedTx => ({ batchId: id, attempt, kind, raw: JSON.parse(raw) }),
      ),
      closed: batch.state === 'safe',
    };
  });
  return found.toSorted((a, b) => a.nonce - b.nonce);
}

/** Payments with everything the ledger holds of them, as stored: nothing here passes through the code that wrote it. */
export async function readAudit(
  sql: Sql,
  refs: readonly PaymentRef[],
  view: (payment: Payment) => PaymentRow,
): Promise<readonly AuditedPayment[]> {
  if (refs.length === 0) return [];
  const rows = await sql.query<
    StoredRow & {
      crossings: { micro: string; legs: { amountMicro: string }[]; announced: number }[];
      observations: { verdict: 'paid' | 'payment-failed'; count: 1 | -1 }[];
      claims: string[];
    }
  >(
    `select ${PAYMENT_COLUMNS},
       coalesce((select json_agg(json_build_object('micro', micro::text, 'legs', (
           select json_agg(json_build_object('amountMicro', amount_micro::text)) from leg
            where leg.tenant_id = crossing.tenant_id and leg.crossing_id = crossing.crossing_id), 'announced', (
           select count(*) from unannounced_crossing told
            where told.tenant_id = crossing.tenant_id and crossing.crossing_id = any (told.crossing_ids))) order by sequence)
         from crossing where crossing.tenant_id = payment.tenant_id and crossing.payment_id = payment.payment_id), '[]') as crossings,
       coalesce((select json_agg(json_build_object('verdict', verdict, 'count', count))
         from observation seen where seen.tenant_id = payment.tenant_id and seen.payment_id = payment.payment_id), '[]') as observations,
       array(select tx_hash || ':' || log_position from transfer_claim held
              where held.tenant_id = payment.tenant_id and held.payment_id = payment.payment_id) as claims
     from payment join payment_state as s using (tenant_id, payment_id) join payment_intake as i using (tenant_id, payment_id)
      where tenant_id = $1 and payment_id = any ($2::uuid[])`,
    [refs[0]?.tenantId, refs.map((ref) => ref.paymentId)],
  );
  return rows.map((row) => ({
    ...view(paymentFromRow(row)),
    crossings: row.crossings.map(({ micro, legs, announced }) => ({
      amountMicro: BigInt(micro),
      legs: legs.map((leg) => ({ amountMicro: BigInt(leg.amountMicro) })),
      announced,
    })),
    observations: row.observations,
    claims: row.claims,
  }));
}
