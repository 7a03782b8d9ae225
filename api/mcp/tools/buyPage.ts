import { microToJson } from '../../../modules/kernel/money/money.ts';
import { recordUrl } from '../../../modules/kernel/receipt.ts';
import { PaymentError } from '../../../modules/settlement/use/answer/receipt.ts';
import type { BoughtPage } from '../../../modules/storefront/use/pages/page.ts';
import { buyPage } from '../../../modules/storefront/use/pages/page.ts';
import { offerResult, paidResult, paymentsOf } from '../dialects.ts';
import { onePage } from '../inputs.ts';
import { unpricedBody } from '../quoted.ts';
import { pageResult, relayedResult } from '../read.ts';
import { defineTool } from '../tool.ts';

/** buy_page: without a payment what must be paid; with one the licence, the receipt and the page. Never charged twice for the same payment. */
export const buyPageTool = defineTool({
  name: 'buy_page',
  title: 'Buy a page',
  description:
    'Buys one page by x402. The first call answers what must be paid; your client signs and calls again. ' +
    'Answers a licence, the receipt (`jws`, for check_receipt), its public `record`, and the text of the page where its site allows that, or how to read it. ' +
    'After an interrupted call, send the same payment again: it is charged once.',
  input: onePage,
  cost: 'heavy',
  pays: true,
  run: async (call, ask) => {
    const { deps, header, who, address } = call;
    const { kind } = ask;
    const ua = header('user-agent');
    const by = who.kind === 'account' ? { accountId: who.account.accountId } : {};
    try {
      const page = await buyPage(deps, { ...ask, ...by, address, payments: paymentsOf(call), agent: ua === null ? {} : { ua } });
      const { url } = page;
      if (page.kind === 'offered') return offerResult(call, page.offer.header);
      if (page.kind === 'free') return pageResult(call, unpricedBody(page, kind), page.page);
      if (page.kind === 'held') return relayedResult(call, { url, kind, state: 'held', license: page.license }, page.relay);
      return paidResult(
        relayedResult(call, { url, kind, ...boughtBody(page, deps.baseUrl) }, page.relay),
        page.receipt.responseHeader,
      );
    } catch (error) {
      if (error instanceof PaymentError && error.offer !== null) return offerResult(call, error.offer, error);
      throw error;
    }
  },
});

function boughtBody({ receipt }: BoughtPage, baseUrl: string) {
  const { licenseJws, chargedMicro, settlementRef, receiptId, receiptJws } = receipt;
  return {
    state: 'bought',
    chargedMicro: microToJson(chargedMicro),
    license: licenseJws,
    ...(settlementRef === null ? {} : { settlementRef }),
    ...(receiptJws === undefined ? {} : { jws: receiptJws }),
    ...(receiptId === undefined ? {} : { record: recordUrl(baseUrl, receiptId) }),
  };
}
