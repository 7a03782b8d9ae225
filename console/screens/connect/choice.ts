import type { Site } from '../../core/session.ts';

/** The choice of a site that is not there yet. */
export const NEW = 'new';

/**
 * The chosen site: what the owner named, else the one of this host, else a new one, else one that has no host yet. null: the owner has to name one, since
 * an address that a stranger made must not lead to a press of one button that changes who is paid for another host.
 */
export function choiceOf(named: string | undefined, sites: readonly Site[], host: string, canCreate: boolean): string | null {
  if (named === NEW && canCreate) return NEW;
  const one = sites.find(({ tenantId }) => tenantId === named) ?? sites.find((site) => site.host === host);
  if (one) return one.tenantId;
  return canCreate ? NEW : (sites.find((site) => site.host === null)?.tenantId ?? null);
}
