/** Sealed secrets while SECRETS_KEY is being rotated; an operator's work, over all sites. */
import type { Sql } from '../../../db/database.ts';

/** A secret as it is stored. */
export interface SealedSecret {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly secretId: string;
  readonly sealed: Buffer;
}

const LEFT = 'key_id is distinct from $1 and (expires_at is null or expires_at > now())';

/** Secrets that still sign and are not known to be under this key, by id, after `after`. */
export async function listSecretsNotUnder(
  sql: Sql,
  keyId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<SealedSecret[]> {
  return await sql.query<SealedSecret & Record<string, unknown>>(
    `select tenant_id as "tenantId", endpoint_id as "endpointId", secret_id as "secretId", sealed from webhook_secret
     where ${LEFT} and ($2::uuid is null or secret_id > $2) order by secret_id limit $3`,
    [keyId, after, limit],
  );
}

/** How many of them there are, tokens of credits APIs and secrets of accounts' alerts among them. */
export async function countSecretsNotUnder(sql: Sql, keyId: string): Promise<number> {
  const tokens = 'select count(*) from credits_token where key_id is distinct from $1';
  const ofAccounts = 'select count(*) from buyer_account where alert_key_id <> $1';
  const [row] = await sql.query<{ count: string }>(
    `select count(*) + (${tokens}) + (${ofAccounts}) as count from webhook_secret where ${LEFT}`,
    [keyId],
  );
  return Number(row?.count ?? 0);
}

/** Puts other sealed bytes in the place of a secret's; false, and nothing changed, when these no longer stand. */
export async function resealRow(
  sql: Sql,
  from: SealedSecret,
  to: { readonly sealed: Buffer; readonly keyId: string },
): Promise<boolean> {
  const rows = await sql.query(
    `update webhook_secret set sealed = $5, key_id = $6
     where tenant_id = $1 and endpoint_id = $2 and secret_id = $3 and sealed = $4 returning 1`,
    [from.tenantId, from.endpointId, from.secretId, from.sealed, to.sealed, to.keyId],
  );
  return rows.length > 0;
}
