import { wrapAxiosWithPayment, x402Client } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';
import { privateKey, say, url } from './said.js';

const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(privateKey)));
const answer = await wrapAxiosWithPayment(axios.create(), client).get(url);
say(answer.status, answer.data, answer.headers['payment-response']);
