import { ServiceError } from '../../../kernel/errors.ts';
import type { Owner } from './authenticate.ts';

/**
 * The site an owner means: the one named, or the owner's only one. A token names the site that it was made for as long as it lasts, whatever
 * sites are added with it. Throws not_found for a site that is not the owner's, and invalid_parameter when a user of an identity provider with
 * several sites names none.
 */
export function ownedTenant(owner: Owner, tenantId: string | null | undefined): string {
  const [only, ...others] = owner.tenantIds;
  if (tenantId !== null && tenantId !== undefined) {
    if (!owner.tenantIds.includes(tenantId.toLowerCase())) throw new ServiceError('not_found', 'you have no such site');
    return tenantId.toLowerCase();
  }
  if (only === undefined) throw new ServiceError('not_found', 'you have no site');
  if (others.length > 0 && owner.via !== 'token') {
    throw new ServiceError('invalid_parameter', 'you have several sites: name one, `viewer { tenantIds }` lists them', {
      parameter: 'tenantId',
    });
  }
  return only;
}
