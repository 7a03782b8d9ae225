import { noteCall } from '../../../modules/gate/use/liveness.ts';
import { declareAtPage } from '../../../modules/identity/use/accounts/declare.ts';
import type { FreeBecause } from '../../../modules/pricing/rules/pricing.ts';
import { CREDITS_PATIENCE_MS, withCredits } from '../../../modules/quotes/use/credits/book.ts';
import type { FoundPage } from '../../../modules/quotes/use/issue.ts';
import { agentRefused, findPage, issueQuote, issueQuoteText } from '../../../modules/quotes/use/issue.ts';
import { rememberedPage, rememberPage } from '../../../modules/quotes/use/memory.ts';
import { buildPageOffer } from '../../../modules/quotes/use/offers/page.ts';
import { signOffers } from '../../../modules/receipts/use/offers.ts';
import type { Answer, KeyRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ChangesHeaders, FreeHeaders, QuoteBody, QuoteQuery } from '../../schemas/quote.ts';
import { jsonResponse, keyErrors, siteVersion } from '../responses.ts';

const HEADERS = { 'cache-control': 'private, no-store' };
/** Made once a reason: every answer about a free page is one of these. */
const FREE: Readonly<Record<FreeBecause, Answer>> = {
  no_credits: free('no_credits'),
  free_slug: free('free_slug'),
  out_of_scope: free('out_of_scope'),
  no_price: free('no_price'),
  free_rule: free('free_rule'),
};

/** What an answer hangs on: its page, the version of its site, and now. */
interface Standing {
  readonly page: Pick<FoundPage, 'untilMs'>;
  readonly tenant: { readonly version: number };
  readonly nowMs: number;
}

/**
 * An answer that says in how many milliseconds a rule begins or ends by which it may be another one (gates keep it no longer), and the
 * version of the site, by which gates know that there are newer settings.
 */
function lasting(answer: Answer, { page: { untilMs }, tenant, nowMs }: Standing): Answer {
  const headers = { ...answer.headers, ...siteVersion(tenant) };
  if (untilMs === null) return { ...answer, headers };
  return { ...answer, headers: { ...headers, 'x-svc-changes-in': String(Math.max(0, untilMs - nowMs)) } };
}

function free(because: FreeBecause): Answer {
  return { status: 204, headers: { ...HEADERS, 'x-svc-free-because': because } };
}

/** GET /_svc/quote: what a page costs now; 204, and why, when it is free. Reads no database, unless authors stand behind a credits API. */
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
      '200': { ...jsonResponse('The price and who gets it', QuoteBody), headers: ChangesHeaders },
      '204': { description: 'Free: no toll', headers: FreeHeaders },
      ...keyErrors(),
    },
  },
  handle: async ({ deps, caller: { tenant }, query, search }) => {
    const {
      build,
      error,
      signIn,
      sign,
      kind = 'read',
      ...given
    } = parseWith(QuoteQuery, Object.fromEntries(query), 'invalid_parameter');
    const { agent: operator = null, category = null, terms = [], ...asked } = given;
    noteCall(deps.liveness, tenant, asked.resource, 'quoted');
    const request = { tenant, kind, ...asked, asker: { operator, category, terms } };
    const page = await withCredits(deps.credits, () => findPage(deps, request), CREDITS_PATIENCE_MS);
    if (build === undefined) rememberPage(tenant, search, page);
    const { found } = page;
    const nowMs = deps.clock();
    if (found === 'refused') throw agentRefused(page.untilMs === null ? null : page.untilMs - nowMs);
    if (typeof found === 'string') return lasting(FREE[found], { page, tenant, nowMs });
    const quoted = issueQuote(deps, found);
    if (build === undefined) return lasting({ status: 200, headers: HEADERS, body: quoted.quote }, { page, tenant, nowMs });
    const signed = sign && (await signOffers({ ...deps, signer: deps.keyring }, quoted, sign === 'host' ? 'host' : 'service'));
    const extensions = {
      // First in the header, which has room for one of the two: every gate asks for a sign-in, and a site's owner for signatures.
      ...(signed ? { 'offer-receipt': signed } : {}),
      ...(signIn === undefined ? {} : { 'sign-in-with-x': declareAtPage(deps, quoted) }),
    };
    const x402 = buildPageOffer(deps, quoted, { ...(error === undefined ? {} : { error }), extensions });
    return lasting({ status: 200, headers: HEADERS, body: { ...quoted.quote, x402 } }, { page, tenant, nowMs });
  },
  cached: ({ deps, caller: { tenant }, search }) => {
    const nowMs = deps.clock();
    const page = rememberedPage(tenant, search, nowMs);
    if (!page || page.found === 'refused') return null;
    deps.liveness.note(tenant.tenantId, page.host, 'quoted');
    const { found } = page;
    const answer = typeof found === 'string' ? FREE[found] : { status: 200, headers: HEADERS, body: issueQuoteText(deps, found) };
    return lasting(answer, { page, tenant, nowMs });
  },
};
