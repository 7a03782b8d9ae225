import type { Sql, Transactional } from '../../../db/database.ts';
import type { Pepper } from '../../../platform/tokens/pepper.ts';
import type { MintableScope } from '../../kernel/access/key.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import { listKeys } from '../store/keys.ts';
import type { MintedKey } from './keys/keys.ts';
import { mintConnectKey, mintKey, revokeKey } from './keys/keys.ts';

/** What managing a site's keys needs. */
export interface SiteKeyDeps {
  readonly database: Transactional;
  readonly pepper: Pepper;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly testKeysEnabled: boolean;
}

/**
 * Mints a publisher key; `domain.manage` is not available here. Throws invalid_parameter, conflict at 20 active keys, and what
 * `changeSite` throws. Every call mints another one.
 */
export async function mintSiteKey(
  deps: SiteKeyDeps,
  call: SiteCall,
  request: {
    readonly name: string;
    readonly scopes: readonly MintableScope[];
    readonly expiresAtMs?: number;
    readonly isTest?: boolean;
  },
): Promise<MintedKey> {
  const { name, scopes, expiresAtMs, isTest } = request;
  if (expiresAtMs !== undefined && expiresAtMs <= deps.clock()) {
    throw new ServiceError('invalid_parameter', 'expiresAt must be in the future', { parameter: 'expiresAt' });
  }
  if (isTest && !deps.testKeysEnabled) {
    throw new ServiceError('invalid_parameter', 'test keys are not enabled here', { parameter: 'test' });
  }
  const prefix = isTest ? ('svc_test_' as const) : ('svc_live_' as const);
  const expiry = expiresAtMs === undefined ? {} : { expiresAtMs };
  return await mintInto(deps, call, 'key.mint', (database) =>
    mintKey({ database, pepper: deps.pepper }, { tenantId: call.tenantId, name, scopes, prefix, ...expiry }),
  );
}

/** Mints the WordPress connect key: `tenant.read` and `domain.manage` for 30 days. Throws as `mintSiteKey`. */
export async function mintSiteConnectKey(
  deps: SiteKeyDeps,
  call: SiteCall,
  request: { readonly name: string },
): Promise<MintedKey> {
  return await mintInto(deps, call, 'key.mint_connect', (database) =>
    mintConnectKey({ database, pepper: deps.pepper, clock: deps.clock }, { tenantId: call.tenantId, name: request.name }),
  );
}

/** Revokes a key: gone in the very next call. Throws not_found; a second call changes nothing and is written down too. */
export async function revokeSiteKey(deps: Pick<SiteKeyDeps, 'database'>, call: SiteCall, keyId: string): Promise<void> {
  await changeSite(deps, call, {
    action: 'key.revoke',
    target: keyId,
    look: (sql) => keyState(sql, call.tenantId, keyId),
    make: (database) => revokeKey({ database }, { tenantId: call.tenantId, keyId }),
  });
}

async function mintInto(
  deps: SiteKeyDeps,
  call: SiteCall,
  action: string,
  make: (database: Parameters<typeof mintKey>[0]['database']) => Promise<MintedKey>,
): Promise<MintedKey> {
  return await changeSite(deps, call, {
    action,
    target: ({ keyId }) => keyId,
    look: async (sql, minted) => (minted === undefined ? null : await keyState(sql, call.tenantId, minted.keyId)),
    make,
  });
}

/** A key as the log shows it: its last four characters, never its secret or its hash. */
async function keyState(sql: Sql, tenantId: string, keyId: string): Promise<unknown> {
  const key = (await listKeys(sql, tenantId)).find((one) => one.keyId === keyId.toLowerCase());
  if (key === undefined) return null;
  const { name, prefix, last4, scopes, expiresAt, revokedAt } = key;
  return { name, prefix, last4, scopes, expiresAt, revokedAt };
}
