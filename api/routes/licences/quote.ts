import { quoteBody, quoteScope } from '../../../modules/storefront/use/licences/quote.ts';
import { understandRequest } from '../../../modules/storefront/use/licences/request.ts';
import type { PublicRoute } from '../../route.ts';
import { LicenceQuote, LicenceRequestBody } from '../../schemas/licences.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { hostOf } from '../requestHost.ts';
import { jsonResponse } from '../responses.ts';

/** POST /_svc/licenses/quote: what a scope of pages costs for a period, and who gets it. */
export const licencesQuoteRoute: PublicRoute = {
  method: 'post',
  path: '/_svc/licenses/quote',
  access: 'public',
  cost: 'heavy',
  isForPages: true,
  bodyLimitBytes: 65_536,
  operation: {
    operationId: 'quoteLicence',
    tags: ['Licences'],
    summary: 'Price a licence',
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: LicenceRequestBody } } },
    responses: {
      '200': jsonResponse('The price and its legs', LicenceQuote),
      '400': jsonResponse('Malformed scope, terms or period', ErrorBody),
      '404': jsonResponse('No such site, or the scope covers nothing', ErrorBody),
      '409': jsonResponse('This scope cannot be sold for the site', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, body, header, address }) => {
    const request = await understandRequest(deps, parseWith(LicenceRequestBody, body), hostOf(header('host')));
    const quote = await quoteScope(deps, request, address);
    const answer = quoteBody({ ...request, ...quote, resourceCount: quote.pages.length });
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: answer };
  },
};
