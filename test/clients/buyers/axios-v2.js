import { wrapAxiosWithPayment, x402Client } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';
import { buyEach, privateKey } from './said.js';

const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(privateKey)));
const paying = wrapAxiosWithPayment(axios.create(), client);
await buyEach(async (url) => {
  const answer = await paying.get(url);
  return { status: answer.status, page: answer.data, receipt: answer.headers['payment-response'] };
});
