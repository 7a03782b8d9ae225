import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { privateKey, say, url } from './said.js';

const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(privateKey)));
const answer = await wrapFetchWithPayment(fetch, client)(url);
say(answer.status, await answer.text(), answer.headers.get('payment-response'));
