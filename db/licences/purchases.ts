/** What a wallet bought of a page: the payment that still opens it. */
import type { Address } from '../../domain/money/legs.ts';
import { SETTLED_STATES } from '../../domain/payment/state.ts';
import type { CrossingKind } from '../../domain/pricing/terms.ts';
import type { Sql } from '../database.ts';
import type { Payment, PaymentRow } from '../settlement/payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from '../settlement/payment.ts';
import { sqlStates } from '../settlement/states.ts';

/** Which page, who may have bought it, and since when purchases count. */
export interface PurchaseQuestion {
  readonly tenantId: string;
  readonly payer: Address;
  readonly resourceKey: string;
  /** What is asked for: a citation opens the page for reading, too. */
  readonly kind: CrossingKind;
  readonly mode: 'live' | 'mock';
  readonly since: Date;
  /** Only payments on this network; null: on any. */
  readonly network: string | null;
}

/**
 * The newest settled payment of a wallet for a page, with a licence or none yet. None after which a licence of the wallet for this page was
 * denied, whichever payment carried it: what was revoked does not come back under another name. Reads those since `since`, by index.
 */
export async function findPagePurchase(sql: Sql, question: PurchaseQuestion): Promise<Payment | null> {
  const { tenantId, payer, resourceKey, kind, mode, since, network } = question;
  const [row] = await sql.query<PaymentRow & Record<string, unknown>>(
    `select ${PAYMENT_COLUMNS} from payment_intake as i join payment_state as s using (tenant_id, payment_id)
      where i.tenant_id = $1 and i.payer = $2 and i.resource_key = $3 and i.kind = any($4::text[]) and i.mode = $5 and i.accepted_at >= $6
        and i.purpose = 'page' and ($7::text is null or i.network = $7) and s.state in (${sqlStates(SETTLED_STATES)})
        and not exists (
          select from payment_intake as later join payment_state as told using (tenant_id, payment_id)
            join denied_licence as denied on denied.tenant_id = later.tenant_id and denied.jti = told.licence_jti::text
           where later.tenant_id = $1 and later.payer = $2 and later.resource_key = $3 and later.accepted_at >= i.accepted_at)
      order by i.accepted_at desc limit 1`,
    [tenantId, payer, resourceKey, kind === 'read' ? ['read', 'citation'] : ['citation'], mode, since, network],
  );
  return row ? paymentFromRow(row) : null;
}
