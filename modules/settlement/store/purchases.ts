/** What a wallet bought of a page: the payment that still opens it. */

import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { sameText } from '../../../db/sameText.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { Payment, PaymentRow } from './payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from './payment.ts';

/**
 * Who may have bought a page: a wallet, by payments on one network (null: on any), or an account, by payments counted against it and by those
 * of its wallet.
 */
export type PageBuyer = { readonly wallet: Address; readonly network: string | null } | { readonly accountId: string };

/** Which page, who may have bought it, and since when purchases count. */
export interface PurchaseQuestion {
  readonly tenantId: string;
  readonly buyer: PageBuyer;
  readonly resourceKey: string;
  /** What is asked for: a citation opens the page for reading, too. */
  readonly kind: CrossingKind;
  readonly mode: 'live' | 'mock';
  readonly since: Date;
}

const OF_WALLET = `select tenant_id, payment_id from payment_intake
  where tenant_id = $1 and ${sameText('payer', '$2')} and ${sameText('resource_key', '$3')}
    and accepted_at >= $6 and ($7::text is null or network = $7)`;
const OF_ACCOUNT = `select tenant_id, payment_id from account_spending
    where account_id = $2 and tenant_id = $1 and resource_key = $3 and at >= $6
  union
  select tenant_id, payment_id from payment_intake
    where tenant_id = $1 and ${sameText('payer', '(select wallet from buyer_account where account_id = $2)')} and ${sameText('resource_key', '$3')}
      and accepted_at >= $6 and $7::text is null`;

/**
 * The newest settled payment of a buyer for a page, with a licence or none yet. None after which a licence of its payer for this page was
 * denied, whichever payment carried it: what was revoked does not come back under another name. Reads those since `since`, by index.
 */
export async function findPagePurchase(sql: Sql, question: PurchaseQuestion): Promise<Payment | null> {
  const { tenantId, buyer, resourceKey, kind, mode, since } = question;
  const [bought, who, network] =
    'wallet' in buyer ? [OF_WALLET, buyer.wallet, buyer.network] : [OF_ACCOUNT, buyer.accountId, null];
  const [row] = await sql.query<PaymentRow & Record<string, unknown>>(
    `select ${PAYMENT_COLUMNS} from (${bought}) as bought
       join payment_intake as i using (tenant_id, payment_id) join payment_state as s using (tenant_id, payment_id)
      where i.kind = any($4::text[]) and i.mode = $5 and i.purpose = 'page' and s.state in (${sqlStates(SETTLED_STATES)})
        and not exists (
          select from payment_intake as later join payment_state as told using (tenant_id, payment_id)
            join denied_licence as denied on denied.tenant_id = later.tenant_id and denied.jti = told.licence_jti::text
           where later.tenant_id = $1 and ${sameText('later.payer', 'i.payer')} and ${sameText('later.resource_key', '$3')} and later.accepted_at >= i.accepted_at)
      order by i.accepted_at desc limit 1`,
    [tenantId, who, resourceKey, kind === 'read' ? ['read', 'citation'] : ['citation'], mode, since, network],
  );
  return row ? paymentFromRow(row) : null;
}
