import { ServiceError } from '../../../kernel/errors.ts';
import type { Owner } from './authenticate.ts';

/**
 * The site an owner means: the one named, or the owner's only one. Throws not_found for a site that is not the owner's, and
 * invalid_parameter when an owner of several names none.
 */
export function ownedTenant(owner: Owner, tenantId: string | null | undefined): string {
  const [only, ...others] = owner.tenantIds;
  if (tenantId !== null && tenantId !== undefined) {
    if (!owner.tenantIds.includes(tenantId.toLowerCase())) throw new ServiceError('not_found', 'you have no such site');
    return tenantId.toLowerCase();
  }
  if (only === undefined) throw new ServiceError('not_found', 'you have no site');
  if (others.length > 0) {
    throw new ServiceError('invalid_parameter', 'you have several sites: name one, `viewer { tenantIds }` lists them', {
      parameter: 'tenantId',
    });
  }
  return only;
}
