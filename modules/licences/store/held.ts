import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { statement, tables } from '../../../db/statement.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** A licence that an account holds, as far as it is chosen by. */
export interface HeldLicence {
  readonly jti: string;
  readonly patterns: readonly string[];
}

/** Most licences that are looked at, the newest first. */
const MOST = 100;

/** What a licence is to cover, for whom, and when. */
interface Asked {
  readonly accountId: string;
  readonly tenantId: string;
  readonly host: string;
  readonly kind: CrossingKind;
  readonly terms: readonly string[];
  readonly at: Date;
}

const covering = statement<Asked>()((place) =>
  tables
    .selectFrom('account_licence as held')
    .innerJoin('licence', (on) => on.onRef('licence.tenantId', '=', 'held.tenantId').onRef('licence.jti', '=', 'held.jti'))
    .select(['licence.jti', 'licence.patterns'])
    .where('held.accountId', '=', place('accountId'))
    .where('held.tenantId', '=', place('tenantId'))
    .where('licence.host', '=', place('host'))
    .where('licence.revokedAt', 'is', null)
    .where(text<boolean>`(licence.kind = 'citation' or ${place('kind')}::text = 'read')`)
    .where(text<boolean>`('all' = any(licence.terms) or licence.terms @> ${place('terms')}::text[])`)
    .where('licence.periodFrom', '<=', place('at'))
    .where('licence.periodUntil', '>', place('at'))
    .orderBy('held.boughtAt', 'desc')
    .orderBy('held.jti', 'desc')
    .limit(text.lit(MOST)),
);

/** The licences of an account on a site that are in force at a moment and cover a kind and its uses, the newest first; at most 100. */
export async function findHeldLicences(sql: Sql, asked: Asked): Promise<HeldLicence[]> {
  return covering(sql, asked);
}
