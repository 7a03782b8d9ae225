import type { Sql } from '../../../db/database.ts';
import { acrossSites, run, tables } from '../../../db/statement.ts';

/** The sealed bearer token of a site's credits API, and the origin it is for. */
export interface CreditsToken {
  readonly origin: string;
  readonly sealed: Buffer;
  readonly setAt: Date;
}

const SHOWN = ['origin', 'sealed', 'setAt'] as const;

/** The token of a site's credits API; null when there is none. */
export async function findCreditsToken(sql: Sql, tenantId: string): Promise<CreditsToken | null> {
  const [row] = await run(sql, tables.selectFrom('credits_token').select(SHOWN).where('tenantId', '=', tenantId));
  return row ?? null;
}

/** Stores a site's token in place of the one before. */
export async function writeCreditsToken(
  sql: Sql,
  tenantId: string,
  { origin, sealed, keyId, setAt }: CreditsToken & { readonly keyId: string },
): Promise<void> {
  const token = { origin, sealed, keyId, setAt };
  const written = tables.insertInto('credits_token').values({ tenantId, ...token });
  await run(
    sql,
    written.onConflict((conflict) => conflict.column('tenantId').doUpdateSet(token)),
  );
}

/** Forgets a site's token; a second call does nothing. */
export async function deleteCreditsToken(sql: Sql, tenantId: string): Promise<void> {
  await run(sql, tables.deleteFrom('credits_token').where('tenantId', '=', tenantId));
}

/** Tokens that are not known to be under this key, by site, after `after`; an operator's work, over all sites. */
export async function listCreditsTokensNotUnder(
  sql: Sql,
  keyId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<(CreditsToken & { readonly tenantId: string })[]> {
  const all = acrossSites('the operator')
    .selectFrom('credits_token')
    .select(['tenantId', ...SHOWN]);
  const under = all.where('keyId', '<>', keyId).orderBy('tenantId').limit(limit);
  return run(sql, after === null ? under : under.where('tenantId', '>', after));
}

/** Puts other sealed bytes in the place of a token's; false, and nothing changed, when these no longer stand. */
export async function resealCreditsToken(
  sql: Sql,
  from: { readonly tenantId: string; readonly sealed: Buffer },
  { sealed, keyId }: { readonly sealed: Buffer; readonly keyId: string },
): Promise<boolean> {
  const token = tables.updateTable('credits_token').set({ sealed, keyId });
  const same = token.where('tenantId', '=', from.tenantId).where('sealed', '=', from.sealed);
  return (await run(sql, same.returning('tenantId'))).length > 0;
}
