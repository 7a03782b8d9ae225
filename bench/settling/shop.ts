/** A site whose pages are bought through POST /_svc/verify, and the load that buys them. */

import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Network } from '../../chain/network.ts';
import { baseSepoliaNetwork } from '../../chain/network.ts';
import type { Address } from '../../domain/legs.ts';
import type { BenchService, BenchSite } from '../harness/service.ts';
import type { Buyer } from './buyers.ts';
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

/** A site with pages of one author each. */
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

/** Opens a site with `pages` pages at 0.001 USDC, each of an author of its own. */
export async function openShop(service: BenchService, pages: number): Promise<Shop> {
  const slugs = Array.from({ length: pages }, (_, page) => `page-${page}`);
  const authors = slugs.map((): Address => `0x${randomBytes(20).toString('hex')}`);
  const credits = slugs.map((slug, page) => {
    const contributors = [{ authorId: `author-${page}`, wallet: authors[page] as string }];
    return [slug, { title: slug, contributors }] as const;
  });
  const site = await service.site({
    hosts: [`shop-${randomBytes(4).toString('hex')}.example`],
    pricing: { priceUsdc: '0.001', articlePrefixes: ['/articles/'], creditsInline: Object.fromEntries(credits) },
  });
  return { ...site, url: service.baseUrl, network: networkOf(service), slugs, authors };
}

/** Bodies of POST /_svc/verify, ready to be sent: every buyer buys every page once, the pages taking turns. */
export async function prepareCalls(shop: Shop, buyers: readonly Buyer[]): Promise<readonly Buffer[]> {
  const quotes = await Promise.all(shop.slugs.map((slug) => quoteOf(shop, slug)));
  return buyers.flatMap((buyer) => quotes.map((quote) => callOf(shop, buyer, quote)));
}

async function quoteOf(shop: Shop, slug: string): Promise<Quote> {
  const headers = { authorization: `Bearer ${shop.key}` };
  const response = await fetch(`${shop.url}/_svc/quote?slug=${slug}`, { headers });
  if (response.status !== 200) throw new Error(`the quote answers ${response.status}: ${await response.text()}`);
  return (await response.json()) as Quote;
}

function callOf(shop: Shop, buyer: Buyer, quote: Quote): Buffer {
  const signed = signTransfer(shop.network, buyer, quote.payTo.toLowerCase() as Address, BigInt(quote.price));
  const { network, asset, payTo, maxTimeoutSeconds, extra } = quote;
  const accepted = { scheme: 'exact', network, amount: String(quote.price), asset, payTo, maxTimeoutSeconds, extra };
  const payment = Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload: payloadOf(signed) })).toString('base64');
  return Buffer.from(JSON.stringify({ payment, quote, legs: quote.legs }));
}

/** Sends calls to POST /_svc/verify over kept connections, `parallel` at a time; every answer must be 200. Resolves with ms of each. */
export async function buyAll(shop: Shop, calls: readonly Buffer[], parallel: number): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: parallel });
  const times: number[] = [];
  let next = 0;
  const buyOn = async (): Promise<void> => {
    for (;;) {
      const call = calls[next++];
      if (!call) return;
      const startedAt = performance.now();
      await buy(shop, agent, call);
      times.push(performance.now() - startedAt);
    }
  };
  try {
    await Promise.all(Array.from({ length: parallel }, buyOn));
  } finally {
    agent.destroy();
  }
  return times;
}

function buy(shop: Shop, agent: Agent, body: Buffer): Promise<void> {
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
      response.once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`verify answers ${response.statusCode}: ${Buffer.concat(chunks).toString('utf8').slice(0, 300)}`));
      });
    });
    call.once('error', reject);
    call.end(body);
  });
}
