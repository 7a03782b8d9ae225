import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { buyEach, privateKey } from './said.js';

const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(privateKey)));
const fetchAndPay = wrapFetchWithPayment(fetch, client);
await buyEach(async (url) => {
  const answer = await fetchAndPay(url);
  return { status: answer.status, page: await answer.text(), receipt: answer.headers.get('payment-response') };
});
