import type { CheckReport } from '../modules/hosts/use/check.ts';
import { checkHost, listOverdueHosts, lookAtHost, probeHostRouting } from '../modules/hosts/use/check.ts';
import type { HostDeps, HostKey } from '../modules/hosts/use/deps.ts';

/** The activities of `verifyHost` and `sweepHosts`; each may run again without harm. */
export interface HostActivities {
  /** Checks a host once and writes what follows from it. */
  checkHost(input: HostKey & { readonly kind: 'manual' | 'scheduled' }): Promise<CheckReport>;
  /** Looks at the site of a newly opened challenge; milliseconds to its next check, null when there is no challenge. */
  lookAtHost(key: HostKey): Promise<number | null>;
  /** Has the routing probe look at a verified host. */
  probeHostRouting(key: HostKey): Promise<void>;
  /** Hosts whose check is so late that their workflow may be lost; a hundred at most. */
  findOverdueHosts(): Promise<readonly HostKey[]>;
}

/** Binds the activities to what they work with. */
export function createHostActivities(deps: HostDeps): HostActivities {
  return {
    checkHost: ({ kind, ...key }) => checkHost(deps, key, kind),
    lookAtHost: (key) => lookAtHost(deps, key),
    probeHostRouting: (key) => probeHostRouting(deps, key),
    findOverdueHosts: () => listOverdueHosts(deps),
  };
}
