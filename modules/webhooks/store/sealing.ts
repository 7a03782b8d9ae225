/** Sealed secrets while SECRETS_KEY is being rotated; an operator's work, over all sites. */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { acrossSites, run, tables } from '../../../db/statement.ts';

/** A secret as it is stored. */
export interface SealedSecret {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly secretId: string;
  readonly sealed: Buffer;
}

const left = (keyId: string) =>
  acrossSites('the operator')
    .selectFrom('webhook_secret')
    .where('keyId', 'is distinct from', keyId)
    .where((is) => is.or([is('expiresAt', 'is', null), is('expiresAt', '>', text<Date>`now()`)]));

/** Secrets that still sign and are not known to be under this key, by id, after `after`. */
export async function listSecretsNotUnder(
  sql: Sql,
  keyId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<SealedSecret[]> {
  const some = after === null ? left(keyId) : left(keyId).where('secretId', '>', after);
  return run(sql, some.select(['tenantId', 'endpointId', 'secretId', 'sealed']).orderBy('secretId').limit(limit));
}

/** How many of them there are, tokens of credits APIs and secrets of accounts' alerts among them. */
export async function countSecretsNotUnder(sql: Sql, keyId: string): Promise<number> {
  const tokens = acrossSites('the operator').selectFrom('credits_token').where('keyId', 'is distinct from', keyId);
  const ofAccounts = tables.selectFrom('buyer_account').where('alertKeyId', '<>', keyId);
  const counts = [
    left(keyId).select(({ fn }) => fn.countAll<string>().as('count')),
    tokens.select(({ fn }) => fn.countAll<string>().as('count')),
    ofAccounts.select(({ fn }) => fn.countAll<string>().as('count')),
  ];
  let sum = 0;
  for (const count of counts) sum += Number((await run(sql, count))[0]?.count ?? 0);
  return sum;
}

/** Puts other sealed bytes in the place of a secret's; false, and nothing changed, when these no longer stand. */
export async function resealRow(
  sql: Sql,
  from: SealedSecret,
  to: { readonly sealed: Buffer; readonly keyId: string },
): Promise<boolean> {
  const secret = tables
    .updateTable('webhook_secret')
    .set({ sealed: to.sealed, keyId: to.keyId })
    .where('tenantId', '=', from.tenantId)
    .where('endpointId', '=', from.endpointId)
    .where('secretId', '=', from.secretId);
  const rows = await run(sql, secret.where('sealed', '=', from.sealed).returning('secretId'));
  return rows.length > 0;
}
