import type { CrossingKind } from '../../../kernel/terms.ts';
import type { CheckDeps } from '../../../licences/use/check.ts';
import { checkLicence } from '../../../licences/use/check.ts';
import { articleAt } from '../../../quotes/use/articleAt.ts';
import type { HoldingDeps } from '../../../settlement/use/reread/holding.ts';
import { findHolding } from '../../../settlement/use/reread/holding.ts';
import type { PageDeps } from './fetch.ts';
import { requireSitePage } from './fetch.ts';
import type { Relayed } from './relay.ts';
import { relayPage } from './relay.ts';

/** What reading again needs. */
export type HeldDeps = PageDeps & HoldingDeps & CheckDeps;

/** A page that somebody may have bought before, calling from this address: an account, by what it bought, or the bearer of a licence for it. */
export interface HeldRequest {
  readonly url: string;
  /** `read` unless told. */
  readonly kind?: CrossingKind;
  readonly by: { readonly accountId: string; readonly address: string } | { readonly licence: string; readonly address: string };
}

/** The licence that opens the page now, with the page; or that nothing of it is held. */
export type HeldPage =
  | { readonly held: true; readonly license: string; readonly expiresAtMs: number | null; readonly relay: Relayed }
  | { readonly held: false };

/**
 * Until when an account may read a page again without paying, epoch ms; null where nothing of it is held. What `readHeld` finds, without a licence
 * and without the page. Throws invalid_resource, not_found, database_unavailable.
 */
export async function findHeldUntil(
  deps: HoldingDeps & Pick<CheckDeps, 'credits'> & Parameters<typeof requireSitePage>[0],
  {
    url,
    kind,
    accountId,
    address,
  }: { readonly url: string; readonly kind: CrossingKind; readonly accountId: string; readonly address: string },
): Promise<number | null> {
  const { site, resource: asked } = await requireSitePage(deps, url);
  const { resource } = await articleAt(deps, site.tenant, asked, { address });
  const holding = await findHolding(deps, { tenant: site.tenant, mode: 'live' }, { resource, kind, buyer: { accountId } });
  return holding && holding.expiresAtSeconds * 1_000;
}

/**
 * Reads a page again that was paid for: by a licence issued again for what the account holds, or by the licence that is handed in, which is checked as
 * the site would check it. Never charges, and takes no payment; a second call gives another token of the same licence. Throws invalid_resource,
 * not_found, signing_key_unavailable and outages; what the site does is told in the answer.
 */
export async function readHeld(deps: HeldDeps, { url: asked, kind = 'read', by }: HeldRequest): Promise<HeldPage> {
  const { site, resource: address } = await requireSitePage(deps, asked);
  const { tenant } = site;
  const { resource, slug } = await articleAt(deps, tenant, address, { address: by.address });
  const { url } = resource;
  if ('licence' in by) {
    const question = { license: by.licence, resource: url, slug: slug ?? resource.path.slice(1), kind };
    if (!(await checkLicence(deps, { tenant, key: { mode: 'live' } }, question))) return { held: false };
    return {
      held: true,
      license: by.licence,
      expiresAtMs: null,
      relay: await relayPage(deps, { url, licence: by.licence, who: `address ${by.address}` }),
    };
  }
  const holding = await findHolding(deps, { tenant, mode: 'live' }, { resource, kind, buyer: by });
  if (!holding) return { held: false };
  const license = await holding.mint();
  const relay = await relayPage(deps, { url, licence: license, who: `account ${by.accountId}` });
  return { held: true, license, expiresAtMs: holding.expiresAtSeconds * 1_000, relay };
}
