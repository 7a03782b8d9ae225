import { withCredits } from '../../services/credits/book.ts';
import { noteCall } from '../../services/enforcementLiveness.ts';
import { buildOffer } from '../../services/offers.ts';
import { quoteResource } from '../../services/quotes.ts';
import type { KeyRoute } from '../route.ts';
import { parseWith } from '../schemas/parse.ts';
import { QuoteBody, QuoteQuery } from '../schemas/quote.ts';
import { jsonResponse, keyErrors } from './responses.ts';

/** GET /_svc/quote: what a page costs now; 204 when it is free. Reads no database, unless authors stand behind a credits API. */
export const quoteRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/quote',
  access: { scope: 'tenant.read', freshness: 'snapshot' },
  operation: {
    operationId: 'getQuote',
    tags: ['Enforce'],
    summary: 'Price a resource',
    security: [{ publisherKey: [] }],
    requestParams: { query: QuoteQuery },
    responses: {
      '200': jsonResponse('The price and who gets it', QuoteBody),
      '204': { description: 'Free: no toll' },
      ...keyErrors(),
    },
  },
  handle: async ({ deps, caller, query }) => {
    const { build, kind = 'read', ...page } = parseWith(QuoteQuery, Object.fromEntries(query), 'invalid_parameter');
    const headers = { 'cache-control': 'private, no-store' };
    noteCall(deps.liveness, caller.tenant, page.resource, 'quoted');
    const quoted = await withCredits(deps.credits, () => quoteResource(deps, { tenant: caller.tenant, kind, ...page }));
    if (!quoted) return { status: 204, headers };
    const body = build === undefined ? quoted.quote : { ...quoted.quote, x402: buildOffer(quoted, deps.network) };
    return { status: 200, headers, body };
  },
};
