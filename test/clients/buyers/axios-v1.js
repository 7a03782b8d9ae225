import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';
import { withPaymentInterceptor } from 'x402-axios';
import { buyEach, privateKey } from './said.js';

const paying = withPaymentInterceptor(axios.create(), privateKeyToAccount(privateKey));
await buyEach(async (url) => {
  const answer = await paying.get(url);
  return { status: answer.status, page: answer.data, receipt: answer.headers['x-payment-response'] };
});
