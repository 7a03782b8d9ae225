import { privateKeyToAccount } from 'viem/accounts';
import { wrapFetchWithPayment } from 'x402-fetch';
import { privateKey, say, url } from './said.js';

const answer = await wrapFetchWithPayment(fetch, privateKeyToAccount(privateKey))(url);
say(answer.status, await answer.text(), answer.headers.get('x-payment-response'));
