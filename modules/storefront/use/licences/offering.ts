import type { Transactional } from '../../../../db/database.ts';
import type { Networks } from '../../../../platform/chain/network.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { hasControlCharacter, plainPath } from '../../../kernel/hosts/host.ts';
import type { PeriodFactor } from '../../../kernel/licence/period.ts';
import { validatePeriodFactors } from '../../../kernel/licence/period.ts';
import { flattenCredits } from '../../../kernel/money/credits.ts';
import type { PayeeRule } from '../../../kernel/money/wallet.ts';
import { MAX_SLUG_CHARS } from '../../../kernel/pages/resource.ts';
import { canonicalPath } from '../../../kernel/pages/scope.ts';
import { writeImportedPages, writeOffering } from '../../../licences/store/offering.ts';
import { payeeRule } from '../../../tenants/use/payees.ts';

/** A page to import; its address may be anywhere on the site. */
export interface PageInput {
  readonly slug: string;
  /** Decoded path, beginning with a slash. */
  readonly path: string;
  readonly title?: string;
  /** As in credits_inline; left out: nobody can be paid for it yet. */
  readonly credits?: unknown;
}

/** What bounds a site's catalogue. */
export interface ImportLimits {
  /** Most imported pages of a site; `SITE_PAGES` unless told. */
  readonly sitePages?: number;
}

/** Most pages of one import. */
export const MAX_IMPORT = 5_000;
/** Most imported pages of a site. */
export const SITE_PAGES = 100_000;

/**
 * Imports pages of a site, replacing those of the same slug (GraphQL `importPages`). Throws invalid_parameter for a page that
 * could not be sold as written, conflict when two pages have one path or the site has more pages than `sitePages` then, not_found.
 */
export async function importPages(
  deps: ImportLimits & {
    readonly database: Transactional;
    readonly networks?: Pick<Networks, 'contracts'>;
  },
  request: { readonly tenantId: string; readonly pages: readonly PageInput[] },
): Promise<{ readonly imported: number }> {
  const rule = payeeRule(deps.networks?.contracts);
  if (!Array.isArray(request.pages) || request.pages.length > MAX_IMPORT)
    throw new ServiceError('invalid_parameter', `pages: at most ${MAX_IMPORT} at once`);
  const rows = request.pages.map((page, index) => importedRow(page, `pages.${index}`, rule));
  const slugs = new Set<string>();
  rows.forEach(({ slug }, index) => {
    const parameter = `pages.${index}`;
    if (slugs.has(slug)) throw new ServiceError('invalid_parameter', `${parameter}: ${slug} is given twice`, { parameter });
    slugs.add(slug);
  });
  try {
    const found = await writeImportedPages(deps.database, request.tenantId, rows, limitOf(deps));
    if (!found) throw new ServiceError('not_found', 'there is no such site');
  } catch (error) {
    if ((error as { code?: unknown }).code === '23505') throw new ServiceError('conflict', 'two pages have the same path');
    throw error;
  }
  return { imported: rows.length };
}

function limitOf({ sitePages = SITE_PAGES }: ImportLimits): (count: number) => void {
  return (count) => {
    if (count <= sitePages) return;
    throw new ServiceError('conflict', `a site has at most ${sitePages} imported pages; this import would make it ${count}`);
  };
}

function importedRow({ slug, path, title, credits }: PageInput, place: string, rule: PayeeRule) {
  const isText = (text: unknown): boolean =>
    typeof text === 'string' && text !== '' && text.isWellFormed() && !hasControlCharacter(text);
  if (!isText(slug) || slug.length > MAX_SLUG_CHARS) refuse(`${place}.slug`, 'must be a slug');
  if (!isText(path) || path.length > MAX_SLUG_CHARS || !path.startsWith('/')) refuse(`${place}.path`, 'must begin with a slash');
  if (title !== undefined && (!isText(title) || title.length > 500)) refuse(`${place}.title`, 'must be text');
  if (credits !== undefined && credits !== null) flattenCredits(credits, `${place}.credits`, { ...rule, page: slug });
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
  if (await writeOffering(deps.database, tenantId, { sellsTraining, periodFactors })) return;
  throw new ServiceError('not_found', 'there is no such site');
}
