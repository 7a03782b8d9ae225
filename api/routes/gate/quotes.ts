import { noteCall } from '../../../modules/gate/use/liveness.ts';
import { CREDITS_PATIENCE_MS } from '../../../modules/quotes/use/credits/book.ts';
import { quoteMany } from '../../../modules/quotes/use/many.ts';
import { holderOfKey } from '../../../platform/pacing/rates.ts';
import type { KeyRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { QuotesBody, QuotesRequest } from '../../schemas/quote.ts';
import { SiteVersionHeaders } from '../../schemas/shared.ts';
import { jsonResponse, keyErrors, siteVersion } from '../responses.ts';

/** POST /_svc/quotes: what up to 100 pages cost one agent, in their order; each page counts as a call. */
export const quotesRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/quotes',
  access: { scope: 'tenant.read', freshness: 'snapshot' },
  bodyLimitBytes: 262_144,
  operation: {
    operationId: 'getQuotes',
    tags: ['Enforce'],
    summary: 'Price many resources at once',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: QuotesRequest } } },
    responses: {
      '200': { ...jsonResponse('One outcome per page, in the order of the request', QuotesBody), headers: SiteVersionHeaders },
      ...keyErrors(),
    },
  },
  handle: async ({ deps, caller, body }) => {
    const { pages, agent: operator = null, category = null, terms = [] } = parseWith(QuotesRequest, body);
    // The call itself is counted already.
    deps.rates?.count(holderOfKey(caller.key), pages.length - 1);
    const { tenant } = caller;
    const asker = { operator, category, terms };
    for (const resource of new Set(pages.map((page) => page.resource))) noteCall(deps.liveness, tenant, resource, 'quoted');
    const requests = pages.map(({ kind = 'read', ...page }) => ({ tenant, kind, ...page, asker }));
    return {
      status: 200,
      headers: { 'cache-control': 'private, no-store', ...siteVersion(tenant) },
      body: { quotes: await quoteMany(deps, requests, CREDITS_PATIENCE_MS) },
    };
  },
};
