import type { Network } from '../../../platform/chain/network.ts';
import { checksumAddress } from '../../../platform/chain/offer.ts';
import { payToOf } from '../../../platform/chain/router/split.ts';
import type { PageCredits } from '../../kernel/money/credits.ts';
import { articleOf } from '../../kernel/pages/resource.ts';
import { canonicalPath } from '../../kernel/pages/scope.ts';
import { NOBODY } from '../../pricing/rules/compiled.ts';
import type { ManifestDestination, ManifestPage } from '../../pricing/rules/manifest.ts';
import { manifestOf } from '../../pricing/rules/manifest.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';
import { siteNetworks } from '../../tenants/use/networks.ts';
import type { DocumentMaker } from './makers.ts';
import type { DocumentSite } from './site.ts';

/** Pages told by themselves, the first that name authors of their own: each costs a hash for its recipient. */
const MAX_PAGES = 50;

/** The manifest of a host: what its pages cost now, by their patterns. */
export const makeManifest: DocumentMaker = (deps, site) => {
  const atMs = deps.clock();
  const { pricing, host } = site;
  return JSON.stringify(
    manifestOf({
      baseUrl: deps.baseUrl,
      host,
      classes: pricing.classes(atMs),
      destinations: unnamedDestinations(deps, site),
      pages: ownPages(deps, site, { prefix: '/', atMs, limit: MAX_PAGES }),
      lastUpdatedMs: changedAtMs(site, atMs),
    }),
  );
};

/** Where pages that name nobody are paid; null where they are free. */
export function unnamedDestinations(
  deps: Pick<PublisherDeps, 'networks'>,
  { tenant, pricing }: Pick<DocumentSite, 'tenant' | 'pricing'>,
): readonly ManifestDestination[] | null {
  const credits = pricing.unnamed();
  if (credits === null) return null;
  return siteNetworks(deps, tenant).map((network) => destinationOf(network, credits === 'looked_up' ? null : credits));
}

/** Since when prices are as they are: set, or begun by a rule's own time. */
export function changedAtMs({ tenant, pricing }: Pick<DocumentSite, 'tenant' | 'pricing'>, atMs: number): number {
  const fromMs = tenant.pricings.find(({ validUntilMs }) => validUntilMs === null)?.validFromMs ?? 0;
  return pricing.changesBetween(fromMs, atMs)[0] ?? fromMs;
}

/** The first pages under a prefix that name authors of their own, as an agent that nobody verified may buy them. */
export function ownPages(
  deps: Pick<PublisherDeps, 'networks'>,
  { tenant, pricing, host }: DocumentSite,
  { prefix, atMs, limit }: { readonly prefix: string; readonly atMs: number; readonly limit: number },
): readonly ManifestPage[] {
  const networks = siteNetworks(deps, tenant);
  return pricing.inlineSlugs
    .slice(0, MAX_PAGES)
    .flatMap((slug) => {
      const article = articleOf(pricing.articlePrefixes, host, slug);
      if (!article?.path.startsWith(prefix)) return [];
      const price = pricing.resolve({ ...NOBODY, path: canonicalPath(article.path), slug, kind: 'read', atMs });
      if (price.kind !== 'priced') return [];
      const destinations = networks.map((network) => destinationOf(network, price.credits));
      return [{ url: article.url, title: price.credits.title ?? slug, priceMicro: price.micro, destinations }];
    })
    .slice(0, limit);
}

function destinationOf(
  { id, asset, router, assetName, assetVersion }: Network,
  credits: PageCredits | null,
): ManifestDestination {
  return {
    network: id,
    asset: checksumAddress(asset),
    extra: { name: assetName, version: assetVersion },
    payTo: credits && checksumAddress(payToOf(credits.authors, router).payTo),
  };
}
