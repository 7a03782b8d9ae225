/** Statements of the operator's command line. */

import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import { sqlStates, toldFinalAt, toldState, toldWatched } from '../../../db/paymentStates.ts';
import { run, tables } from '../../../db/statement.ts';
import { LOOSE_STATES } from '../../kernel/payment/state.ts';
import type { PaymentRef } from '../../settlement/store/payment.ts';
import { returnPayments } from '../../settlement/store/returning.ts';
import { lockTenant, moveTenantVersion } from '../../tenants/store/tenants.ts';

/** Makes a host a tenant's verified one, last in order; a second call changes nothing. False: it is another tenant's, or no such tenant. */
export async function addVerifiedHost(database: Transactional, tenantId: string, host: string, at: Date): Promise<boolean> {
  return database.transaction(async (sql) => {
    if ((await lockTenant(sql, tenantId)) === null) return false;
    const claimed = tables.insertInto('host_claim').values({ host, tenantId });
    await run(
      sql,
      claimed.onConflict((claim) => claim.column('host').doNothing()),
    );
    const [claim] = await run(sql, tables.selectFrom('host_claim').select('tenantId').where('host', '=', host));
    if (claim?.tenantId !== tenantId) return false;
    await run(
      sql,
      tables
        .insertInto('tenant_host')
        .values({
          tenantId,
          host,
          position: ({ selectFrom }) =>
            selectFrom('tenant_host')
              .select(text<number>`coalesce(max(position) + 1, 0)`.as('position'))
              .where('tenantId', '=', tenantId),
          verifiedAt: at,
        })
        .onConflict((known) =>
          known
            .columns(['tenantId', 'host'])
            .doUpdateSet(({ fn, ref }) => ({ verifiedAt: fn.coalesce('tenant_host.verifiedAt', ref('excluded.verifiedAt')) })),
        ),
    );
    await moveTenantVersion(sql, tenantId, at);
    return true;
  });
}

/** A payment with what proves it and who carries it, as one JSON document; null when there is none. No signature in it. */
export async function findPaymentStory(sql: Sql, paymentId: string): Promise<Record<string, unknown> | null> {
  const rows = await sql.query<{ story: Record<string, unknown> }>(
    `select jsonb_build_object(
       'tenantId', p.tenant_id, 'paymentId', p.payment_id, 'mode', p.mode, 'state', ${toldState('p')}, 'reason', p.reason,
       'rawReason', p.raw_reason, 'sentence', p.sentence, 'network', p.network, 'payer', p.payer, 'payTo', p.pay_to,
       'nonce', p.nonce, 'amountMicro', p.amount_micro::text, 'legs', p.legs, 'resource', p.resource, 'kind', p.kind,
       'watched', ${toldWatched('p')}, 'reviewClosedAt', p.review_closed_at, 'reviewClosedReason', p.review_closed_reason, 'recorded', p.recorded, 'attempts', p.attempts, 'successorId', p.successor_id,
       'acceptedAt', p.accepted_at, 'decidedAt', p.decided_at, 'finalAt', ${toldFinalAt('p')}, 'checkedAt', p.checked_at,
       'settlementRef', p.tx_hash, 'logPosition', p.log_position, 'blockNumber', p.block_number, 'licenceJti', p.licence_jti,
       'evidence', (select coalesce(jsonb_agg(to_jsonb(t) || jsonb_build_object('block_hash', '0x' || encode(t.block_hash, 'hex'))
           order by t.block_number, t.log_index), '[]') from ledger.chain_transfer as t
         where t.network = p.network and t.tx_hash in (
           select own.tx_hash from ledger.chain_transfer as own
            where own.network = p.network and own.from_address = p.payer and own.nonce = p.nonce)),
       'crossings', (select coalesce(jsonb_agg(jsonb_build_object('crossingId', c.crossing_id, 'sequence', c.sequence,
           'micro', c.micro::text, 'at', c.at) order by c.sequence), '[]') from ledger.crossing as c
         where c.tenant_id = p.tenant_id and c.payment_id = p.payment_id),
       'batch', (select jsonb_build_object('batchId', b.batch_id, 'workflowId', b.workflow_id, 'relayer', b.relayer,
           'nonce', b.nonce, 'state', b.state, 'transactions', (select coalesce(jsonb_agg(jsonb_build_object(
             'attempt', r.attempt, 'kind', r.kind, 'hash', r.tx_hash, 'sentAt', r.sent_at, 'sendResult', r.send_result)
             order by r.attempt), '[]') from relayer_transaction as r where r.batch_id = b.batch_id))
         from settlement_batch as b where b.batch_id = p.batch_id)
     ) as story from ledger.payment as p where p.payment_id = $1`,
    [paymentId],
  );
  return rows[0]?.story ?? null;
}

/** Puts a payment first in the sweeper's next round, and watches one that was given up or closed again; false when there is none. */
export async function requestRecheck(sql: Sql, { tenantId, paymentId }: PaymentRef): Promise<boolean> {
  await returnPayments(sql, [{ tenantId, paymentId }]);
  const rows = await sql.query(
    `with carrier as (
       update settlement_batch as b set held_until = now() from payment_intake as i join payment_state as s using (tenant_id, payment_id)
        where i.payment_id = $1 and b.batch_id = s.batch_id and b.final_at is null)
     update payment_state as s set checked_at = null, watched = watched or state in (${sqlStates(LOOSE_STATES)}), review_closed_at = null,
       review_closed_reason = null from payment_intake as i
      where i.payment_id = $1 and s.tenant_id = i.tenant_id and s.payment_id = i.payment_id returning 1`,
    [paymentId],
  );
  return rows.length > 0;
}
