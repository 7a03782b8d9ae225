import type { Sql, Transactional } from '../../../db/database.ts';
import type { KeyState, Plan, Scope, TenantStatus } from '../../kernel/access/key.ts';
import { notifyTenant } from '../../tenants/store/tenants.ts';
import { NO_EPOCH } from './accessEpoch.ts';

/** A publisher key to store; the secret itself is never among its members. */
export interface NewKey {
  readonly tenantId: string;
  readonly keyId: string;
  readonly name: string;
  readonly prefix: 'svc_live_' | 'svc_test_';
  readonly last4: string;
  readonly hash: Buffer;
  /** Check value of the pepper the hash is under. */
  readonly pepperId: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

/** A key, and the access epoch of its site in the same read. */
export interface KeyAtEpoch {
  readonly state: KeyState;
  readonly epoch: string;
}

/**
 * The state of the keys with these hashes and of their sites, as Postgres has it now (safety 24), in the order asked; null where no
 * such key was ever stored. Expired and revoked keys are returned: the caller decides.
 */
export async function listKeysByHash(sql: Sql, hashes: readonly Buffer[]): Promise<readonly (KeyAtEpoch | null)[]> {
  const rows = await sql.query<KeyRow & { position: string; epoch: string | null }>(
    `select key.tenant_id, key.key_id, key.prefix, key.scopes, key.expires_at, key.revoked_at, tenant.plan, tenant.status,
       tenant.version, asked.position, access_epoch.epoch
     from unnest($1::bytea[]) with ordinality as asked (key_hash, position)
     join api_key_hash as hash using (key_hash)
     join api_key as key on key.tenant_id = hash.tenant_id and key.key_id = hash.key_id
     join tenant on tenant.tenant_id = key.tenant_id
     left join access_epoch on access_epoch.tenant_id = key.tenant_id`,
    [hashes],
    'keys-by-hash',
  );
  const found = new Map(rows.map((row) => [Number(row.position), { state: keyStateOf(row), epoch: row.epoch ?? NO_EPOCH }]));
  return hashes.map((_, index) => found.get(index + 1) ?? null);
}

/** The present state of several keys at once, by their ids, for refreshing what is held in memory. */
export async function listKeyStates(sql: Sql, keys: readonly Pick<KeyState, 'tenantId' | 'keyId'>[]): Promise<KeyState[]> {
  const rows = await sql.query<KeyRow>(
    `select key.tenant_id, key.key_id, key.prefix, key.scopes, key.expires_at, key.revoked_at, tenant.plan, tenant.status,
       tenant.version
     from unnest($1::uuid[], $2::uuid[]) as wanted (tenant_id, key_id)
     join api_key as key using (tenant_id, key_id)
     join tenant using (tenant_id)`,
    [keys.map(({ tenantId }) => tenantId), keys.map(({ keyId }) => keyId)],
  );
  return rows.map(keyStateOf);
}

/** Writes when keys were last let in (epoch ms), in one statement, keys in order; an older time changes nothing. */
export async function recordKeyUse(
  sql: Sql,
  entries: readonly { readonly tenantId: string; readonly keyId: string; readonly atMs: number }[],
): Promise<void> {
  await sql.query(
    `update api_key as key set last_used_at = used.at
       from (select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as used (tenant_id, key_id, at) order by 1, 2) as used
      where key.tenant_id = used.tenant_id and key.key_id = used.key_id
        and (key.last_used_at is null or key.last_used_at < used.at)`,
    [entries.map(({ tenantId }) => tenantId), entries.map(({ keyId }) => keyId), entries.map(({ atMs }) => new Date(atMs))],
  );
}

/**
 * Stores a key unless its site already has `limit` active ones; false then. The site's row is locked, so that two calls at
 * once cannot both take the last place.
 */
export async function insertKey(database: Transactional, key: NewKey, limit: number): Promise<boolean> {
  return database.transaction(async (sql) => {
    await sql.query('select 1 from tenant where tenant_id = $1 for no key update', [key.tenantId]);
    const inserted = await sql.query(
      `insert into api_key (tenant_id, key_id, name, prefix, last4, scopes, expires_at)
       select $1, $2, $3, $4, $5, $6, $7 where (select count(*) from api_key where tenant_id = $1 and revoked_at is null
         and (expires_at is null or expires_at > now())) < $8 returning 1`,
      [key.tenantId, key.keyId, key.name, key.prefix, key.last4, [...key.scopes], key.expiresAt, limit],
    );
    if (inserted.length === 0) return false;
    await sql.query('insert into api_key_hash (key_hash, tenant_id, key_id, pepper_id) values ($1, $2, $3, $4)', [
      key.hash,
      key.tenantId,
      key.keyId,
      key.pepperId,
    ]);
    await notifyTenant(sql, key.tenantId);
    return true;
  });
}

/** Revokes a key of a tenant from the next call on; false when the tenant has no such key. Again: keeps the first time. */
export async function markKeyRevoked(
  database: Transactional,
  key: { tenantId: string; keyId: string },
  at: Date,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const rows = await sql.query(
      `update api_key set revoked_at = coalesce(revoked_at, $3) where tenant_id = $1 and key_id = $2 returning 1`,
      [key.tenantId, key.keyId, at],
    );
    await notifyTenant(sql, key.tenantId);
    return rows.length > 0;
  });
}

/** Stores a buyer account and, where it has one, its first long-lived credential, as its hash. */
export async function insertBuyerAccount(
  database: Transactional,
  account: { accountId: string; name: string | null; wallet: string | null },
  key: { keyHash: Buffer; pepperId: string; last4: string } | null,
): Promise<void> {
  await database.transaction(async (sql) => {
    const { accountId, name, wallet } = account;
    await sql.query('insert into buyer_account (account_id, name, wallet) values ($1, $2, $3)', [accountId, name, wallet]);
    if (key === null) return;
    await sql.query('insert into buyer_key (key_hash, account_id, last4, pepper_id) values ($1, $2, $3, $4)', [
      key.keyHash,
      accountId,
      key.last4,
      key.pepperId,
    ]);
  });
}

interface KeyRow {
  readonly tenant_id: string;
  readonly key_id: string;
  readonly prefix: string;
  readonly scopes: Scope[];
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly plan: Plan | null;
  readonly status: TenantStatus;
  readonly version: number;
}

function keyStateOf(row: KeyRow): KeyState {
  return {
    tenantId: row.tenant_id,
    keyId: row.key_id,
    mode: row.prefix === 'svc_test_' ? 'mock' : 'live',
    scopes: row.scopes,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    revokedAtMs: row.revoked_at?.getTime() ?? null,
    plan: row.plan,
    status: row.status,
    version: row.version,
  };
}

/** `domain.manage` leaves every key of the tenant; what left is written down, once: a trigger keeps what stands there. */
export async function loseManageScope(sql: Sql, tenantId: string, host: string, at: Date): Promise<void> {
  await sql.query(
    `update api_key set scopes = array_remove(scopes, 'domain.manage'),
       lost_scopes = jsonb_build_object('domain.manage', jsonb_build_object('host', $2::text, 'at', $3::timestamptz))
     where tenant_id = $1 and 'domain.manage' = any(scopes)`,
    [tenantId, host, at],
  );
}

/** True when this key once had the scope and lost it because a host of its site was verified. */
export async function hasLostScope(sql: Sql, key: { tenantId: string; keyId: string }, scope: string): Promise<boolean> {
  const rows = await sql.query('select 1 from api_key where tenant_id = $1 and key_id = $2 and lost_scopes ? $3', [
    key.tenantId,
    key.keyId,
    scope,
  ]);
  return rows.length > 0;
}

/** A key as an operator sees it; the secret is not to be had. */
export interface ListedKey {
  readonly keyId: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** Every key of a tenant, the newest first. */
export async function listKeys(sql: Sql, tenantId: string): Promise<ListedKey[]> {
  return sql.query<ListedKey & Record<string, unknown>>(
    `select key_id as "keyId", name, prefix, last4, scopes, created_at as "createdAt", expires_at as "expiresAt",
       revoked_at as "revokedAt", last_used_at as "lastUsedAt"
     from api_key where tenant_id = $1 order by created_at desc, key_id`,
    [tenantId],
  );
}
