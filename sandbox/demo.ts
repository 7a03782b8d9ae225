import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { privateKeyToAddress } from 'viem/accounts';
import type { Database } from '../db/database.ts';
import { buyPage } from '../examples/buyer/buyer.ts';
import type { Address } from '../modules/kernel/money/legs.ts';
import type { Hex } from '../modules/kernel/x402/payload.ts';
import { findByAuthorization } from '../modules/settlement/store/intake.ts';
import { newPrivateKey } from '../process/serviceSecrets.ts';
import { balanceOf } from './balances.ts';
import type { PreparedChain } from './parts/chain-setup.ts';
import { mintUsdc } from './parts/chain-setup.ts';
import type { Printer } from './print.ts';
import { addressText, changeText, shortened, usdcText } from './print.ts';
import type { SeededSite } from './seed.ts';
import type { Sink, SunkDelivery } from './sink.ts';
import { SANDBOX_NETWORK } from './unit.ts';

/** What the demo purchase runs on. */
export interface DemoDeps {
  readonly baseUrl: string;
  readonly site: SeededSite;
  /** Where the example publisher of that site listens. */
  readonly publisherUrl: string;
  readonly chain: PreparedChain & { readonly rpcUrl: string };
  readonly database: Database;
  readonly sink: Sink;
  readonly webhookSecret: string;
  readonly printer: Printer;
}

/** The members of a quote the demo shows. */
interface ShownQuote {
  readonly price: number;
  readonly payTo: Address;
  readonly resource: string;
  readonly legs: readonly {
    readonly toAddress: Address;
    readonly amountMicro: number;
    readonly role: string;
    readonly authorId?: string;
  }[];
}

const WALLET_MICRO = 1_000_000n;
const WEBHOOK_LIMIT_MS = 30_000;

/**
 * Plays one purchase from quote to webhook on screen: a page by three authors, paid by a wallet made for this run with the
 * stock x402 client. Throws an `Error` that names the step whose outcome is not what it must be.
 */
export async function playPurchase(deps: DemoDeps): Promise<void> {
  const { printer, chain } = deps;
  const quote = await showQuote(deps);

  printer.step('A new wallet with test USDC, and what everybody has before');
  const privateKey = newPrivateKey();
  const payer = privateKeyToAddress(privateKey);
  await mintUsdc(chain.rpcUrl, payer.toLowerCase() as Address, WALLET_MICRO);
  const parties = [payer, ...quote.legs.map(({ toAddress }) => toAddress)].map((address) => address.toLowerCase() as Address);
  const before = await Promise.all(parties.map((address) => balanceOf(chain, address)));
  for (const [index, address] of parties.entries()) {
    printer.fact(index === 0 ? 'payer' : 'author', `${addressText(address)} has ${usdcText(before[index] ?? 0n)}`);
  }

  const { txHash, licence, nonce } = await showPayment(deps, quote, privateKey);
  await showBalances(deps, quote, parties, before);
  await showLicence(deps, quote, licence);
  await showWebhook(deps, txHash);
  await showWorkflow(deps, payer.toLowerCase() as Address, nonce);
}

async function showQuote({ baseUrl, site, printer }: DemoDeps): Promise<ShownQuote> {
  printer.step('The publisher asks what the page costs: GET /_svc/quote?slug=trio');
  const response = await fetch(`${baseUrl}/_svc/quote?slug=trio`, { headers: { authorization: `Bearer ${site.keys['all']}` } });
  expectThat(response.status === 200, `the quote answers ${response.status}: ${await response.clone().text()}`);
  const quote = (await response.json()) as ShownQuote;
  printer.fact('resource', quote.resource);
  printer.fact('price', usdcText(BigInt(quote.price)));
  printer.fact('payTo', `${addressText(quote.payTo)}, which can pay nobody but these ${quote.legs.length}:`);
  for (const leg of quote.legs)
    printer.fact('leg', `${addressText(leg.toAddress)} gets ${usdcText(BigInt(leg.amountMicro))}, ${leg.role} ${leg.authorId}`);
  return quote;
}

async function showPayment({ publisherUrl, chain, printer }: DemoDeps, quote: ShownQuote, privateKey: Hex) {
  const url = `${publisherUrl}/articles/trio`;
  printer.step('The buyer gets the page with the stock x402 client');
  printer.fact('page', url);
  let nonce: Hex | null = null;
  const send: typeof fetch = async (input, init) => {
    const payment = new Request(input, init).headers.get('payment-signature');
    if (payment !== null) {
      const { authorization } = JSON.parse(Buffer.from(payment, 'base64').toString('utf8')).payload;
      nonce = authorization.nonce;
      printer.fact('signed', `${usdcText(BigInt(authorization.value))} to ${addressText(authorization.to)}`);
    }
    const response = await fetch(input, init);
    printer.fact(payment === null ? 'asked' : 'asked, paying', `the publisher answers ${response.status}`);
    return response;
  };
  const begun = performance.now();
  const bought = await buyPage(url, privateKey, send);
  const took = Math.round(performance.now() - begun);
  const { settlement, licence } = bought;
  expectThat(bought.status === 200, `the publisher answers ${bought.status}: ${bought.page}`);
  expectThat(settlement?.success === true && licence !== null && nonce !== null, 'the answer lacks settlement or licence');
  const txHash = settlement?.transaction as Hex;
  printer.fact('read', bought.page);
  printer.fact('took', `${took} ms, from first request to page`);
  printer.fact('transaction', `${shortened(txHash)} on ${settlement?.network}`);
  printer.fact('split', `${addressText(quote.payTo)} keeps ${usdcText(await balanceOf(chain, quote.payTo))}`);
  return { txHash, licence: licence as string, nonce: nonce as unknown as Hex };
}

async function showBalances(
  { chain, printer }: DemoDeps,
  quote: ShownQuote,
  parties: readonly Address[],
  before: readonly bigint[],
) {
  printer.step('What everybody has after');
  const expected = [-BigInt(quote.price), ...quote.legs.map(({ amountMicro }) => BigInt(amountMicro))];
  for (const [index, address] of parties.entries()) {
    const after = await balanceOf(chain, address);
    const change = after - (before[index] ?? 0n);
    const name = index === 0 ? 'payer' : 'author';
    printer.fact(name, `${addressText(address)} has ${usdcText(after)}, ${changeText(change)}`);
    expectThat(change === expected[index], `the ${name} ${address} should have changed by ${expected[index]} micro`);
  }
  const left = await balanceOf(chain, chain.router);
  printer.fact('router', `${addressText(chain.router)} holds ${usdcText(left)}`);
  expectThat(left === 0n, 'the router holds money');
}

async function showLicence({ baseUrl, site, publisherUrl, printer }: DemoDeps, quote: ShownQuote, licence: string) {
  printer.step('The re-read licence, a JWS');
  const { iss, aud, sub, exp = 0 } = decodeJwt(licence);
  printer.fact('issuer', String(iss));
  printer.fact('audience', `${String(aud)}, of the page trio`);
  printer.fact('reader', shortenedIn(String(sub)));
  printer.fact('ends', new Date(exp * 1_000).toISOString());
  const headers = { authorization: `Bearer ${site.keys['all']}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ license: licence, resource: quote.resource, slug: 'trio' });
  const checked = await fetch(`${baseUrl}/_svc/license/check`, { method: 'POST', headers, body });
  const answer = await checked.text();
  printer.fact('check', `POST /_svc/license/check answers ${checked.status} ${answer}`);
  expectThat(checked.status === 200 && JSON.parse(answer).entitled === true, 'the licence does not entitle');
  const again = await fetch(`${publisherUrl}/articles/trio`, { headers: { authorization: `License ${licence}` } });
  printer.fact('read again', `with the licence, without paying: the publisher answers ${again.status}`);
  expectThat(again.status === 200, 'the page cannot be read again');
}

async function showWebhook({ sink, webhookSecret, printer }: DemoDeps, txHash: Hex): Promise<void> {
  printer.step('The webhook');
  const deadline = performance.now() + WEBHOOK_LIMIT_MS;
  let delivery: SunkDelivery | undefined;
  while (delivery === undefined) {
    delivery = sink.deliveries.find(({ body }) => body.includes(txHash));
    if (delivery === undefined && performance.now() > deadline) throw new Error(`no webhook about ${txHash} came within 30 s`);
    if (delivery === undefined) await sleep(50);
  }
  const envelope = JSON.parse(delivery.body);
  printer.fact('event', `${envelope.type} ${envelope.eventId}`);
  printer.fact('delivery', envelope.id);
  printer.fact('gross', usdcText(BigInt(envelope.data.gross.microUsdc)));
  printer.fact('references', envelope.data.settlementRefs.map(shortened).join(', '));
  const isValid = isSigned(webhookSecret, String(delivery.headers['svc-signature']), delivery.body);
  printer.fact('signature', isValid ? 'is that of the endpoint’s secret' : 'is wrong');
  expectThat(isValid, 'the signature of the webhook is wrong');
}

/** As a receiver checks it. */
function isSigned(secret: string, header: string, body: string): boolean {
  const [, time = '', hex = ''] = /^t=(\d+),v1=([0-9a-f]{64})/.exec(header) ?? [];
  const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  return hex !== '' && timingSafeEqual(Buffer.from(hex, 'hex'), expected);
}

async function showWorkflow({ database, chain, printer }: DemoDeps, payer: Address, nonce: Hex): Promise<void> {
  printer.step('The payment’s workflow');
  const payment = await findByAuthorization(database, { network: SANDBOX_NETWORK, asset: chain.usdc, payer, nonce });
  expectThat(payment !== null && payment.facts.batchId !== null, 'the payment has no batch');
  const workflowId = `settle:${SANDBOX_NETWORK}:${payment?.facts.batchId}`;
  printer.fact('payment', `${payment?.paymentId}, ${payment?.facts.state}`);
  printer.fact('workflow', workflowId);
}

/** The same text, with its address shortened. */
function shortenedIn(text: string): string {
  return text.replace(/0x[0-9a-f]{40}/i, shortened);
}

function expectThat(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`the purchase went wrong: ${sentence}`);
}
