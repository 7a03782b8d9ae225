/**
 * A neighbour's quotes and honest purchases over MCP while three addresses send junk there: payments that nobody signed, signed ones of wallets without money,
 * pages that nobody sells, bodies that are none, and whatever else costs a caller nothing to send.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gateOffer } from '../test/support/gateOffer.ts';
import type { Attack } from './harness/attacker.ts';
import type { Bench } from './harness/bench.ts';
import type { HttpRequest } from './harness/http.ts';
import { PRODUCT_RATES, startBenchService } from './harness/service.ts';
import { CONNECTIONS, measureBeside, quoteOf } from './hostile.ts';
import { mcpMessage } from './mcp.ts';
import type { Buyer, SignedTransfer } from './settling/buyers.ts';
import { fundBuyers, newBuyer, signTransfer } from './settling/buyers.ts';
import type { Shop } from './settling/shop.ts';
import { openShop, PRODUCT_INTERVALS, paymentOf, prepareCalls } from './settling/shop.ts';

/** Addresses of documentation (RFC 5737), as the proxy in front names them. */
const HOSTILE = ['192.0.2.1', '198.51.100.1', '203.0.113.1'];
const HONEST = '203.0.113.77';
const PAGES = 40;
/** Payments of a kind that each address sends in turns. */
const PAYMENTS = 40;
const MOST_BODY_BYTES = 65_536;

/** Figures of junk over MCP. */
export const hostileMcpBench: Bench = {
  id: 'hostile-mcp',
  title: 'A site, and buyers over MCP, beside three addresses that send junk there',
  run: async (options) => {
    const web = await openWeb();
    const service = await startBenchService({
      workers: 1,
      environment: {
        ...PRODUCT_INTERVALS,
        ...PRODUCT_RATES,
        OUTBOUND_SANDBOX_WEB: web.url,
        TRUSTED_PROXIES: '127.0.0.1/32',
      },
    });
    try {
      const sales = options.quick ? 3 : 15;
      const [quiet, shop] = [await openShop(service, 1), await openShop(service, PAGES, 1, 'sandbox.example')];
      const buyers = await fundBuyers(service.chain.rpcUrl, sales);
      let page = 0;
      const sell = async (): Promise<readonly number[]> => {
        const times: number[] = [];
        for (const buyer of buyers)
          times.push(await buyOver(shop, `https://${shop.host}/articles/page-${page++ % PAGES}`, buyer));
        return times;
      };
      const scene = { quote: quoteOf(quiet), sell, sales, attack: () => attackOn(shop, buyers) };
      return await measureBeside(service, scene, options, {
        id: 'hostile-mcp',
        sale: 'buy_page over MCP, offer and payment, of the site that the junk names, one at a time, p95',
        notes: `three addresses of ${CONNECTIONS} connections each behind a trusted proxy, a session of the lowest priority (docs/adr/0051), rates of the product: forged payments of the honest buyers, signed ones of wallets without money, invented pages, lists of tools, searches, 50 quotes, bodies too long and none`,
      });
    } finally {
      await service.stop();
      web.close();
    }
  },
};

/** The sites of the sandbox’s names, whose gate offers every page. */
async function openWeb(): Promise<{ readonly url: string; close(): void }> {
  const offers = new Map<string, ReturnType<typeof gateOffer>>();
  const server = createServer(({ url, headers: { host } }, response) => {
    const resource = `https://${host}${url}`;
    const offer = offers.get(resource) ?? gateOffer(resource);
    offers.set(resource, offer);
    response.writeHead(402, offer.headers).end(offer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** What `buy_page` answers a caller of the endpoint. */
interface Told {
  readonly state?: string;
  readonly accepts?: readonly [{ readonly payTo: string; readonly amount: string }];
}

/** Buys a page as a buyer without an account does. Milliseconds of both calls; throws when it was not sold. */
async function buyOver(shop: Shop, url: string, buyer: Buyer): Promise<number> {
  const startedAt = performance.now();
  const [offer] = (await ask(shop, buys(url, HONEST))).accepts ?? [];
  if (!offer) throw new Error(`${url} is not offered over MCP`);
  const signed = signTransfer(shop.network, buyer, offer.payTo.toLowerCase() as `0x${string}`, BigInt(offer.amount));
  const { state, ...rest } = await ask(shop, buys(url, HONEST, paymentOf(offer, signed)));
  if (state !== 'bought') throw new Error(`${url} is not sold over MCP: ${JSON.stringify(rest)}`);
  return performance.now() - startedAt;
}

async function ask(shop: Shop, { path, ...rest }: HttpRequest): Promise<Told> {
  const answer = await fetch(`${shop.url}${path}`, rest);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`MCP answers ${answer.status}: ${text.slice(0, 300)}`);
  // A call is answered by one event, or by JSON.
  const message = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { result } = JSON.parse(message) as { readonly result?: { readonly structuredContent?: Told } };
  if (!result?.structuredContent) throw new Error(`MCP answers ${message.slice(0, 300)}`);
  return result.structuredContent;
}

function buys(url: string, from: string, payment?: string): HttpRequest {
  const meta = payment === undefined ? {} : { _meta: { 'x402/payment': payment } };
  return mcpMessage('tools/call', { name: 'buy_page', arguments: { url }, ...meta }, { 'x-forwarded-for': from });
}

/** Junk about the pages of a site, each address with payments of its own. */
async function attackOn(shop: Shop, honest: readonly Buyer[]): Promise<Attack> {
  const first = { ...shop, slugs: shop.slugs.slice(0, 1) };
  const page = `https://${shop.host}/articles/page-0`;
  const forge = (...transfer: Parameters<typeof signTransfer>): SignedTransfer => ({
    ...signTransfer(...transfer),
    signature: `0x${randomBytes(64).toString('hex')}1b`,
  });
  const paymentsBy = async (buyers: readonly Buyer[], sign: typeof signTransfer): Promise<readonly string[]> =>
    (await prepareCalls(first, buyers, sign)).map((body) => (JSON.parse(body.toString()) as { payment: string }).payment);
  const callers = HOSTILE.map(async (from) => {
    const named = Array.from({ length: PAYMENTS }, (_, n) => honest[n % honest.length] as Buyer);
    const [forged, unfunded] = [
      await paymentsBy(named, forge),
      await paymentsBy(Array.from({ length: PAYMENTS }, newBuyer), signTransfer),
    ];
    const others = junkFrom(from, shop);
    const requests = forged.flatMap((payment, n) => [
      buys(page, from, payment),
      buys(page, from, unfunded[n] as string),
      others[n % others.length] as HttpRequest,
    ]);
    return { connections: CONNECTIONS, requests };
  });
  return { url: shop.url, callers: await Promise.all(callers) };
}

/** Whatever else an address sends that shows nothing. */
function junkFrom(from: string, { host }: Shop): readonly HttpRequest[] {
  const headers = { 'x-forwarded-for': from };
  const call = (name: string, given: object): HttpRequest => mcpMessage('tools/call', { name, arguments: given }, headers);
  const invented = (): string => `https://${host}/articles/${randomBytes(6).toString('hex')}`;
  const page = `https://${host}/articles/page-1`;
  const wrong = (body: string): HttpRequest => ({ ...call('buy_page', { url: page }), body });
  return [
    mcpMessage('tools/list', {}, headers),
    buys(page, from, Buffer.alloc(12_000, '{"x402Version":2,').toString('base64')),
    buys(invented(), from, Buffer.from('{"x402Version":2,"payload":{}}').toString('base64')),
    call('find_pages', { query: 'page page-1 the and of articles' }),
    call('quote_pages', { urls: Array.from({ length: 50 }, invented) }),
    buys(`https://${randomBytes(6).toString('hex')}.example/articles/page-0`, from, 'e30='),
    wrong('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"buy_page"'),
    wrong(`[${'[],'.repeat(MOST_BODY_BYTES / 3 - 2)}[]]`),
    wrong('x'.repeat(2 * MOST_BODY_BYTES)),
    call('buy_page', { url: page, more: 'y'.repeat(MOST_BODY_BYTES - 1_000) }),
    call('read_page', { url: page }),
  ];
}
