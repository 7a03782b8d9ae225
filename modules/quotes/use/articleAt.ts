import type { TenantSnapshot } from '../../identity/use/tenantSnapshots.ts';
import { isServiceError } from '../../kernel/errors.ts';
import type { ResourceUrl } from '../../kernel/hosts/host.ts';
import { articlesOf } from '../../kernel/pages/forms.ts';
import { slugOf } from '../../kernel/pages/resource.ts';
import type { CreditsBook } from './credits/book.ts';
import { CREDITS_PATIENCE_MS, withCredits } from './credits/book.ts';
import type { LookedUpFor } from './credits/lookups.ts';
import { locateArticle, presentPricing } from './issue.ts';

/** A page of a site: its address and its slug; the slug is null where the address is no article's. */
export interface ArticleAt {
  readonly resource: ResourceUrl;
  readonly slug: string | null;
}

/**
 * The page at an address, as quotes find it: of a form of an article, the article. Used for pages that were sold: where the site's
 * credits cannot be read now, the address counts as it stands. An address that is no form costs nothing; `by` has any other looked up.
 */
export async function articleAt(
  { credits }: { readonly credits: CreditsBook },
  tenant: TenantSnapshot,
  resource: ResourceUrl,
  by: LookedUpFor = 'site',
): Promise<ArticleAt> {
  const pricing = presentPricing(tenant);
  const slug = slugOf(pricing.articlePrefixes, resource.path);
  if (slug === null || articlesOf(slug, tenant.forms).length === 0) return { resource, slug };
  try {
    const locate = () => locateArticle({ credits }, tenant, { pricing, resource, slug });
    return await withCredits(credits, locate, CREDITS_PATIENCE_MS, by);
  } catch (error) {
    if (isServiceError(error) && error.kind === 'unavailable') return { resource, slug };
    throw error;
  }
}
