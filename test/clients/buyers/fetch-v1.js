import { privateKeyToAccount } from 'viem/accounts';
import { wrapFetchWithPayment } from 'x402-fetch';
import { buyEach, privateKey } from './said.js';

const fetchAndPay = wrapFetchWithPayment(fetch, privateKeyToAccount(privateKey));
await buyEach(async (url) => {
  const answer = await fetchAndPay(url);
  return { status: answer.status, page: await answer.text(), receipt: answer.headers.get('x-payment-response') };
});
