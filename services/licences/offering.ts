import type { Database, Transactional } from '../../db/database.ts';
import { readOffering, writeImportedPages, writeOffering } from '../../db/licences/sites.ts';
import type { CataloguePage } from '../../domain/catalogue.ts';
import { flattenCredits } from '../../domain/credits.ts';
import { ServiceError } from '../../domain/errors.ts';
import { hasControlCharacter, plainPath } from '../../domain/host.ts';
import type { PeriodFactor } from '../../domain/licencePeriod.ts';
import { validatePeriodFactors } from '../../domain/licencePeriod.ts';
import type { CompiledPricing } from '../../domain/pricing.ts';
import { MAX_SLUG_CHARS, normalisePrefix } from '../../domain/resource.ts';
import { canonicalPath } from '../../domain/scope.ts';
import { atDatabase } from '../outage.ts';
import { presentPricing } from '../quotes.ts';
import type { TenantSnapshot } from '../snapshots.ts';

/** What a site sells as a scope: its priced pages and its rules, as of one copy of the tenant. */
export interface Offering {
  readonly pages: readonly CataloguePage[];
  readonly sellsTraining: boolean;
  readonly periodFactors: readonly PeriodFactor[] | null;
}

/** A page to import; its address may be anywhere on the site. */
export interface PageInput {
  readonly slug: string;
  /** Decoded path, beginning with a slash. */
  readonly path: string;
  readonly title?: string;
  /** As in credits_inline; left out: nobody can be paid for it yet. */
  readonly credits?: unknown;
}

/** Most pages of one import. */
export const MAX_IMPORT = 5_000;
const offerings = new WeakMap<TenantSnapshot, Promise<Offering>>();

/**
 * The catalogue of a site (decisions §2): the slugs of credits_inline under its first article prefix, and its imported pages,
 * without the free ones. Made once for each copy of the tenant in memory, which any change of either replaces.
 */
export function offeringOf(deps: { readonly database: Database }, tenant: TenantSnapshot): Promise<Offering> {
  const known = offerings.get(tenant);
  if (known !== undefined) return known;
  const made = atDatabase(() => makeOffering(deps.database, tenant));
  offerings.set(tenant, made);
  made.catch(() => offerings.delete(tenant));
  return made;
}

async function makeOffering(database: Database, tenant: TenantSnapshot): Promise<Offering> {
  const { pages: imported, sellsTraining, periodFactors } = await readOffering(database, tenant.tenantId);
  const pricing = presentPricing(tenant);
  const byPath = new Map<string, CataloguePage>();
  for (const { slug, path, credits } of imported) {
    if (!pricing.isFree(slug)) byPath.set(path, { path, slug, authors: authorsOf(credits) });
  }
  for (const page of inlinePages(pricing)) byPath.set(page.path, page);
  return { pages: [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1)), sellsTraining, periodFactors };
}

function inlinePages(pricing: CompiledPricing): CataloguePage[] {
  const [prefix] = pricing.articlePrefixes ?? ['/'];
  if (prefix === undefined) return [];
  return pricing.inlineSlugs.flatMap((slug) => {
    const price = pricing.priceOf(slug, 'read');
    if (price.kind !== 'priced') return [];
    return [{ path: canonicalPath(`${normalisePrefix(prefix)}${slug}`), slug, authors: price.credits.authors }];
  });
}

function authorsOf(credits: unknown): CataloguePage['authors'] {
  if (credits === null) return null;
  try {
    return flattenCredits(credits, 'credits').authors;
  } catch {
    return null;
  }
}

/**
 * Imports pages of a site, replacing those of the same slug (GraphQL `importPages`). Throws invalid_parameter for a page that
 * could not be sold as written, conflict when two pages have one path, not_found.
 */
export async function importPages(
  deps: { readonly database: Transactional; readonly network?: { readonly asset: string; readonly router: string } },
  request: { readonly tenantId: string; readonly pages: readonly PageInput[] },
): Promise<{ readonly imported: number }> {
  const forbidden = deps.network ? [deps.network.asset.toLowerCase(), deps.network.router.toLowerCase()] : [];
  if (!Array.isArray(request.pages) || request.pages.length > MAX_IMPORT)
    throw new ServiceError('invalid_parameter', `pages: at most ${MAX_IMPORT} at once`);
  const rows = request.pages.map((page, index) => importedRow(page, `pages.${index}`, forbidden));
  if (new Set(rows.map(({ slug }) => slug)).size !== rows.length) {
    throw new ServiceError('invalid_parameter', 'pages: a slug is named twice', { parameter: 'pages' });
  }
  try {
    const found = await atDatabase(() => writeImportedPages(deps.database, request.tenantId, rows));
    if (!found) throw new ServiceError('not_found', 'there is no such site');
  } catch (error) {
    if ((error as { code?: unknown }).code === '23505') throw new ServiceError('conflict', 'two pages have the same path');
    throw error;
  }
  return { imported: rows.length };
}

function importedRow({ slug, path, title, credits }: PageInput, place: string, forbidden: readonly string[]) {
  const isText = (text: unknown): boolean =>
    typeof text === 'string' && text !== '' && text.isWellFormed() && !hasControlCharacter(text);
  if (!isText(slug) || slug.length > MAX_SLUG_CHARS) refuse(`${place}.slug`, 'must be a slug');
  if (!isText(path) || path.length > MAX_SLUG_CHARS || !path.startsWith('/')) refuse(`${place}.path`, 'must begin with a slash');
  if (title !== undefined && (!isText(title) || title.length > 500)) refuse(`${place}.title`, 'must be text');
  if (credits !== undefined && credits !== null) flattenCredits(credits, `${place}.credits`, forbidden);
  return { slug, path: canonicalPath(plainPath(path)), title: title ?? null, credits: credits ?? null };
}

function refuse(parameter: string, sentence: string): never {
  throw new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
}

/** Sets whether a site sells training and what its periods cost. Throws invalid_parameter, not_found. */
export async function setLicenceOffering(
  deps: { readonly database: Transactional },
  request: {
    readonly tenantId: string;
    readonly sellsTraining: boolean;
    readonly periodFactors?: readonly PeriodFactor[] | null;
  },
): Promise<void> {
  const periodFactors = request.periodFactors ?? null;
  if (periodFactors !== null) validatePeriodFactors(periodFactors);
  const { tenantId, sellsTraining } = request;
  if (await atDatabase(() => writeOffering(deps.database, tenantId, { sellsTraining, periodFactors }))) return;
  throw new ServiceError('not_found', 'there is no such site');
}
