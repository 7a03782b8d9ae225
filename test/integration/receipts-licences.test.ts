/** Records of licence purchases and of payments that moved nothing, over the wire: against the offer, the chain, and who has paid. */
import { extractReceiptFromResponse, verifyReceiptSignatureJWS } from '@x402/extensions/offer-receipt';
import { createPublicClient, http, parseAbi, parseEventLogs } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccountClient } from '../../modules/identity/use/accounts/clients.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { askQuote, payFor, sell } from '../support/buying.ts';
import type { BuyerAnswer } from '../support/licences.ts';
import { call, signInWith, stockFetch } from '../support/licences.ts';
import { cutContents, tokenForm } from '../support/olp.ts';
import type { ReceiptScript } from '../support/receiptScript.ts';
import { openReceiptScript } from '../support/receiptScript.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';
import { base64Of, payloadFor } from '../support/verify.ts';

let service: TestService;
let site: TestSite;
let script: ReceiptScript;
beforeAll(async () => {
  // The address listened on is its own: the did document is fetched there.
  service = await startTestService({ environment: { ...CALM, PUBLIC_BASE_URL: '' } });
  site = await service.site();
  script = openReceiptScript(service.chain.rpcUrl);
});
afterAll(async () => {
  script?.close();
  await service?.stop();
});

const at = (path: string): string => `${service.baseUrl}/_svc${path}`;
const record = (id: string, format = 'json') => fetch(at(`/receipts/${id}?format=${format}`));
const wanted = (scope: string) => ({ host: site.host, scope: [scope], terms: ['ai-input'], periodDays: 30, kind: 'read' });

/** What the receipt of an answer says, once the stock package has verified it. */
async function receiptIn(answer: { readonly headers: Headers }) {
  const receipt = extractReceiptFromResponse(answer as Response);
  if (receipt?.format !== 'jws') throw new Error('there is no receipt');
  const header = JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString());
  return { said: await verifyReceiptSignatureJWS(receipt), url: header.extensions['offer-receipt'].info.record as string };
}

function offerIn(answer: { readonly headers: Headers }) {
  return JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString());
}

/** The transfers of a token in a transaction, as a node tells them. */
async function transfersOnChain(hash: `0x${string}`, asset: string) {
  const client = createPublicClient({ transport: http(service.chain.rpcUrl) });
  const { logs } = await client.getTransactionReceipt({ hash });
  const abi = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);
  return parseEventLogs({ abi, logs })
    .filter(({ address }) => address.toLowerCase() === asset.toLowerCase())
    .map(({ logIndex, blockNumber, blockHash, args }) => ({
      logIndex,
      blockNumber: Number(blockNumber),
      blockHash,
      transaction: hash,
      from: args.from.toLowerCase(),
      to: args.to.toLowerCase(),
      amountMicro: Number(args.value),
    }));
}

test('the record of a licence names what its offer named, its scope, period and legs, and the logs that a node tells', async () => {
  const wallet = await service.payer(1_000_000n);
  const { token, accountId } = await signInWith(service.baseUrl, wallet);
  const offer = await call(at('/licenses'), { token, body: wanted('/articles/*') });
  const bought = await call(at('/licenses'), { token, body: wanted('/articles/*'), send: stockFetch(wallet) });
  const { said, url } = await receiptIn(bought);
  const { resource, accepts } = offerIn(offer);
  expect(said).toMatchObject({ resourceUrl: resource.url, payer: wallet.address.toLowerCase(), network: accepts[0].network });
  expect([resource.url, url]).toEqual([at('/licenses'), at(`/receipts/${bought.body.jti}`)]);

  const body = await (await record(bought.body.jti)).json();
  expect(body).toMatchObject({
    resourceUrl: resource.url,
    transaction: said.transaction,
    payer: said.payer,
    sells: 'licence',
    host: site.host,
    url,
    amountMicro: 3_000,
    payTo: accepts[0].payTo.toLowerCase(),
    body: null,
  });
  const legs = offer.body.licence.legs.map((leg: { toAddress: string; amountMicro: number }) => ({
    toAddress: leg.toAddress.toLowerCase(),
    amountMicro: leg.amountMicro,
  }));
  expect(body.legs).toEqual(legs);
  const { period } = offer.body.licence;
  expect(JSON.parse(body.terms.document)).toMatchObject({
    sells: 'licence',
    patterns: ['/articles/*'],
    terms: ['ai-input'],
    legs,
    from: new Date(period.from).toISOString(),
    until: new Date(period.until).toISOString(),
  });
  const told = body.transfers.map(({ role, blockTime, ...transfer }: Record<string, unknown>) => transfer);
  expect(told).toEqual(await transfersOnChain(body.transaction, body.asset));
  expect(body.transfers.map(({ role }: { role: string }) => role)).toEqual(['payment', ...legs.map(() => 'payout')]);
  expect(JSON.stringify(body)).not.toContain(accountId);

  const signature = await (await record(bought.body.jti, 'jws')).text();
  expect(await verifyReceiptSignatureJWS({ format: 'jws', signature })).toEqual(body);
  const page = await (await record(bought.body.jti, 'html')).text();
  for (const shown of [
    'A licence (read)',
    site.host,
    resource.url,
    body.transaction,
    ...legs.map((leg: { toAddress: string }) => leg.toAddress),
  ]) {
    expect(page).toContain(shown);
  }
  expect(await script.check(url)).toEqual([0, expect.not.stringContaining('NO ')]);
});

test('a licence bought where its token is asked for has the same record', async () => {
  const wallet = await service.payer(1_000_000n);
  const { accountId } = await signInWith(service.baseUrl, wallet);
  const deps = { database: service.database, pepper: pepperOf(service.secrets) };
  const { clientId, clientSecret } = await createAccountClient(deps, { accountId });
  const document = await (await fetch(at(`/discovery/${site.host}/license.xml`))).text();
  const sold = cutContents(document).find(({ server }) => server !== null);
  if (!sold) throw new Error('the document sells nothing');
  const ask = (send: typeof fetch) =>
    send(`${sold.server}/token`, {
      method: 'POST',
      body: tokenForm(sold).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
      },
    });
  const { resource } = offerIn(await ask(fetch));
  const { said, url } = await receiptIn(await ask(stockFetch(wallet)));
  const body = await (await fetch(url)).json();
  expect([said.resourceUrl, body.resourceUrl, body.sells]).toEqual([resource.url, resource.url, 'licence']);
  expect(body).toMatchObject({ payer: wallet.address.toLowerCase(), transaction: said.transaction });
});

test('a page paid for again while its licence lives has no record of its own: its licence’s id leads to that of the payment', async () => {
  const quote = await askQuote(service.baseUrl, site.key, 'trio');
  const payer = await service.payer(10_000n);
  const payment = await payFor(payer, quote);
  const first = await sell(service.baseUrl, site.key, quote, payment);
  const same = await sell(service.baseUrl, site.key, quote, payment);
  const anew = await sell(service.baseUrl, site.key, quote, await payFor(payer, quote));
  const idOf = ({ body }: typeof first) =>
    JSON.parse(Buffer.from(body.licenseJws.split('.')[1], 'base64url').toString()).jti as string;
  expect([idOf(same), same.body.receiptId]).toEqual([idOf(first), first.body.receiptId]);
  expect([anew.body.receiptId, idOf(anew) === idOf(first)]).toEqual([first.body.receiptId, false]);
  const { said, url } = await receiptIn(anew);
  expect([url, said.transaction]).toEqual([at(`/receipts/${idOf(first)}`), first.body.settlementRef]);

  for (const format of ['json', 'html']) {
    const [own, of] = [await record(idOf(anew), format), await record(idOf(first), format)];
    expect([own.status, await own.text(), own.headers.get('etag')]).toEqual([200, await of.text(), of.headers.get('etag')]);
  }
  await service.database.query('update tenant set receipts_public = false where tenant_id = $1', [site.tenantId]);
  expect((await record(idOf(anew))).status).toBe(404);
  await service.database.query('update tenant set receipts_public = true where tenant_id = $1', [site.tenantId]);
});

test('a second wallet of an account that pays for what is held is told who has paid, and nothing moves', async () => {
  const [wallet, other] = [await service.payer(1_000_000n), await service.payer(1_000_000n)];
  const { token } = await signInWith(service.baseUrl, wallet);
  const body = wanted('/articles/solo$');
  const offer = await call(at('/licenses'), { token, body });
  const [accepted] = offerIn(offer).accepts;
  const pay = async (payer: typeof wallet): Promise<BuyerAnswer> => {
    const payment = await payloadFor(service, { ...accepted, price: Number(accepted.amount) }, payer);
    return call(at('/licenses'), { token, body, headers: { 'payment-signature': base64Of(payment) } });
  };
  const [first, second] = [await pay(wallet), await pay(other)];
  const [own, repeated] = [await receiptIn(first), await receiptIn(second)];
  expect([second.status, second.body.jti]).toEqual([200, first.body.jti]);
  expect(repeated).toMatchObject({
    url: own.url,
    said: { payer: wallet.address.toLowerCase(), transaction: own.said.transaction },
  });
});
