import type { Transactional } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { denyToken, revokeLicenceRow } from '../store/licences.ts';

/** What revoking needs. */
interface RevokeDeps {
  readonly database: Transactional;
}

/**
 * Revokes a bought licence of a site: its tokens entitle to nothing from the next check on, and no more are minted. Offline
 * verifiers notice when the last token ends. Throws not_found; a second call changes nothing.
 */
export async function revokeLicence(deps: RevokeDeps, key: { readonly tenantId: string; readonly jti: string }): Promise<void> {
  if (await revokeLicenceRow(deps.database, key)) return;
  throw new ServiceError('not_found', 'this site has sold no such licence');
}

/** Denies one token, a re-read licence or an access token, by its jti. A second call changes nothing. */
export async function revokeToken(deps: RevokeDeps, key: { readonly tenantId: string; readonly jti: string }): Promise<void> {
  await denyToken(deps.database, key);
}
