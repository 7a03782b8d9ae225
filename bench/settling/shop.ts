/** A site whose pages are bought through POST /_svc/verify, and the load that buys them. */

import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Network } from '../../platform/chain/network.ts';
import { baseSepoliaNetwork } from '../../platform/chain/presets.ts';
import type { BenchService, BenchSite } from '../harness/service.ts';
import type { Buyer, SignedTransfer } from './buyers.ts';
import { payloadOf, signTransfer } from './buyers.ts';

/** What a quote must say for a payment to be made of it. */
interface Quote {
  readonly price: number;
  readonly payTo: string;
  readonly network: string;
  readonly asset: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: unknown;
  readonly legs: readonly unknown[];
}

/** A site with pages. */
export interface Shop extends BenchSite {
  readonly url: string;
  readonly network: Network;
  readonly slugs: readonly string[];
  readonly authors: readonly Address[];
}

/** The intervals that the service has when nobody sets them, instead of the sandbox's short ones. */
export const PRODUCT_INTERVALS = { EVENT_WINDOW_MS: '300000', SWEEP_INTERVAL_MS: '5000', RECONCILE_INTERVAL_MS: '60000' };

/** The network of a bench's chain, as the service knows it. */
function networkOf(service: BenchService): Network {
  return baseSepoliaNetwork({ rpcUrls: [service.chain.rpcUrl], router: service.chain.router });
}

/**
 * Opens a site with `pages` pages at 0.001 USDC, each of `authorsEach` authors of its own, or of as many as its turn in a list says;
 * `authors` are the first of each. `domain`: what its host's name ends with.
 */
export async function openShop(
  service: BenchService,
  pages: number,
  authorsEach: number | readonly number[] = 1,
  domain = 'example',
): Promise<Shop> {
  const turns = [authorsEach].flat();
  const slugs = Array.from({ length: pages }, (_, page) => `page-${page}`);
  const walletsOf = slugs.map((_, page) =>
    Array.from({ length: turns[page % turns.length] ?? 1 }, (): Address => `0x${randomBytes(20).toString('hex')}`),
  );
  const authors = walletsOf.flatMap(([first]) => first ?? []);
  const credits = slugs.map((slug, page) => {
    const contributors = walletsOf[page]?.map((wallet, at) => ({ authorId: `author-${page}-${at}`, wallet })) ?? [];
    return [slug, { title: slug, contributors }] as const;
  });
  const site = await service.site({
    hosts: [`shop-${randomBytes(4).toString('hex')}.${domain}`],
    pricing: { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: Object.fromEntries(credits) },
  });
  return { ...site, url: service.baseUrl, network: networkOf(service), slugs, authors };
}

/** Bodies of POST /_svc/verify, ready to be sent: every buyer buys every page once, the pages taking turns. */
export async function prepareCalls(
  shop: Shop,
  buyers: readonly Buyer[],
  sign: typeof signTransfer = signTransfer,
): Promise<readonly Buffer[]> {
  const quotes = await Promise.all(shop.slugs.map((slug) => quoteOf(shop, slug)));
  return buyers.flatMap((buyer) => quotes.map((quote) => callOf(shop, sign, buyer, quote)));
}

async function quoteOf(shop: Shop, slug: string): Promise<Quote> {
  const headers = { authorization: `Bearer ${shop.key}` };
  const response = await fetch(`${shop.url}/_svc/quote?slug=${slug}`, { headers });
  if (response.status !== 200) throw new Error(`the quote answers ${response.status}: ${await response.text()}`);
  return (await response.json()) as Quote;
}

function callOf(shop: Shop, sign: typeof signTransfer, buyer: Buyer, quote: Quote): Buffer {
  const signed = sign(shop.network, buyer, quote.payTo.toLowerCase() as Address, BigInt(quote.price));
  const { network, asset, payTo, maxTimeoutSeconds, extra } = quote;
  const accepted = { scheme: 'exact', network, amount: String(quote.price), asset, payTo, maxTimeoutSeconds, extra };
  const payment = paymentOf(accepted, signed);
  return Buffer.from(JSON.stringify({ payment, quote, legs: quote.legs }));
}

/** A payment of version 2 as it is sent, for one entry of an offer. */
export function paymentOf(accepted: object, signed: SignedTransfer): string {
  return Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload: payloadOf(signed) })).toString('base64');
}

/** Sends calls to POST /_svc/verify over kept connections, `parallel` at a time; every answer must be 200. Resolves with ms of each. */
export async function buyAll(shop: Shop, calls: readonly Buffer[], parallel: number): Promise<readonly number[]> {
  const times: number[] = [];
  await callAll(shop, calls, parallel, (answer) => {
    if (answer.status !== 200) throw new Error(`verify answers ${answer.status}: ${answer.text.slice(0, 300)}`);
    times.push(answer.ms);
  });
  return times;
}

/** What verify answered, and after how many milliseconds. */
export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** The same, whatever is answered, until the calls are used up or `signal` is aborted. */
export async function callAll(
  shop: Shop,
  calls: readonly Buffer[],
  parallel: number,
  each: (answer: Answered) => void,
  signal?: AbortSignal,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: parallel });
  let next = 0;
  const goOn = async (): Promise<void> => {
    for (let call = calls[next++]; call && !signal?.aborted; call = calls[next++]) {
      const startedAt = performance.now();
      const { status, text } = await verify(shop, agent, call);
      each({ status, text, ms: performance.now() - startedAt });
    }
  };
  try {
    await Promise.all(Array.from({ length: parallel }, goOn));
  } finally {
    agent.destroy();
  }
}

function verify(shop: Shop, agent: Agent, body: Buffer): Promise<Omit<Answered, 'ms'>> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${shop.key}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const call = request(`${shop.url}/_svc/verify`, { agent, method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }));
    });
    call.once('error', reject);
    call.end(body);
  });
}
