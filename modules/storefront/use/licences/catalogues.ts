import { LRUCache } from 'lru-cache';
import type { Database } from '../../../../db/database.ts';
import { inSlices } from '../../../../platform/pacing/slices.ts';
import type { TenantSnapshot } from '../../../identity/use/tenantSnapshots.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { WeightedAuthor } from '../../../kernel/money/credits.ts';
import { flattenCredits } from '../../../kernel/money/credits.ts';
import { normalisePrefix } from '../../../kernel/pages/resource.ts';
import { canonicalPath } from '../../../kernel/pages/scope.ts';
import type { OfferedPage, OfferingRules } from '../../../licences/store/offering.ts';
import { readOfferedPages, readVersionedRules } from '../../../licences/store/offering.ts';
import type { Catalogue, CataloguePage } from '../../../pricing/rules/catalogue.ts';
import { pageWeight } from '../../../pricing/rules/catalogue.ts';
import type { CompiledPricing } from '../../../pricing/rules/pricing.ts';
import { presentPricing } from '../../../quotes/use/issue.ts';

/** What a site sells as a scope: its priced pages and its rules, as of one version of the tenant. */
export interface Offering extends OfferingRules, Catalogue {}

/** The catalogues in memory, those asked for last, as many as fit. */
export interface Catalogues {
  /**
   * The catalogue of a site: the slugs of credits_inline under its first article prefix, and its imported pages,
   * without the free ones. Made once for each version of the tenant. Throws conflict (409) for one that does not fit into memory.
   */
  of(database: Database, tenant: TenantSnapshot): Promise<Offering>;
}

interface Held {
  readonly version: number;
  /** Null: too large. */
  readonly offering: Offering | null;
  readonly weight: number;
}

/** Rows of one read. */
const READ_AT_ONCE = 1_000;
/** How often a catalogue is read again that changed while it was read. */
const READS = 3;

/** Opens the memory of this process; `mostWeight` is in pages (modules/pricing/rules/catalogue.ts, pageWeight). */
export function openCatalogues(mostWeight: number): Catalogues {
  const held = new LRUCache<string, Held>({ maxSize: mostWeight, sizeCalculation: ({ weight }) => weight });
  const making = new Map<string, Promise<Held>>();
  const make = (database: Database, tenant: TenantSnapshot): Promise<Held> => {
    const { tenantId, version } = tenant;
    const name = `${tenantId} ${version}`;
    const known = making.get(name);
    if (known !== undefined) return known;
    const made = makeOffering(database, tenant, mostWeight)
      .then((one) => {
        if ((held.peek(tenantId)?.version ?? 0) <= version) held.set(tenantId, one);
        return one;
      })
      .finally(() => making.delete(name));
    making.set(name, made);
    return made;
  };
  return {
    of: async (database, tenant) => {
      const known = held.get(tenant.tenantId);
      const { offering } = known?.version === tenant.version ? known : await make(database, tenant);
      if (!offering) throw new ServiceError('conflict', 'this site has too many pages and authors to sell a scope');
      return offering;
    },
  };
}

/** Reads a catalogue in parts, which hold no connection in between; when the site changes meanwhile, again. */
async function makeOffering(database: Database, tenant: TenantSnapshot, mostWeight: number): Promise<Held> {
  for (let read = 1; read <= READS; read++) {
    const { rules, version } = await readVersionedRules(database, tenant.tenantId);
    const making = new Making(presentPricing(tenant), mostWeight);
    let after: string | null = null;
    while (!making.isTooLarge) {
      const rows: readonly OfferedPage[] = await readOfferedPages(database, tenant.tenantId, { after, limit: READ_AT_ONCE });
      await inSlices(making.add(rows));
      if (rows.length < READ_AT_ONCE) break;
      after = rows.at(-1)?.path ?? null;
    }
    if (making.isTooLarge) return { version: tenant.version, offering: null, weight: 1 };
    const catalogue = await inSlices(making.finish());
    const now = await readVersionedRules(database, tenant.tenantId);
    if (now.version !== version) continue;
    return { version: tenant.version, offering: { ...rules, ...catalogue }, weight: Math.max(1, making.weight) };
  }
  throw new ServiceError('overloaded', 'this site’s catalogue is changing right now; try again', { retryAfterSeconds: 2 });
}

/** A catalogue while it is made. Credits of the same text are kept once. */
class Making {
  readonly #pricing: CompiledPricing;
  readonly #mostWeight: number;
  readonly #imported: CataloguePage[] = [];
  readonly #authors = new Map<string, CataloguePage['authors']>();
  weight = 0;

  constructor(pricing: CompiledPricing, mostWeight: number) {
    this.#pricing = pricing;
    this.#mostWeight = mostWeight;
  }

  get isTooLarge(): boolean {
    return this.weight > this.#mostWeight;
  }

  /** Takes imported pages, ascending by path. */
  *add(rows: readonly OfferedPage[]): Generator<void, void> {
    for (const { slug, path, credits } of rows) {
      if (this.isTooLarge) return;
      if (!this.#pricing.isFree(slug)) this.#keep(this.#imported, { path, slug, authors: this.#authorsOf(credits) });
      yield;
    }
  }

  /** Everything, ascending by path; where an inline page and an imported one have one path, the inline one. */
  *finish(): Generator<void, Catalogue> {
    const pages: CataloguePage[] = [];
    const imported = this.#imported;
    let next = 0;
    for (const page of yield* this.#inline()) {
      while (next < imported.length && (imported[next] as CataloguePage).path < page.path) {
        pages.push(imported[next++] as CataloguePage);
        yield;
      }
      if (imported[next]?.path === page.path) next++;
      if (pages.at(-1)?.path === page.path) pages.pop();
      pages.push(page);
      yield;
    }
    for (; next < imported.length; next++) {
      pages.push(imported[next] as CataloguePage);
      yield;
    }
    const paths: string[] = [];
    for (const { path } of pages) {
      paths.push(path);
      yield;
    }
    return { pages, paths };
  }

  *#inline(): Generator<void, CataloguePage[]> {
    const pricing = this.#pricing;
    const [prefix] = pricing.articlePrefixes ?? ['/'];
    if (prefix === undefined) return [];
    const found: CataloguePage[] = [];
    for (const slug of pricing.inlineSlugs) {
      const path = canonicalPath(`${normalisePrefix(prefix)}${slug}`);
      const authors = pricing.isFree(slug) ? null : (pricing.inlineCredits(slug)?.authors ?? null);
      if (authors) this.#keep(found, { path, slug, authors });
      yield;
    }
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #keep(pages: CataloguePage[], page: CataloguePage): void {
    pages.push(page);
    this.weight += pageWeight(page, 0);
  }

  #authorsOf(credits: string | null): readonly WeightedAuthor[] | null {
    if (credits === null) return null;
    const known = this.#authors.get(credits);
    if (known !== undefined) return known;
    const authors = flattened(credits);
    this.#authors.set(credits, authors);
    this.weight += Math.ceil((authors?.length ?? 0) / 2);
    return authors;
  }
}

function flattened(credits: string): readonly WeightedAuthor[] | null {
  try {
    return flattenCredits(JSON.parse(credits), 'credits').authors;
  } catch {
    return null;
  }
}
