import { quoteBody, quoteScope } from '../../../modules/storefront/use/licences/quote.ts';
import { understandRequest } from '../../../modules/storefront/use/licences/request.ts';
import { licenceInput } from '../inputs.ts';
import { dataResult, defineTool } from '../tool.ts';

/** quote_licence: what a scope of pages costs for a period, and who gets it. */
export const quoteLicenceTool = defineTool({
  name: 'quote_licence',
  title: 'What a licence costs',
  description: 'The price of a licence over many pages of one site for a number of days. Free of charge.',
  input: licenceInput,
  cost: 'heavy',
  run: async ({ deps, who, address }, asked) => {
    const request = await understandRequest(deps, asked, null);
    const quote = await quoteScope(deps, request, who.kind === 'account' ? who.account.accountId : address);
    return dataResult({ ...quoteBody({ ...request, ...quote, resourceCount: quote.pages.length }) });
  },
});
