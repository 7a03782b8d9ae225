import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';
import { withPaymentInterceptor } from 'x402-axios';
import { privateKey, say, url } from './said.js';

const answer = await withPaymentInterceptor(axios.create(), privateKeyToAccount(privateKey)).get(url);
say(answer.status, answer.data, answer.headers['x-payment-response']);
