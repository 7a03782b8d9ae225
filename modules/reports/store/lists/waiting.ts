import type { Sql } from '../../../../db/database.ts';
import { isSettledWithBatch, SETTLED_ALONE } from '../../../../db/paymentStates.ts';
import { timeOrNull } from '../../../paging/store/source.ts';

/** Where money stands that no safe block proves yet. */
export const WAITING_STAGES = ['unsettled', 'unfinal', 'review'] as const;
/** One of them. */
export type WaitingStage = (typeof WAITING_STAGES)[number];

/** Live payments of one stage; micro-USDC. */
export interface WaitingSum {
  readonly payments: number;
  readonly micro: bigint;
  /** When the oldest of them was stored; null without any. */
  readonly oldestAtMs: number | null;
}

/**
 * A site's live payments that are not settled, settled and not final, or in review. Reads the indexes of open work, which is little, of
 * whatever site: never the payments that are through.
 */
export async function sumWaiting(sql: Sql, tenantId: string): Promise<ReadonlyMap<WaitingStage, WaitingSum>> {
  const rows = await sql.query<{ stage: WaitingStage; payments: number; micro: string; oldest: Date | null }>(
    `select open.name as stage, count(*)::int as payments, sum(i.amount_micro)::text as micro, min(i.accepted_at) as oldest from (
       select 'unsettled' as name, tenant_id, payment_id from payment_state where stage = 'under_way' and mode = 'live' and tenant_id = $1
       union all select 'unsettled', tenant_id, payment_id from payment_state where stage = 'held' and mode = 'live' and tenant_id = $1
       union all select 'unfinal', tenant_id, payment_id from payment_state where ${SETTLED_ALONE} and tenant_id = $1
       union all select 'unfinal', s.tenant_id, s.payment_id from settlement_batch b
         cross join lateral unnest(b.tenant_ids, b.payment_ids) as carried (tenant_id, payment_id)
         join payment_state s on s.tenant_id = carried.tenant_id and s.payment_id = carried.payment_id
         where b.final_at is null and b.kind <> 'flush' and carried.tenant_id = $1 and s.batch_id = b.batch_id
           and ${isSettledWithBatch('s')} and s.mode = 'live'
       union all select 'review', tenant_id, payment_id from payment_state
         where watch_side is not null and state = 'review' and review_closed_at is null and tenant_id = $1
     ) open join payment_intake i on i.tenant_id = open.tenant_id and i.payment_id = open.payment_id group by 1`,
    [tenantId],
  );
  return new Map(
    rows.map(({ stage, payments, micro, oldest }) => [stage, { payments, micro: BigInt(micro), oldestAtMs: timeOrNull(oldest) }]),
  );
}
