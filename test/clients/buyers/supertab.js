import { SupertabConnect } from '@getsupertab/supertab-connect-sdk';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { buyEach, privateKey } from './said.js';

const { OLP_CLIENT_ID: clientId, OLP_CLIENT_SECRET: clientSecret, SITE_ORIGIN, SITE_AT } = process.env;
const send = globalThis.fetch;
const isAtSite = (url) => url === SITE_ORIGIN || url.startsWith(`${SITE_ORIGIN}/`);
/** Finds the site where the test has it; every other request goes out as it is. */
const sendAtSite = (input, init) => {
  const request = new Request(input, init);
  return send(isAtSite(request.url) ? new Request(request.url.replace(SITE_ORIGIN, SITE_AT), request) : request);
};

// The client knows nothing of payments: it asks by the fetch of its process, which pays what a 402 offers.
const client = new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(privateKey)));
globalThis.fetch = wrapFetchWithPayment(sendAtSite, client);

await buyEach(async (resourceUrl) => {
  const token = await SupertabConnect.obtainLicenseToken({ clientId, clientSecret, resourceUrl, usage: 'ai-input' });
  const headers = { 'user-agent': 'GPTBot/1.3', ...(token === undefined ? {} : { authorization: `License ${token}` }) };
  const answer = await sendAtSite(resourceUrl, { headers });
  return { status: answer.status, page: await answer.text(), receipt: token ?? null };
});
