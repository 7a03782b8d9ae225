import type { Database } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import { findRevocation, isDenied } from '../store/revocation.ts';
import { revokeLicence, revokeToken } from './revoke.ts';

const MAX_JTI_CHARS = 100;

/** Revokes a licence the site sold. Throws not_found; a second call changes nothing. */
export async function revokeSiteLicence(deps: { readonly database: Database }, call: SiteCall, jti: string): Promise<void> {
  const { tenantId } = call;
  await changeSite(deps, call, {
    action: 'licence.revoke',
    target: jti,
    look: (sql) => findRevocation(sql, { tenantId, jti }),
    make: (database) => revokeLicence({ database }, { tenantId, jti }),
  });
}

/** Denies one token, a re-read licence or an access token, by its jti. Throws invalid_parameter; a second call changes nothing. */
export async function denySiteToken(deps: { readonly database: Database }, call: SiteCall, jti: string): Promise<void> {
  const { tenantId } = call;
  if (!/^[\w.:-]+$/.test(jti) || jti.length > MAX_JTI_CHARS) {
    throw new ServiceError('invalid_parameter', `jti: 1 to ${MAX_JTI_CHARS} letters, digits and -_.:`, { parameter: 'jti' });
  }
  await changeSite(deps, call, {
    action: 'licence.deny_token',
    target: jti,
    look: async (sql) => ({ denied: await isDenied(sql, { tenantId, jti }) }),
    make: (database) => revokeToken({ database }, { tenantId, jti }),
  });
}
