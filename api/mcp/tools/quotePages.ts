import { z } from 'zod';
import { quotePages } from '../../../modules/storefront/use/pages/quotes.ts';
import { pageKind, pageUrl } from '../inputs.ts';
import { quotedBody, unpricedBody } from '../quoted.ts';
import { dataResult, defineTool } from '../tool.ts';

const MOST_PAGES = 50;

/** quote_pages: what up to 50 pages cost, of any sites, in their order; each page counts as a call. */
export const quotePagesTool = defineTool({
  name: 'quote_pages',
  title: 'What many pages cost',
  description: 'The prices of up to 50 pages, in the order asked. One that has none says why. Free of charge.',
  input: z.strictObject({ urls: z.array(pageUrl).min(1).max(MOST_PAGES), kind: pageKind }),
  cost: 'light',
  run: async ({ deps, count, address }, { urls, kind }) => {
    count(urls.length - 1);
    const outcomes = await quotePages(deps, urls, kind, address);
    const pages = outcomes.map((outcome, index) => {
      if (outcome.state === 'priced') return quotedBody(outcome.quote, deps.baseUrl);
      const url = urls[index] ?? '';
      if (outcome.state === 'free') return unpricedBody({ url, because: outcome.because }, kind);
      return { url, kind, ...outcome };
    });
    return dataResult({ pages });
  },
});
