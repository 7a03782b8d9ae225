import type { Database } from '../../../db/database.ts';

/** A signing key's public half and when it signs. */
export interface SigningKeyRow {
  readonly kid: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly activeFromMs: number;
  readonly isRetired: boolean;
}

/**
 * Publishes the public halves of keys not seen before and returns all that are known. The very first one may sign at once;
 * any later one `delayMs` after now, so that everyone who caches the set knows it by then. Two processes at once agree.
 */
export async function publishSigningKeys(
  database: Database,
  keys: readonly { readonly kid: string; readonly publicJwk: object }[],
  at: Date,
  delayMs: number,
): Promise<SigningKeyRow[]> {
  await database.transaction(async (sql) => {
    await sql.query('lock table signing_key in share row exclusive mode');
    for (const { kid, publicJwk } of keys) {
      await sql.query(
        `insert into signing_key (kid, public_jwk, published_at, active_from)
         select $1, $2, $3, case when exists (select from signing_key) then $4::timestamptz else $3 end
         on conflict (kid) do nothing`,
        [kid, JSON.stringify(publicJwk), at, new Date(at.getTime() + delayMs)],
      );
    }
  });
  return listSigningKeys(database);
}

/** Every signing key known, the latest to become active first. */
export async function listSigningKeys(database: Database): Promise<SigningKeyRow[]> {
  const rows = await database.query<{ kid: string; publicJwk: SigningKeyRow['publicJwk']; activeFrom: Date; isRetired: boolean }>(
    `select kid, public_jwk as "publicJwk", active_from as "activeFrom", retired_at is not null as "isRetired"
       from signing_key order by active_from desc, kid`,
  );
  return rows.map(({ activeFrom, ...key }) => ({ ...key, activeFromMs: activeFrom.getTime() }));
}
