import { ServiceError } from '../../../kernel/errors.ts';
import { findLicenceOfRequest } from '../../../licences/store/licences.ts';
import { openAccess } from './access.ts';
import type { PurchaseCall } from './buy.ts';
import type { BuyerDeps } from './deps.ts';
import { understandRequest } from './request.ts';

/** A licence that is held already, with a fresh token. */
export interface LicenceAnew {
  readonly license: string;
  readonly jti: string;
  readonly priceMicro: bigint;
}

/**
 * The licence that an account bought by the very same request, with a fresh token, while its period runs; null when it holds none, or its site is not
 * open now. Throws what understanding throws, and outages. Every call gives another token.
 */
export async function findLicenceAnew(
  deps: BuyerDeps,
  { accountId, request, requestHost }: Pick<PurchaseCall, 'accountId' | 'request' | 'requestHost'>,
): Promise<LicenceAnew | null> {
  const { tenant, requestHash, host } = await understandRequest(deps, request, requestHost);
  const asked = { accountId, tenantId: tenant.tenantId, requestHash, at: new Date(deps.clock()) };
  const held = await findLicenceOfRequest(deps.database, asked);
  if (!held) return null;
  try {
    const { license } = await openAccess(deps, { accountId, jti: held.jti, host, requestHost: null });
    return { license, ...held };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}
