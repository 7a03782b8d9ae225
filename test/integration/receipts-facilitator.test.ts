/** Records of what a facilitator has settled: one that sends a transaction, and one that answers with an id of its own. */
import { extractReceiptFromResponse, verifyReceiptSignatureJWS } from '@x402/extensions/offer-receipt';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOfficial } from '../../bench/settling/official.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { fundGas } from '../../sandbox/parts/chain-setup.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import type { TestFacilitator } from '../support/facilitator.ts';
import { playOfficial, startFacilitator } from '../support/facilitator.ts';
import type { ReceiptScript } from '../support/receiptScript.ts';
import { openReceiptScript } from '../support/receiptScript.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

let service: TestService;
let facilitator: TestFacilitator;
let site: TestSite;
let script: ReceiptScript;
beforeAll(async () => {
  facilitator = await startFacilitator();
  service = await startTestService({ apis: 0, worker: false });
  const { rpcUrl, router } = service.chain;
  const settler = { settler: 'facilitator', blockTimeMs: 1_000, nativePriceMicro: '0' };
  const settings = {
    NETWORKS: JSON.stringify([{ id: 'eip155:84532', rpcUrls: [rpcUrl], router, ...settler }]),
    FACILITATOR_URL: facilitator.url,
    FACILITATOR_STATUS_URL: facilitator.statusUrl,
    PUBLIC_BASE_URL: '',
  };
  await Promise.all([service.startApi(settings), service.startWorker(settings)]);
  site = await service.site();
  script = openReceiptScript(rpcUrl);
});
afterAll(async () => {
  script?.close();
  await service?.stop();
  await facilitator?.stop();
});

/** A page bought, what its receipt says once the stock package has verified it, and its record in each form. */
async function buy(slug: string) {
  const quote = await askQuote(service.baseUrl, site.key, slug);
  const payer = await service.payer(10_000n);
  const answer = await sellUntilDecided(service.baseUrl, site.key, quote, await payFor(payer, quote));
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const receipt = extractReceiptFromResponse(answer as unknown as Response);
  if (receipt?.format !== 'jws') throw new Error('there is no receipt');
  const url = `${service.baseUrl}/_svc/receipts/${answer.body.receiptId}`;
  const textOf = async (format: string) => (await fetch(`${url}?format=${format}`)).text();
  const [json, signature, page] = await Promise.all(['json', 'jws', 'html'].map(textOf));
  const signed = await verifyReceiptSignatureJWS({ format: 'jws', signature: signature ?? '' });
  const said = await verifyReceiptSignatureJWS(receipt);
  return { quote, answer, said, url, record: JSON.parse(json ?? ''), signed, page, payer: payer.address.toLowerCase() };
}

test('a payment that a facilitator sent to the chain has the record of any other: its transaction, its log, and a stranger checks it', async () => {
  const signer = generatePrivateKey();
  await fundGas(service.chain.rpcUrl, localSigner(signer).address);
  facilitator.settle = playOfficial(createOfficial(service.chain.rpcUrl, signer));
  const { quote, answer, said, url, record, signed, page, payer } = await buy('solo');
  const transaction = answer.body.settlementRef;
  const told = { resourceUrl: quote.resource, payer, transaction, network: quote.network };
  expect([said, record]).toMatchObject([told, { ...told, amountMicro: quote.price, payTo: quote.payTo.toLowerCase() }]);
  expect(record.transfers).toMatchObject([
    { role: 'payment', transaction, from: payer, to: record.payTo, amountMicro: quote.price, logIndex: expect.any(Number) },
  ]);
  expect([signed, page?.includes(transaction)]).toEqual([record, true]);
  expect(await script.check(url)).toEqual([0, expect.not.stringContaining('NO ')]);
});

test('an id of a facilitator is no transaction: neither receipt nor record calls it one, and the stranger is told that the chain alone proves nothing', async () => {
  facilitator.settle = () => ({ json: { success: true, transaction: 'tr_1', network: 'eip155:84532' } });
  const { payTo: toAddress, price } = await askQuote(service.baseUrl, site.key, 'solo');
  facilitator.status = () => ({ json: { status: 'completed', toAddress, amount: String(price) } });
  const { answer, said, url, record, signed, page, payer, quote } = await buy('solo');
  expect(answer.body.settlementRef).toBe('tr_1');
  expect(said).toEqual({ version: 1, network: quote.network, resourceUrl: quote.resource, payer, issuedAt: expect.any(Number) });
  expect([record, record.transfers]).toMatchObject([{ payer, amountMicro: price, status: 'settled' }, []]);
  expect([Object.keys(record).includes('transaction'), signed]).toEqual([false, record]);
  expect([page?.includes('not told by the rail'), page?.includes('tr_1')]).toEqual([true, false]);
  expect(await script.check(url)).toEqual([1, expect.stringContaining('NO   the record names its transaction')]);
});
