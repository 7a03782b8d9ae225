import { findHeldUntil } from '../../../modules/storefront/use/pages/held.ts';
import { offerPage } from '../../../modules/storefront/use/pages/page.ts';
import { onePage } from '../inputs.ts';
import { quotedBody, unpricedBody } from '../quoted.ts';
import { dataResult, defineTool } from '../tool.ts';

/** quote_page: what one page costs now and who gets it; moves nothing. */
export const quotePageTool = defineTool({
  name: 'quote_page',
  title: 'What a page costs',
  description:
    'The price of one page in micro-USDC, who gets it, about how many `tokens` its text has where that is known, and until when the price holds; or that you hold it, for read_held. Free of charge.',
  input: onePage,
  cost: 'light',
  run: async ({ deps, who, address }, ask) => {
    const { url, kind } = ask;
    const heldUntil =
      who.kind === 'account' ? await findHeldUntil(deps, { url, kind, accountId: who.account.accountId, address }) : null;
    if (heldUntil !== null) return dataResult({ url, kind, state: 'held', expiresAt: heldUntil });
    const page = await offerPage(deps, { ...ask, address });
    if (page.kind === 'free') return dataResult(unpricedBody(page, kind));
    return dataResult(quotedBody(page.quoted.quote, deps.baseUrl));
  },
});
