import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
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

/** What a licence has of its offer. */
const OFFERED = [
  ...(['offerId', 'host', 'patterns', 'terms', 'kind', 'periodFrom', 'periodUntil', 'priceMicro', 'legs', 'holder'] as const),
] as const;
/** Its money was taken back by the chain. */
const IS_REVERTED = text<boolean>`licence.revoked_reason = 'payment_reverted'`;

async function grantLicence(sql: Sql, { tenantId, paymentId }: Purchase): Promise<void> {
  await run(
    sql,
    tables
      .insertInto('licence')
      .columns(['tenantId', 'jti', 'accountId', 'paymentId', 'boughtAt', ...OFFERED])
      .expression(({ selectFrom }) =>
        selectFrom('payment_intake as payment')
          .innerJoin('licence_offer as offer', (on) =>
            on.onRef('offer.tenantId', '=', 'payment.tenantId').onRef('offer.offerId', '=', 'payment.licenceOfferId'),
          )
          .select(['payment.tenantId', 'payment.paymentId as jti', 'payment.accountId', 'payment.paymentId', 'payment.at'])
          .select(OFFERED.map((name) => `offer.${name}` as const))
          .where('payment.tenantId', '=', tenantId)
          .where('payment.paymentId', '=', paymentId),
      )
      .onConflict((known) =>
        known.columns(['tenantId', 'jti']).doUpdateSet({
          revokedAt: text<Date | null>`case when ${IS_REVERTED} then null else licence.revoked_at end`,
          revokedReason: text<'revoked' | null>`case when ${IS_REVERTED} then null else licence.revoked_reason end`,
        }),
      ),
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
  await run(
    sql,
    tables
      .insertInto('account_licence')
      .columns(['accountId', 'jti', 'tenantId', 'boughtAt'])
      .expression(({ selectFrom }) =>
        selectFrom('licence')
          .select(['accountId', 'jti', 'tenantId', 'boughtAt'])
          .where('tenantId', '=', tenantId)
          .where('jti', '=', paymentId),
      )
      .onConflict((known) => known.doNothing()),
  );
  await run(
    sql,
    tables
      .deleteFrom('denied_licence')
      .where('tenantId', '=', tenantId)
      .where('jti', '=', paymentId)
      .where('reason', '=', 'payment_reverted'),
  );
}

async function takeLicenceBack(sql: Sql, { tenantId, paymentId }: Purchase): Promise<void> {
  await run(
    sql,
    tables
      .updateTable('licence')
      .set({ revokedAt: text<Date>`now()`, revokedReason: 'payment_reverted' })
      .where('tenantId', '=', tenantId)
      .where('jti', '=', paymentId)
      .where('revokedAt', 'is', null),
  );
  const denied = tables.insertInto('denied_licence').values({ tenantId, jti: paymentId, reason: 'payment_reverted' });
  await run(
    sql,
    denied.onConflict((known) => known.doNothing()),
  );
}
