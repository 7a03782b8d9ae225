/**
 * A buyer with the stock x402 client, default settings (USDC only, at most 1 USD a payment).
 * Run it: BUYER_PRIVATE_KEY=0x… npx node examples/buyer/buyer.ts http://127.0.0.1:8404/articles/trio
 */
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

/** Gets a page, paying for it if it has a price. `send` is the fetch to use. */
export async function buyPage(url: string, privateKey: `0x${string}`, send: typeof fetch = fetch) {
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(privateKey)));
  const response = await wrapFetchWithPayment(send, client)(url);
  const settlement = response.headers.get('payment-response');
  return {
    status: response.status,
    page: await response.text(),
    /** What happened on chain: transaction, payer, amount. Null for a free page. */
    settlement: settlement === null ? null : decodePaymentResponseHeader(settlement),
    /** Reads the page again for some minutes: send it as `Authorization: License <licence>`. */
    licence: response.headers.get('x-licence'),
  };
}

if (import.meta.main) {
  const [url = ''] = process.argv.slice(2);
  console.log(await buyPage(url, process.env['BUYER_PRIVATE_KEY'] as `0x${string}`));
}
