import { ServiceError } from '../../kernel/errors.ts';
import { normaliseHost } from '../../kernel/hosts/host.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite, requireOpenSite } from '../../tenants/use/change.ts';
import type { ChallengeMethod } from '../rules/challenge.ts';
import { findHostState, removeHostRows } from '../store/removal.ts';
import type { ChallengeDeps, OpenOutcome } from './challenges.ts';
import { checkHostNow, openHost } from './challenges.ts';
import type { CheckOutcome } from './deps.ts';

/**
 * Opens the challenge of a host, or returns the open one (see `openHost`, which also says what it throws). A host that is somebody's
 * already is an answer, not a change: nothing is written down then.
 */
export async function openSiteHost(
  deps: ChallengeDeps,
  call: SiteCall,
  request: { readonly host: string; readonly method: ChallengeMethod },
): Promise<OpenOutcome> {
  const { tenantId } = call;
  await requireOpenSite(deps, call);
  return await openHost(deps, { tenantId, ...request }, (host, open) =>
    changeSite(deps, call, {
      action: 'host.open',
      target: host,
      look: (sql) => findHostState(sql, tenantId, host),
      make: open,
    }),
  );
}

/**
 * Checks a host now (see `checkHostNow`, which also says what it throws). The check itself is the worker's, on evidence; what is
 * written down is that the owner asked, and what came of it.
 */
export async function checkSiteHost(
  deps: ChallengeDeps,
  call: SiteCall,
  host: string,
): Promise<{ readonly host: string; readonly outcome: CheckOutcome }> {
  const { tenantId } = call;
  await requireOpenSite(deps, call);
  const checked = await checkHostNow(deps, { tenantId, host, mayWrite: true });
  return await changeSite(deps, call, {
    action: 'host.check',
    target: checked.host,
    look: async (_sql, result) => result?.outcome ?? null,
    make: async () => checked,
  });
}

/**
 * Removes a host: its quotes, observations and challenge end with it; what it earned stays. For 72 hours only DNS proves it again.
 * Throws invalid_parameter, not_found (on a second call too), and what `changeSite` throws.
 */
export async function removeSiteHost(
  deps: Pick<ChallengeDeps, 'database' | 'clock'>,
  call: SiteCall,
  name: string,
): Promise<{ readonly host: string }> {
  const { tenantId } = call;
  const host = normaliseHost(name);
  return await changeSite(deps, call, {
    action: 'host.remove',
    target: host,
    look: (sql) => findHostState(sql, tenantId, host),
    make: async (database) => {
      if (await removeHostRows(database, tenantId, host, new Date(deps.clock()))) return { host };
      throw new ServiceError('not_found', 'this site has no such host');
    },
  });
}
