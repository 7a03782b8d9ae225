import type { Sql } from '../../../db/database.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** A licence that an account holds, as far as it is chosen by. */
export interface HeldLicence {
  readonly jti: string;
  readonly patterns: readonly string[];
}

/** Most licences that are looked at, the newest first. */
const MOST = 100;

/** The licences of an account on a site that are in force at a moment and cover a kind and its uses, the newest first; at most 100. */
export async function findHeldLicences(
  sql: Sql,
  asked: {
    readonly accountId: string;
    readonly tenantId: string;
    readonly host: string;
    readonly kind: CrossingKind;
    readonly terms: readonly string[];
    readonly at: Date;
  },
): Promise<HeldLicence[]> {
  const { accountId, tenantId, host, kind, terms, at } = asked;
  return sql.query<HeldLicence & Record<string, unknown>>(
    `select licence.jti, licence.patterns from account_licence as held
       join licence on licence.tenant_id = held.tenant_id and licence.jti = held.jti
      where held.account_id = $1 and held.tenant_id = $2 and licence.host = $3 and licence.revoked_at is null
        and (licence.kind = 'citation' or $4::text = 'read')
        and ('all' = any(licence.terms) or licence.terms @> $5::text[])
        and licence.period_from <= $6 and licence.period_until > $6
      order by held.bought_at desc, held.jti desc limit ${MOST}`,
    [accountId, tenantId, host, kind, terms, at],
  );
}
