import { buyPage } from '../../../services/purchases/page.ts';
import { PaymentError } from '../../../services/settlement/answer/receipt.ts';
import { offerResult, paidResult, paymentsOf } from '../dialects.ts';
import { onePage } from '../inputs.ts';
import { dataResult, defineTool } from '../tool.ts';

/** buy_page: without a payment what must be paid; with one the licence and the receipt. Never charged twice for the same payment. */
export const buyPageTool = defineTool({
  name: 'buy_page',
  title: 'Buy a page',
  description:
    'Buys one page by x402. The first call answers what must be paid; your client signs and calls again. ' +
    'Answers a licence, and how to read the page with it. After an interrupted call, send the same payment again: it is charged once.',
  input: onePage,
  cost: 'heavy',
  pays: true,
  run: async (call, ask) => {
    const { deps, header } = call;
    const ua = header('user-agent');
    try {
      const page = await buyPage(deps, { ...ask, payments: paymentsOf(call), agent: ua === null ? {} : { ua } });
      if (page.kind === 'free') return dataResult({ url: page.url, kind: ask.kind, state: 'free', because: page.because });
      if (page.kind === 'offered') return offerResult(call, page.offer.header);
      const { licenseJws, chargedMicro, settlementRef, receiptId, responseHeader } = page.receipt;
      const result = dataResult({
        ...{ url: page.url, kind: ask.kind, state: 'bought', chargedMicro: Number(chargedMicro), license: licenseJws },
        ...(settlementRef === null ? {} : { settlementRef }),
        ...(receiptId === undefined ? {} : { receipt: `${deps.baseUrl}/_svc/receipts/${receiptId}` }),
        howToRead: { method: 'GET', url: page.url, headers: { authorization: `License ${licenseJws}` } },
      });
      return paidResult(result, responseHeader);
    } catch (error) {
      if (error instanceof PaymentError && error.offer !== null) return offerResult(call, error.offer, error);
      throw error;
    }
  },
});
