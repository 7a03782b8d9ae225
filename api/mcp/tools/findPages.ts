import { z } from 'zod';
import { findPages, MAX_FOUND, MAX_HOSTS, MAX_QUERY_CHARS } from '../../../modules/discovery/use/search/find.ts';
import { microToJson } from '../../../modules/kernel/money/money.ts';
import { dataResult, defineTool } from '../tool.ts';

/** find_pages: pages of sites that want to be found, with what they cost now. */
export const findPagesTool = defineTool({
  name: 'find_pages',
  title: 'Find pages',
  description:
    'Pages for sale by the words of their title, address or authors, best first, with prices in micro-USDC. Words are taken as they are; there are no ' +
    'operators. Free of charge.',
  input: z.strictObject({
    query: z.string().min(1).max(MAX_QUERY_CHARS),
    hosts: z.exactOptional(z.array(z.string().min(1).max(253)).min(1).max(MAX_HOSTS)),
    maxPriceMicro: z.exactOptional(z.int().min(0).meta({ description: 'Only pages that cost at most this, in micro-USDC.' })),
    limit: z.int().min(1).max(MAX_FOUND).default(10),
  }),
  cost: 'heavy',
  run: async ({ deps }, { maxPriceMicro, ...asked }) => {
    const most = maxPriceMicro === undefined ? {} : { maxPriceMicro: BigInt(maxPriceMicro) };
    const { pages, isPartial } = await findPages(deps, { ...asked, ...most });
    const shown = pages.map(({ kinds, ...page }) => ({
      ...page,
      kinds: kinds.map(({ kind, priceMicro }) => ({ kind, priceMicro: microToJson(priceMicro) })),
    }));
    return dataResult({ pages: shown, isPartial });
  },
});
