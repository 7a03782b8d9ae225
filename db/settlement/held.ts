import { isLeading } from '../../domain/payment/guard.ts';
import { isSettled } from '../../domain/payment/state.ts';
import type { Database } from '../database.ts';
import type { PurchaseKey } from './intake.ts';
import { lockPurchases } from './intake.ts';
import { applyHeld } from './outcome.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { paymentFromRow } from './payment.ts';

type Row = PaymentRow & Record<string, unknown>;

/**
 * Decides held payments that nothing holds any more (safety 14: release is in the deciding transaction and again in the
 * sweeper): superseded by the purchase that settled while they waited, or the oldest released. Returns the released ones.
 */
export async function sweepHeld(database: Database, network: string, limit: number): Promise<readonly PaymentRef[]> {
  const purchases = await database.query<{ tenant_id: string; payer: string; resource_key: string; kind: string }>(
    `select distinct held.tenant_id, held.payer, held.resource_key, held.kind from payment held
      where held.network = $1 and held.state = 'held' and not exists (
        select 1 from payment leader
         where leader.tenant_id = held.tenant_id and leader.payer = held.payer and leader.resource_key = held.resource_key
           and leader.kind = held.kind and leader.mode = held.mode and leader.amount_micro = held.amount_micro
           and leader.state in ('accepted', 'broadcast', 'review'))
      limit $2`,
    [network, limit],
  );
  const released: PaymentRef[] = [];
  for (const row of purchases) {
    const key = { tenantId: row.tenant_id, payer: row.payer, resourceKey: row.resource_key, kind: row.kind };
    released.push(...(await decidePurchase(database, key)));
  }
  return released;
}

async function decidePurchase(database: Database, key: PurchaseKey): Promise<readonly PaymentRef[]> {
  return database.transaction(async (sql) => {
    await lockPurchases(sql, [key]);
    const rows = await sql.query<Row>(
      `select * from payment where tenant_id = $1 and payer = $2 and resource_key = $3 and kind = $4
          and (state in ('accepted', 'held', 'broadcast', 'review') or (state in ('settled', 'final')
            and decided_at > now() - interval '1 day'))
        order by accepted_at, payment_id for update`,
      [key.tenantId, key.payer, key.resourceKey, key.kind],
    );
    const payments = rows.map(paymentFromRow);
    const released: PaymentRef[] = [];
    for (const held of payments.filter((payment) => payment.facts.state === 'held')) {
      const same = payments.filter((p) => p.amountMicro === held.amountMicro && p.mode === held.mode);
      const settled = same.find((p) => isSettled(p.facts.state) && (p.decidedAt ?? p.acceptedAt) >= held.acceptedAt);
      const busy = released.length > 0 || same.some((payment) => isLeading(payment.facts));
      if (settled) await applyHeld(sql, held, { type: 'superseded' }, settled.paymentId);
      else if (!busy) released.push(await release(sql, held));
    }
    return released;
  });
}

async function release(sql: Parameters<typeof applyHeld>[0], held: Payment): Promise<PaymentRef> {
  await applyHeld(sql, held, { type: 'released' }, null);
  return { tenantId: held.tenantId, paymentId: held.paymentId };
}
