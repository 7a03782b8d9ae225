import type { ObjectRef } from '@pothos/core';
import DataLoader from 'dataloader';
import type { AskedPage, PageName } from '../../modules/reports/use/pageNames.ts';
import { namePages } from '../../modules/reports/use/pageNames.ts';
import { ROW_COST } from '../limits/limits.ts';
import type { GraphqlContext } from '../request/context.ts';
import type { Types } from './builder.ts';
import { builder } from './builder.ts';
import { hostFilter } from './inputs.ts';
import type { Site } from './site.ts';

type Loader = DataLoader<AskedPage, PageName, string>;

/** One for each query: titles and URLs of a list's rows are read together, whichever of the two is asked for. */
const loaders = new WeakMap<GraphqlContext, Loader>();

/**
 * Adds `title` and `url` to a type whose rows name a page; `pageOf` says which one, null for none. Each costs as much as a row that is read
 * for another one, and all of a list are read in one statement.
 */
export function namesPages<Row>(
  type: ObjectRef<PothosSchemaTypes.ExtendDefaultTypes<Types>, Row>,
  pageOf: (row: Row) => AskedPage | null,
): void {
  const find = async (row: Row, context: GraphqlContext): Promise<PageName | null> => {
    const page = pageOf(row);
    return page && (await loaderOf(context).load(page));
  };
  builder.objectFields(type, (t) => ({
    title: t.string({
      nullable: true,
      description: 'The title of the page, from credits or catalogue; null: unknown, or no page.',
      complexity: ROW_COST,
      resolve: async (row, _args, context) => (await find(row as Row, context))?.title ?? null,
    }),
    url: t.string({
      nullable: true,
      description: 'The URL of the page, as it was bought or as the catalogue has it; null: unknown, or no page.',
      complexity: ROW_COST,
      resolve: async (row, _args, context) => (await find(row as Row, context))?.url ?? null,
    }),
  }));
}

/** Which page a group of a report is of; null where groups are of something else. */
export interface OfPage {
  readonly page: AskedPage | null;
}

/** Says which page each group of a report by page is of: on the host that the report is of, or else the site's first one. */
export function groupNamer(site: Site, isBySlug: boolean, host: string | null | undefined): (slug: string) => OfPage {
  const [first = null] = site.hosts;
  const on = hostFilter(host) ?? first;
  return (slug) => ({ page: isBySlug && slug !== '' ? { tenantId: site.tenantId, host: on, slug, paymentId: null } : null });
}

function loaderOf(context: GraphqlContext): Loader {
  const known = loaders.get(context);
  if (known) return known;
  const made: Loader = new DataLoader((pages) => loadNames(context, pages), {
    cacheKeyFn: ({ tenantId, slug, host, path, paymentId }) => JSON.stringify([tenantId, slug, host, path, paymentId]),
  });
  loaders.set(context, made);
  return made;
}

/** One statement for each site: one, unless an owner asks for several. */
async function loadNames({ deps }: GraphqlContext, pages: readonly AskedPage[]): Promise<PageName[]> {
  const names = new Map<AskedPage, PageName>();
  for (const [tenantId, members] of Map.groupBy(pages, (page) => page.tenantId)) {
    const found = await namePages(deps, tenantId, members);
    for (const [n, page] of members.entries()) names.set(page, found[n] as PageName);
  }
  return pages.map((page) => names.get(page) as PageName);
}
