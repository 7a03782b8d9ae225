import { createHash } from 'node:crypto';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { PrivateKeyAccount } from 'viem/accounts';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeXPaymentResponse, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { buyPage } from '../../examples/buyer/buyer.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { limits } from '../../sandbox/limits.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { WALLETS } from '../support/api.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService, TEST_ISSUER } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';
import { moneyVerdicts, quoteOf } from '../support/verify.ts';

const [A, B, C, D] = WALLETS as [string, string, string, string];
/** What each page of alpha pays whom for one read, in micro, the order the canonical one. */
const LEGS: Record<string, [string, bigint][]> = {
  solo: [[A, 1_000n]],
  trio: [
    [A, 500n],
    [B, 300n],
    [C, 200n],
  ],
  duo: [
    [D, 500n],
    [B, 250n],
    [C, 250n],
  ],
};
const PRICE = 1_000n;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const NETWORK = 'eip155:84532';

let service: TestService;
let site: TestSite;
let shop: Shop;
let receiver: Receiver;

beforeAll(async () => {
  service = await startTestService({ environment: CALM });
  site = await service.site({ hosts: ['alpha.example'] });
  shop = await openShop(service, site);
  receiver = await startReceiver();
  const outbound = createOutbound({ allowLoopback: true });
  const secretBox = createSecretBox(Buffer.from(service.secrets.secretsKey, 'base64url'));
  await createEndpoint({ database: service.database, secretBox, outbound }, site.tenantId, { url: receiver.url });
  await outbound.close();
});

afterAll(async () => {
  await shop?.close();
  await receiver?.stop();
  await service?.stop();
});

interface Buyer {
  readonly privateKey: `0x${string}`;
  readonly account: PrivateKeyAccount;
}

async function newBuyer(amountMicro = 10_000n): Promise<Buyer> {
  const privateKey = newPrivateKey();
  const account = privateKeyToAccount(privateKey);
  await mintUsdc(service.chain.rpcUrl, account.address.toLowerCase() as Address, amountMicro);
  return { privateKey, account };
}

/** What a purchase came to, whichever client made it. */
interface Bought {
  readonly status: number;
  readonly page: string;
  readonly headers: Headers;
}

const clients: Record<string, (url: string, buyer: Buyer, send?: typeof fetch) => Promise<Bought>> = {
  '@x402/fetch 2.27': async (url, buyer, send = fetch) => {
    let headers = new Headers();
    const listening: typeof fetch = async (input, init) => {
      const response = await send(input, init);
      headers = response.headers;
      return response;
    };
    const { status, page } = await buyPage(url, buyer.privateKey, listening);
    return { status, page, headers };
  },
  'x402-fetch 1.2': async (url, buyer, send = fetch) => {
    const response = await wrapFetchV1(send, buyer.account)(url);
    return { status: response.status, page: await response.text(), headers: response.headers };
  },
};

const purchases = Object.keys(clients).flatMap((client) => Object.keys(LEGS).map((slug) => [client, slug] as const));

test.each(purchases)('stock %s buys %s: every author gets their leg on chain, to the micro', async (client, slug) => {
  const legs = LEGS[slug] as [string, bigint][];
  const buyer = await newBuyer();
  const quote = await quoteOf(service, site, slug);
  const parties = [buyer.account.address, quote.payTo, service.chain.router, ...WALLETS];
  const before = await balancesOf(service, parties);

  const bought = await clients[client]!(`${shop.url}/articles/${slug}`, buyer);
  expect(bought).toMatchObject({ status: 200, page: `<p>${slug}</p>` });

  const isV1 = client.startsWith('x402-fetch');
  const names = ['payment-response', 'x-payment-response'];
  const [own, other] = (isV1 ? names.reverse() : names).map((name) => bought.headers.get(name));
  const settlement = (isV1 ? decodeXPaymentResponse : decodePaymentResponseHeader)(own ?? '');
  expect(other).toBeNull();
  const payer = buyer.account.address.toLowerCase();
  expect(settlement).toMatchObject({ success: true, network: isV1 ? 'base-sepolia' : NETWORK, payer });

  await expectOnChain(settlement.transaction, { parties, before, legs, payTo: quote.payTo });
  await expectInLedger(payer, slug, legs);
  await expectLicence(bought.headers.get('x-licence') ?? '', { slug, payer, txHash: settlement.transaction, legs });
  await expectWebhook(settlement.transaction, legs);
});

async function expectOnChain(
  txHash: string,
  sale: { parties: string[]; before: bigint[]; legs: [string, bigint][]; payTo: string },
): Promise<void> {
  const after = await balancesOf(service, sale.parties);
  const changes = after.map((balance, index) => balance - (sale.before[index] as bigint));
  const shareOf = (wallet: string): bigint => sale.legs.find(([to]) => to === wallet)?.[1] ?? 0n;
  const toSplit = sale.legs.length === 1 ? PRICE : 0n;
  expect(changes).toEqual([-PRICE, toSplit, 0n, ...WALLETS.map(shareOf)]);
  expect(changes.slice(3).reduce((sum, change) => sum + change, 0n)).toBe(PRICE);
  expect(after[2]).toBe(0n);
  const receipt = await callChain<Receipt>(service.chain.rpcUrl, 'eth_getTransactionReceipt', [txHash]);
  expect(receipt.status).toBe('0x1');
  const transfers = receipt.logs.filter(({ address, topics }) => address === service.chain.usdc && topics[0] === TRANSFER);
  expect(transfers).toHaveLength(sale.legs.length === 1 ? 1 : 1 + sale.legs.length);
}

interface Receipt {
  readonly status: string;
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[] }[];
}

async function expectInLedger(payer: string, slug: string, legs: [string, bigint][]): Promise<void> {
  const crossings = await service.database.query(
    'select crossing_id, host, slug, kind, micro, sequence from crossing where tenant_id = $1 and payer = $2',
    [site.tenantId, payer],
  );
  expect(crossings).toMatchObject([{ host: 'alpha.example', slug, kind: 'read', micro: '1000', sequence: 0 }]);
  const rows = await service.database.query(
    'select to_address, amount_micro from leg where tenant_id = $1 and crossing_id = $2 order by ordinal',
    [site.tenantId, (crossings[0] as { crossing_id: string }).crossing_id],
  );
  expect(rows.map((row) => Object.values(row as object))).toEqual(legs.map(([to, micro]) => [to, String(micro)]));
}

async function expectLicence(
  licence: string,
  sale: { slug: string; payer: string; txHash: string; legs: [string, bigint][] },
): Promise<void> {
  const jwks = await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json();
  const rules = { issuer: TEST_ISSUER, audience: 'https://alpha.example', algorithms: ['EdDSA'] };
  const { payload } = await jwtVerify(licence, createLocalJWKSet(jwks as Parameters<typeof createLocalJWKSet>[0]), rules);
  expect(payload.sub).toBe(`${NETWORK}:${sale.payer}`);
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(600);
  const payees = sale.legs.map(([toAddress, micro]) => ({ toAddress, amountMicro: Number(micro) }));
  const payeesHash = createHash('sha256').update(JSON.stringify(payees)).digest('base64url');
  expect(payload['svc']).toMatchObject({
    v: 1,
    grant: 'read',
    kind: 'read',
    slug: sale.slug,
    amountMicro: 1_000,
    network: NETWORK,
    settlementRef: sale.txHash,
    settlementRefKind: 'txHash',
    ...(payees.length === 1 ? { payees } : { payeesHash }),
  });
  const again = await fetch(`${shop.url}/articles/${sale.slug}`, { headers: { authorization: `License ${licence}` } });
  expect([again.status, await again.text()]).toEqual([200, `<p>${sale.slug}</p>`]);
}

async function expectWebhook(txHash: string, legs: [string, bigint][]): Promise<void> {
  const about = () => receiver.received.filter(({ body }) => body.includes(txHash));
  while (about().length === 0) await receiver.until(receiver.received.length + 1);
  expect(about()).toHaveLength(1);
  const { type, data } = JSON.parse(about()[0]?.body ?? '');
  expect(type).toBe('settlement.completed');
  const paid = data.legs.filter((leg: { settlementRef: string }) => leg.settlementRef === txHash);
  const summary = paid.map((leg: { toAddress: string; amountMicro: number }) => [
    leg.toAddress.toLowerCase(),
    BigInt(leg.amountMicro),
  ]);
  expect(new Map(summary)).toEqual(new Map(legs));
  expect(data.gross.microUsdc).toBe(data.legs.reduce((sum: number, leg: { amountMicro: number }) => sum + leg.amountMicro, 0));
}

test('a split is deployed by its first sale and used as it is by the next buyer', async () => {
  const own = await service.site({ pricing: { ...TWO_AUTHORS } });
  const ownShop = await openShop(service, own);
  const { payTo } = await quoteOf(service, own, 'pair');
  const codeAt = () => callChain<string>(service.chain.rpcUrl, 'eth_getCode', [payTo, 'latest']);
  expect(await codeAt()).toBe('0x');
  for (const expected of [1n, 2n]) {
    const bought = await buyPage(`${ownShop.url}/articles/pair`, (await newBuyer()).privateKey);
    expect(bought.status).toBe(200);
    expect(await balancesOf(service, [payTo, NEWCOMER])).toEqual([0n, expected * 500n]);
  }
  expect(await codeAt()).not.toBe('0x');
  await ownShop.close();
});

const NEWCOMER = `0x${'9e'.repeat(20)}`;
const TWO_AUTHORS = {
  priceUsdc: '0.001',
  articlePrefixes: ['/articles/'],
  creditsInline: {
    pair: {
      contributors: [
        { authorId: 'ann', wallet: A },
        { authorId: 'new', wallet: NEWCOMER },
      ],
    },
  },
};

test('a v1 client refuses a page above its ten cents and a v2 client one above its dollar, and no payment arrives', async () => {
  const own = await service.site();
  const ownShop = await openShop(service, own);
  const url = `${ownShop.url}/articles/solo`;
  const setPrice = async (priceUsdc: string): Promise<void> => {
    await setPricing({ database: service.database }, { tenantId: own.tenantId, pricing: { priceUsdc } });
    while ((await quoteOf(service, own, 'solo')).price !== Math.round(Number(priceUsdc) * 1e6));
    ownShop.forget();
  };
  const buyer = await newBuyer(2_000_000n);
  await setPrice('0.11');
  await expect(clients['x402-fetch 1.2']!(url, buyer)).rejects.toThrow(/exceeds maximum/);
  await setPrice('1.01');
  await expect(clients['@x402/fetch 2.27']!(url, buyer)).rejects.toThrow(/spend/i);
  expect(ownShop.requests.some(({ headers }) => headers['x-payment'] ?? headers['payment-signature'])).toBe(false);
  await setPrice('1.00');
  expect((await clients['@x402/fetch 2.27']!(url, buyer)).status).toBe(200);
  expect(await moneyVerdicts(service, own)).toEqual(['paid']);
  await ownShop.close();
});

/** A fetch that hands the payment header over under other names. */
function renaming(from: string, to: readonly string[], change = (value: string, _name: string) => value): typeof fetch {
  return (input, init) => {
    const request = new Request(input, init);
    const value = request.headers.get(from);
    if (value === null) return fetch(request);
    request.headers.delete(from);
    for (const name of to) request.headers.set(name, change(value, name));
    return fetch(request);
  };
}

test.each([
  ['a v1 payload in PAYMENT-SIGNATURE', 'x402-fetch 1.2', renaming('x-payment', ['payment-signature'])],
  ['a v2 payload in X-PAYMENT', '@x402/fetch 2.27', renaming('payment-signature', ['x-payment'])],
  ['one payment in both headers', '@x402/fetch 2.27', renaming('payment-signature', ['payment-signature', 'x-payment'])],
])('%s buys the page: the version in the payload decides', async (_what, client, send) => {
  const bought = await clients[client]!(`${shop.url}/articles/solo`, await newBuyer(), send);
  expect(bought.status).toBe(200);
});

test('two different payments in the two headers are refused and neither is charged', async () => {
  const buyer = await newBuyer();
  const forge = (value: string, name: string): string => {
    const payload = JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
    if (name === 'x-payment') payload.payload.signature = payload.payload.signature.replace(/.{4}$/, '0000');
    return Buffer.from(JSON.stringify(payload)).toString('base64');
  };
  const send = renaming('payment-signature', ['payment-signature', 'x-payment'], forge);
  const bought = await clients['@x402/fetch 2.27']!(`${shop.url}/articles/solo`, buyer, send);
  expect(bought.status).toBe(402);
  expect(JSON.parse(bought.page).error).toMatch(/^authorization_invalid: /);
  expect(await balancesOf(service, [buyer.account.address])).toEqual([10_000n]);
});

test('a page that cannot be made charges nobody and is reported as unservable', async () => {
  const broken = { contributors: [{ authorId: 'ann', wallet: A }] };
  const own = await service.site({ pricing: { ...TWO_AUTHORS, creditsInline: { broken } } });
  const ownShop = await openShop(service, own);
  const buyer = await newBuyer();
  const bought = await clients['@x402/fetch 2.27']!(`${ownShop.url}/articles/broken`, buyer);
  expect(bought.status).toBe(500);
  expect(await balancesOf(service, [buyer.account.address])).toEqual([10_000n]);
  const reported = () =>
    service.database.query<{ verdict: string; micro: string }>(
      'select verdict, micro from observation where tenant_id = $1 order by verdict',
      [own.tenantId],
    );
  await expect.poll(reported).toMatchObject([
    { verdict: 'denied', micro: '1000' },
    { verdict: 'unservable', micro: '1000' },
  ]);
  await ownShop.close();
});

test('an undecided payment gets 503 without an offer, and the same payment sent again gets the page, charged once', async () => {
  const late = await startTestService({ worker: false, environment: limits({ settleWaitMs: 500 }) });
  try {
    const own = await late.site();
    const ownShop = await openShop(late, own);
    const account = await late.payer(5_000n);
    let sent: Request | null = null;
    const send: typeof fetch = (input, init) => {
      const request = new Request(input, init);
      if (request.headers.has('x-payment')) sent = request.clone();
      return fetch(request);
    };
    const first = await wrapFetchV1(send, account)(`${ownShop.url}/articles/trio`);
    expect(first.status).toBe(503);
    expect(first.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(first.headers.get('payment-required')).toBeNull();
    expect(await first.text()).not.toContain('accepts');
    await late.startWorker();
    const request = sent as unknown as Request;
    let again = await fetch(request.clone());
    while (again.status === 503) again = await fetch(request.clone());
    expect([again.status, await again.text()]).toEqual([200, '<p>trio</p>']);
    expect(await balancesOf(late, [account.address])).toEqual([4_000n]);
    expect(await moneyVerdicts(late, own)).toEqual(['paid']);
    await ownShop.close();
  } finally {
    await late.stop();
  }
}, 300_000);
