import type { Sql } from '../../../../db/database.ts';
import type { Log } from '../../../kernel/log.ts';
import { bindOwners } from '../../../tenants/store/owners.ts';

/**
 * Gives every owner whose issuer is not written down to the issuer that this process runs with, so that a later issuer's people with
 * the same subjects own nothing. At the start of each API; a failure is logged, and the next start or sign-in does it.
 */
export async function adoptOwners(
  { database, log }: { readonly database: Sql; readonly log: Pick<Log, 'info' | 'warn'> },
  issuer: string | undefined,
): Promise<void> {
  if (issuer === undefined) return;
  try {
    const sites = await bindOwners(database, issuer);
    if (sites > 0) log.info({ sites, issuer }, 'owners of sites belong to this issuer from now on');
  } catch (error) {
    log.warn({ error: String(error) }, 'owners of sites were not given to their issuer');
  }
}
