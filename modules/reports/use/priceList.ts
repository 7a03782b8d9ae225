import type { Sql } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { plainSlug } from '../../kernel/pages/resource.ts';
import { readCataloguedPages } from '../../licences/store/offering.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import type { ListedPage, PriceStep } from '../../pricing/rules/priceList.ts';
import { listPage, namedPages, priceSteps } from '../../pricing/rules/priceList.ts';
import type { Pricing } from '../../pricing/rules/pricing.ts';
import { compilePricing, PRICING_GRACE_MS } from '../../pricing/rules/pricing.ts';
import { findPricing } from '../../pricing/store/pricing.ts';
import { withoutPageCredits, withPageCredits } from '../../quotes/use/managePrices.ts';
import { findVersion, hasImportedCredits } from '../../tenants/store/tenants.ts';
import { completePricing, requirePricing } from '../../tenants/use/tenants.ts';

/** What reading price lists needs. */
export interface PriceListDeps extends Pick<ReadingDeps, 'reading' | 'clock'> {
  readonly priceFloorMicro: bigint;
}

/** Most pages of a catalogue that are looked at; inline credits are all looked at, and bounded when they are set. */
export const LISTED_PAGES = 20_000;

/** The pages a site names, with what each costs now. */
export interface PriceList {
  /** The site's version at the same moment. */
  readonly version: number;
  /** Ascending by path. */
  readonly pages: readonly (ListedPage & { /** Its inline credits as they were set; null: none. */ readonly credits: unknown })[];
  /** False: the catalogue has more pages than are looked at. */
  readonly isWhole: boolean;
}

/** What a change would do, without making it. */
export interface PriceEffect extends Pick<PriceList, 'version' | 'isWhole'> {
  /** How many pages were looked at. */
  readonly pages: number;
  readonly steps: readonly PriceStep[];
  /** The page whose credits the change names, before and after; null: it names none. */
  readonly page: { readonly before: ListedPage; readonly after: ListedPage } | null;
  /** How long a price that was shown before is accepted after the change. */
  readonly formerMs: number;
}

/** A change of prices to look at: members as of `changePricing`, and the inline credits of one page (null: taken away). */
export interface PlannedChange {
  readonly pricing: Partial<Pricing>;
  readonly page?: { readonly slug: string; readonly credits: unknown };
}

/** Reads what every page that a site names costs, and who is paid. Throws not_found, database_unavailable. */
export async function readPriceList(deps: PriceListDeps, tenantId: string): Promise<PriceList> {
  const { pricing, version, catalogueVersion, imported, isWhole } = await readPrices(deps, tenantId);
  const compiled = compilePricing(pricing, deps.priceFloorMicro, catalogueVersion);
  const atMs = deps.clock();
  const inline = new Map(
    Object.entries(pricing.creditsInline ?? {}).map(([slug, credits]) => [plainSlug(slug), credits] as const),
  );
  const pages = namedPages(imported, [compiled]).map((named) => {
    const page = listPage(compiled, named, atMs);
    return { ...page, credits: page.slug === null ? null : (inline.get(page.slug) ?? null) };
  });
  return { version, isWhole, pages };
}

/**
 * What a change of prices would do to the pages a site names, by the rules that quote them; nothing is changed. Throws what the change itself
 * would for its input (invalid_parameter, not_found), and database_unavailable. What the network's contracts refuse is told by the change alone.
 */
export async function readPriceEffect(deps: PriceListDeps, tenantId: string, change: PlannedChange): Promise<PriceEffect> {
  const { pricing, version, catalogueVersion, imported, isWhole } = await readPrices(deps, tenantId);
  const next = completePricing({ ...pricing, ...change.pricing, ...creditsOf(pricing, change) });
  requirePricing({ priceFloorMicro: deps.priceFloorMicro }, next, change.pricing);
  const compile = (one: Pricing) => compilePricing(one, deps.priceFloorMicro, catalogueVersion);
  const [before, after] = [compile(pricing), compile(next)];
  const atMs = deps.clock();
  const pages = namedPages(imported, [before, after]);
  const slug = change.page?.slug;
  const named =
    slug === undefined ? undefined : pages.find((page) => [before, after].some((one) => listPage(one, page, atMs).slug === slug));
  return {
    version,
    isWhole,
    pages: pages.length,
    formerMs: PRICING_GRACE_MS,
    steps: priceSteps(pages, { before, after, atMs }),
    page: named === undefined ? null : { before: listPage(before, named, atMs), after: listPage(after, named, atMs) },
  };
}

function creditsOf(pricing: Pricing, { page }: PlannedChange): Partial<Pricing> {
  if (page === undefined) return {};
  return page.credits === null ? withoutPageCredits(pricing, page.slug) : withPageCredits(pricing, page.slug, page.credits);
}

async function readPrices({ reading }: PriceListDeps, tenantId: string) {
  return await reading.transaction(async (sql: Sql) => {
    const [pricing, version] = [await findPricing(sql, tenantId), await findVersion(sql, tenantId)];
    if (pricing === null || version === null) throw new ServiceError('not_found', 'there is no such site');
    const catalogueVersion = (await hasImportedCredits(sql, tenantId)) ? version : null;
    const found = await readCataloguedPages(sql, tenantId, LISTED_PAGES + 1);
    const isWhole = found.length <= LISTED_PAGES;
    return { pricing, version, catalogueVersion, imported: found.slice(0, LISTED_PAGES), isWhole };
  }, 'repeatable read read only');
}
