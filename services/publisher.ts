import type { Keyring } from '../adapters/jws.ts';
import type { Network } from '../chain/network.ts';
import type { Database } from '../db/database.ts';
import type { KeyState, Scope } from '../domain/access.ts';
import { requireAccess } from '../domain/access.ts';
import { ServiceError } from '../domain/errors.ts';
import { findKey, hashToken, publisherPrefix } from './keys.ts';
import type { Snapshots, TenantSnapshot } from './snapshots.ts';

/** What the publisher's side of the service runs with. */
export interface PublisherDeps {
  readonly database: Database;
  readonly snapshots: Snapshots;
  readonly keyring: Keyring;
  /** The network quotes are made for. */
  readonly network: Network;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly pepper: string;
  /** Newest first: the first signs quote tokens, all verify. */
  readonly quoteTokenSecrets: readonly string[];
  readonly priceFloorMicro: bigint;
  /** Our own address, without a trailing slash; the issuer of licences of tenants that name none. */
  readonly baseUrl: string;
  readonly testKeysEnabled: boolean;
}

/** Where the state of a key may come from: the copy in memory (quote, observe), or Postgres in the call (everything else). */
export type Freshness = 'snapshot' | 'now';

/** A caller that was let in, with its site as it is. */
export interface Caller {
  readonly key: KeyState;
  readonly tenant: TenantSnapshot;
}

/**
 * Lets the bearer of a publisher key in. Throws missing_credential, unknown_credential (401), plan_gate, site_suspended,
 * scope_missing (403) in the order of `requireAccess`, and database_unavailable.
 */
export async function authenticate(
  deps: PublisherDeps,
  token: string | null,
  scope: Scope,
  freshness: Freshness,
): Promise<Caller> {
  if (token === null) throw new ServiceError('missing_credential', 'an API key is needed: Authorization: Bearer <key>');
  const key = requireAccess(await stateOf(deps, token, freshness), scope, deps.clock());
  const tenant = await deps.snapshots.tenant(key.tenantId, key.version);
  if (!tenant) throw new ServiceError('unknown_credential', 'the API key is not recognised');
  return { key, tenant };
}

function stateOf(deps: PublisherDeps, token: string, freshness: Freshness): Promise<KeyState | null> {
  if (freshness === 'now') return findKey(deps, token);
  if (!publisherPrefix(token, deps.testKeysEnabled)) return Promise.resolve(null);
  return deps.snapshots.key(hashToken(deps.pepper, token));
}
