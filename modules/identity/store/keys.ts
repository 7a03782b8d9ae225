import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf } from '../../../db/shown.ts';
import { json, run, tables } from '../../../db/statement.ts';
import type { KeyState, Scope } from '../../kernel/access/key.ts';
import { lockTenant, notifyTenant } from '../../tenants/store/tenants.ts';
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

const STATE = both(
  columnsOf('api_key key', ['tenantId', 'keyId', 'prefix', 'scopes', 'expiresAt', 'revokedAt']),
  columnsOf('tenant tenant', ['plan', 'status', 'version']),
);

/**
 * The state of the keys with these hashes and of their sites, as Postgres has it now (safety 24), in the order asked; null where no
 * such key was ever stored. Expired and revoked keys are returned: the caller decides.
 */
export async function listKeysByHash(sql: Sql, hashes: readonly Buffer[]): Promise<readonly (KeyAtEpoch | null)[]> {
  const rows = await sql.query<RowOf<typeof STATE> & { position: string; epoch: string | null }>(
    `select ${STATE.text}, asked.position, access_epoch.epoch
     from unnest($1::bytea[]) with ordinality as asked (key_hash, position)
     join api_key_hash as hash using (key_hash)
     join api_key as key on key.tenant_id = hash.tenant_id and key.key_id = hash.key_id
     join tenant on tenant.tenant_id = key.tenant_id
     left join access_epoch on access_epoch.tenant_id = key.tenant_id`,
    [hashes],
    'keys-by-hash',
  );
  const found = new Map(
    rows.map(({ position, epoch, ...row }) => [Number(position), { state: keyStateOf(row), epoch: epoch ?? NO_EPOCH }]),
  );
  return hashes.map((_, index) => found.get(index + 1) ?? null);
}

/** The present state of several keys at once, by their ids, for refreshing what is held in memory. */
export async function listKeyStates(sql: Sql, keys: readonly Pick<KeyState, 'tenantId' | 'keyId'>[]): Promise<KeyState[]> {
  const rows = await sql.query<RowOf<typeof STATE>>(
    `select ${STATE.text}
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
    await lockTenant(sql, key.tenantId);
    const { tenantId, keyId, name, prefix, last4, scopes, expiresAt, hash: keyHash, pepperId } = key;
    const active = tables.selectFrom('api_key').select('keyId').where('tenantId', '=', tenantId).where('revokedAt', 'is', null);
    const lasting = active.where((own) => own.or([own('expiresAt', 'is', null), own('expiresAt', '>', text<Date>`now()`)]));
    if ((await run(sql, lasting.limit(limit))).length >= limit) return false;
    await run(sql, tables.insertInto('api_key').values({ tenantId, keyId, name, prefix, last4, scopes, expiresAt }));
    await run(sql, tables.insertInto('api_key_hash').values({ keyHash, tenantId, keyId, pepperId }));
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
    const rows = await run(
      sql,
      tables
        .updateTable('api_key')
        .set({ revokedAt: text<Date>`coalesce(revoked_at, ${at})` })
        .where('tenantId', '=', key.tenantId)
        .where('keyId', '=', key.keyId)
        .returning('keyId'),
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
    await run(sql, tables.insertInto('buyer_account').values({ accountId, name, wallet }));
    if (key === null) return;
    const { keyHash, last4, pepperId } = key;
    await run(sql, tables.insertInto('buyer_key').values({ keyHash, accountId, last4, pepperId }));
  });
}

function keyStateOf({ prefix, expiresAt, revokedAt, ...row }: RowOf<typeof STATE>): KeyState {
  return {
    ...row,
    mode: prefix === 'svc_test_' ? 'mock' : 'live',
    expiresAtMs: expiresAt?.getTime() ?? null,
    revokedAtMs: revokedAt?.getTime() ?? null,
  };
}

/** `domain.manage` leaves every key of the tenant; what left is written down, once: a trigger keeps what stands there. */
export async function loseManageScope(sql: Sql, tenantId: string, host: string, at: Date): Promise<void> {
  const lost = tables.updateTable('api_key').set({
    scopes: text`array_remove(scopes, 'domain.manage')`,
    lostScopes: json({ 'domain.manage': { host, at } }),
  });
  await run(sql, lost.where('tenantId', '=', tenantId).where(text<boolean>`'domain.manage' = any(scopes)`));
}

/** True when this key once had the scope and lost it because a host of its site was verified. */
export async function hasLostScope(sql: Sql, key: { tenantId: string; keyId: string }, scope: string): Promise<boolean> {
  const own = tables.selectFrom('api_key').select('keyId').where('tenantId', '=', key.tenantId).where('keyId', '=', key.keyId);
  return (await run(sql, own.where('lostScopes', '?', scope))).length > 0;
}

/** A key as an operator sees it; the secret is not available. */
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
  return run(
    sql,
    tables
      .selectFrom('api_key')
      .select(['keyId', 'name', 'prefix', 'last4', 'scopes', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'])
      .where('tenantId', '=', tenantId)
      .orderBy('createdAt', 'desc')
      .orderBy('keyId'),
  );
}
