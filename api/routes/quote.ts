import { withCredits } from '../../services/credits/book.ts';
import { noteCall } from '../../services/enforcementLiveness.ts';
import { buildOffer } from '../../services/offers.ts';
import { recallPage, rememberPage } from '../../services/quoteMemory.ts';
import { findPage, issueQuote, issueQuoteText } from '../../services/quotes.ts';
import type { KeyRoute } from '../route.ts';
import { parseWith } from '../schemas/parse.ts';
import { QuoteBody, QuoteQuery } from '../schemas/quote.ts';
import { jsonResponse, keyErrors } from './responses.ts';

const HEADERS = { 'cache-control': 'private, no-store' };
const FREE = { status: 204, headers: HEADERS };

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
  handle: async ({ deps, caller: { tenant }, query, search }) => {
    const { build, kind = 'read', ...page } = parseWith(QuoteQuery, Object.fromEntries(query), 'invalid_parameter');
    noteCall(deps.liveness, tenant, page.resource, 'quoted');
    const found = await withCredits(deps.credits, () => findPage(deps, { tenant, kind, ...page }));
    if (build === undefined) rememberPage(tenant, search, found);
    if (!found.ready) return FREE;
    const quoted = issueQuote(deps, found.ready);
    const body = build === undefined ? quoted.quote : { ...quoted.quote, x402: buildOffer(quoted) };
    return { status: 200, headers: HEADERS, body };
  },
  recall: ({ deps, caller: { tenant }, search }) => {
    const found = recallPage(tenant, search);
    if (!found) return null;
    deps.liveness.note(tenant.tenantId, found.host, 'quoted');
    return found.ready ? { status: 200, headers: HEADERS, body: issueQuoteText(deps, found.ready) } : FREE;
  },
};
