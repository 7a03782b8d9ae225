import type { Sql } from '../../../db/database.ts';
import type { Change } from './applyEvents.ts';

/**
 * Writes what a settled purchase bought, inside the transaction that settles it: the licence, its pages and whose it is, from
 * the offer frozen with the payment (safety 16). A purchase whose money was taken back by the chain loses its licence, and gets
 * it back when the money moves after all. A second call changes nothing.
 */
export async function recordLicences(sql: Sql, changes: readonly Change[]): Promise<void> {
  for (const { payment, effects } of changes) {
    if (payment.purpose !== 'licence') continue;
    for (const { type } of effects) {
      if (type === 'recordCrossing') await grantLicence(sql, payment);
      else if (type === 'correctCrossing') await takeLicenceBack(sql, payment);
    }
  }
}

interface Purchase {
  readonly tenantId: string;
  readonly paymentId: string;
}

async function grantLicence(sql: Sql, { tenantId, paymentId }: Purchase): Promise<void> {
  await sql.query(
    `insert into licence (tenant_id, jti, account_id, payment_id, offer_id, host, patterns, terms, kind, period_from,
       period_until, price_micro, legs, holder, bought_at)
     select payment.tenant_id, payment.payment_id, payment.account_id, payment.payment_id, offer.offer_id, offer.host,
       offer.patterns, offer.terms, offer.kind, offer.period_from, offer.period_until, offer.price_micro, offer.legs,
       offer.holder, payment.at
     from payment_intake as payment join licence_offer as offer on offer.tenant_id = payment.tenant_id and offer.offer_id = payment.licence_offer_id
     where payment.tenant_id = $1 and payment.payment_id = $2
     on conflict (tenant_id, jti) do update set
       revoked_at = case when licence.revoked_reason = 'payment_reverted' then null else licence.revoked_at end,
       revoked_reason = case when licence.revoked_reason = 'payment_reverted' then null else licence.revoked_reason end`,
    [tenantId, paymentId],
  );
  await sql.query(
    `insert into licence_page (tenant_id, jti, path, slug, micro)
     select payment.tenant_id, payment.payment_id, page ->> 'path', page ->> 'slug', (page ->> 'micro')::bigint
     from payment_intake as payment join licence_offer as offer on offer.tenant_id = payment.tenant_id and offer.offer_id = payment.licence_offer_id,
       jsonb_array_elements(offer.pages) as page
     where payment.tenant_id = $1 and payment.payment_id = $2
     on conflict do nothing`,
    [tenantId, paymentId],
  );
  await sql.query(
    `insert into account_licence (account_id, jti, tenant_id, bought_at)
     select account_id, jti, tenant_id, bought_at from licence where tenant_id = $1 and jti = $2 on conflict do nothing`,
    [tenantId, paymentId],
  );
  await sql.query("delete from denied_licence where tenant_id = $1 and jti = $2 and reason = 'payment_reverted'", [
    tenantId,
    paymentId,
  ]);
}

async function takeLicenceBack(sql: Sql, { tenantId, paymentId }: Purchase): Promise<void> {
  await sql.query(
    `update licence set revoked_at = now(), revoked_reason = 'payment_reverted'
      where tenant_id = $1 and jti = $2 and revoked_at is null`,
    [tenantId, paymentId],
  );
  await sql.query(
    `insert into denied_licence (tenant_id, jti, reason) values ($1, $2, 'payment_reverted') on conflict do nothing`,
    [tenantId, paymentId],
  );
}
