import type { Transactional } from '../../../../db/database.ts';
import type { Pepper } from '../../../../platform/tokens/pepper.ts';
import type { MintedKey } from './keys.ts';
import { mintKey } from './keys.ts';

/** Life of a key that may write: 30 days. */
const CONNECT_LIFE_MS = 30 * 86_400_000;

/**
 * Issues the WordPress connect key: `tenant.read` and `domain.manage`, for 30 days.
 * `domain.manage` leaves it the moment a host of the site is verified. Throws what `mintKey` throws; every call issues another one.
 */
export function mintConnectKey(
  deps: { readonly database: Transactional; readonly pepper: Pepper; readonly clock: () => number },
  request: { readonly tenantId: string; readonly name: string },
): Promise<MintedKey> {
  return mintKey(deps, { ...request, scopes: ['tenant.read', 'domain.manage'], expiresAtMs: deps.clock() + CONNECT_LIFE_MS });
}
