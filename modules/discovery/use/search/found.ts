import { parseResource } from '../../../kernel/hosts/host.ts';
import type { LicenceTerm } from '../../../kernel/licence/period.ts';
import { includesTraining, TERMS } from '../../../kernel/licence/period.ts';
import { articleOf, plainSlug, slugOf } from '../../../kernel/pages/resource.ts';
import { canonicalPath, exactPattern, MAX_PATTERN_CHARS } from '../../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import { NOBODY } from '../../../pricing/rules/compiled.ts';
import type { PublisherDeps } from '../../../quotes/use/deps.ts';
import { presentPricing } from '../../../quotes/use/issue.ts';
import type { SearchedPage } from '../../store/pages.ts';

/** What finding pages needs. */
export type FindDeps = Pick<PublisherDeps, 'database' | 'snapshots' | 'clock'>;

/** A page of a site that wants to be found, as an agent that nobody verified may have it now. */
export interface FoundPage {
  readonly url: string;
  readonly host: string;
  readonly title: string;
  /** Kinds that are sold, and what each costs: micro-USDC, 0 for a page that is free. */
  readonly kinds: readonly { readonly kind: CrossingKind; readonly priceMicro: bigint }[];
  /** Ids of who is paid; empty: nobody, or the site says it with the quote. */
  readonly authors: readonly string[];
  /** What a licence over this page alone is asked for with; null: its address is too long for a pattern. */
  readonly licence: { readonly pattern: string; readonly terms: readonly LicenceTerm[] } | null;
  /** Whether its text is handed on to who has a licence. */
  readonly relays: boolean;
}

const KINDS: readonly CrossingKind[] = ['read', 'citation'];

/** What a page costs now, on the host that was asked about or the first of its site; null where it is not given, or is none of its site's. */
export async function foundPageOf(deps: FindDeps, row: SearchedPage, named: ReadonlySet<string>): Promise<FoundPage | null> {
  const tenant = await deps.snapshots.tenant(row.tenantId, row.version);
  const host = named.size === 0 ? tenant?.hosts[0] : tenant?.hosts.find((one) => named.has(one));
  if (tenant?.status !== 'active' || host === undefined) return null;
  const pricing = presentPricing(tenant);
  const resource =
    row.path === null
      ? articleOf(pricing.articlePrefixes, host, plainSlug(row.slug))
      : parseResource(`https://${host}${row.path}`);
  if (!resource) return null;
  const path = canonicalPath(resource.path);
  const slug = slugOf(pricing.articlePrefixes, resource.path);
  const prices = KINDS.map((kind) => ({ kind, price: pricing.resolve({ ...NOBODY, path, slug, kind, atMs: deps.clock() }) }));
  const sold = prices.filter(({ price }) => price.kind !== 'refused');
  const [first] = sold;
  if (!first) return null;
  const credits = first.price.kind === 'priced' ? first.price.credits : null;
  const pattern = exactPattern(path);
  const terms = TERMS.filter((term) => row.sellsTraining || !includesTraining([term]));
  return {
    url: resource.url,
    host,
    title: row.title ?? row.slug,
    relays: row.relays,
    kinds: sold.map(({ kind, price }) => ({ kind, priceMicro: 'micro' in price ? price.micro : 0n })),
    authors: [...new Set(credits?.authors.map(({ authorId }) => authorId))],
    licence: pattern.length <= MAX_PATTERN_CHARS ? { pattern, terms } : null,
  };
}
