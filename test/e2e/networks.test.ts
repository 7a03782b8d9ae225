import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { setSiteNetworks } from '../../modules/tenants/use/manageNetworks.ts';
import { Networks } from '../../platform/chain/network.ts';
import { presetNetwork } from '../../platform/chain/presets.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import type { QuoteBody } from '../support/buying.ts';
import { payFor } from '../support/buying.ts';
import { call, signInWith } from '../support/licences.ts';
import type { TestChain } from '../support/parts.ts';
import { addressOf, newAccount } from '../support/payments.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';
import { moneyVerdicts, postVerify, quoteOf } from '../support/verify.ts';

const [A, B] = ['eip155:84532', 'eip155:137'] as const;
type NetworkId = typeof A | typeof B;
let service: TestService;
let site: TestSite;
let shop: Shop;

beforeAll(async () => {
  service = await startTestService({ moreChains: [137] });
  site = await service.site();
  shop = await openShop(service, site);
  await choose(A, B);
});
afterAll(async () => {
  await shop?.close();
  await service?.stop();
});

const chainOf = (network: NetworkId): TestChain => service.chains[network === A ? 0 : 1] as TestChain;
const rpcOf = (network: NetworkId, method: string, ...params: unknown[]) => callChain(chainOf(network).rpcUrl, method, params);

/** Lets the owner choose, and waits until quotes show it. */
async function choose(...chosen: NetworkId[]): Promise<void> {
  const networks = new Networks(
    [A, B].map((id) => presetNetwork(id, { rpcUrls: ['http://127.0.0.1:1'], router: service.chain.router })),
  );
  const { database } = service;
  await setSiteNetworks({ database, networks }, { tenantId: site.tenantId, actor: operatorNamed('ops') }, chosen);
  while ((await quoted('solo')).join() !== chosen.join()); // what is held in memory is two seconds old at most
  shop.forget();
}

/** On which networks the service quotes a page. */
async function quoted(slug: string): Promise<string[]> {
  const { network, otherNetworks = [] } = (await quoteOf(service, site, slug)) as {
    readonly network: string;
    readonly otherNetworks?: readonly { readonly network: string }[];
  };
  return [network, ...otherNetworks.map((other) => other.network)];
}

interface Requirement {
  readonly network: string;
  readonly payTo: string;
  readonly amount: string;
}

function requirements(response: Response): Requirement[] {
  const header = response.headers.get('payment-required') ?? '';
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8')).accepts;
}

/** A new payer with money on these networks alone. */
async function payerOn(...networks: NetworkId[]): Promise<PrivateKeyAccount> {
  const account = newAccount();
  for (const network of networks) {
    const { rpcUrl, usdc } = chainOf(network);
    await mintUsdc(rpcUrl, addressOf(account), 100_000n, usdc);
  }
  return account;
}

/** The stock version 2 client of a buyer whose money is on this network. */
function stockClient(account: PrivateKeyAccount, network: NetworkId, send: typeof fetch = fetch): typeof fetch {
  return wrapFetchWithPayment(send, new x402Client().register(network, new ExactEvmScheme(account)));
}

/** A quote as its buyer pays it on a network. */
async function quoteOn(network: NetworkId, slug: string) {
  const quote = await quoteOf(service, site, slug);
  const others = (quote['otherNetworks'] ?? []) as Partial<QuoteBody>[];
  const asPaid = { ...quote, ...others.find((other) => other.network === network) } as QuoteBody;
  return { quote, asPaid };
}

const chainIdOf = (network: NetworkId): number => Number(network.slice('eip155:'.length));
async function signedFor(network: NetworkId, account: PrivateKeyAccount, slug: string) {
  const { quote, asPaid } = await quoteOn(network, slug);
  return { quote, payment: await payFor(account, asPaid, chainIdOf(network)) };
}
const sell = ({ quote, payment }: Awaited<ReturnType<typeof signedFor>>) =>
  postVerify(service, site, { payment, quote, legs: quote.legs, resource: quote.resource });

test('a site that chose nothing sells on the first network, and on both once its owner chose both, the operator’s first first', async () => {
  const fresh = await quoteOf(service, await service.site(), 'trio');
  expect([fresh.network, fresh['otherNetworks']]).toEqual([A, undefined]);
  const response = await fetch(`${shop.url}/articles/trio`);
  const body = (await response.json()) as { accepts: { network: string; maxAmountRequired: string }[] };
  expect(requirements(response)).toMatchObject([A, B].map((network) => ({ network, amount: '1000' })));
  expect(body.accepts).toMatchObject(['base-sepolia', 'polygon'].map((network) => ({ network, maxAmountRequired: '1000' })));
  expect(await quoteOf(service, site, 'trio')).toMatchObject({ network: A, otherNetworks: [{ network: B }] });
  const self = await call(`${service.baseUrl}/_svc/tenants/self`, { token: site.key });
  expect(self.body.chainsEnabled).toEqual([A, B]);
});

test.each([A, B])('a stock client whose money is on %s alone buys there, and the authors are paid there', async (network) => {
  const buyer = await payerOn(network);
  const quote = await quoteOf(service, site, 'trio');
  const wallets = quote.legs.map(({ toAddress }) => toAddress);
  const here = { chain: chainOf(network) };
  const before = await balancesOf(here, wallets);
  const response = await stockClient(buyer, network)(`${shop.url}/articles/trio`);
  expect([response.status, await response.text()]).toEqual([200, '<p>trio</p>']);
  const settlement = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
  expect(settlement).toMatchObject({ success: true, network });
  expect(await rpcOf(network, 'eth_getTransactionReceipt', settlement.transaction)).toMatchObject({ status: '0x1' });
  const after = await balancesOf(here, wallets);
  expect(after.map((balance, leg) => balance - (before[leg] ?? 0n))).toEqual(
    quote.legs.map(({ amountMicro }) => BigInt(amountMicro)),
  );
  const licence = JSON.parse(Buffer.from((response.headers.get('x-licence') ?? '').split('.')[1] ?? '', 'base64url').toString());
  expect([licence.sub, licence.svc.network]).toEqual([`${network}:${buyer.address.toLowerCase()}`, network]);
});

test('a stock client of version 1 buys on the second network by its name', async () => {
  const buyer = await payerOn(B);
  const onlyB: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status !== 402) return response;
    const { accepts, ...rest } = (await response.json()) as { accepts: { network: string }[] };
    return Response.json({ ...rest, accepts: accepts.filter(({ network }) => network === 'polygon') }, { status: 402 });
  };
  const response = await wrapFetchV1(onlyB, buyer)(`${shop.url}/articles/solo`);
  expect(response.status).toBe(200);
  const settlement = decodePaymentResponseHeader(response.headers.get('x-payment-response') ?? '');
  expect(settlement).toMatchObject({ success: true, network: 'polygon' });
});

test('an authorization signed for one network settles on no other, whatever its payment says', async () => {
  const buyer = await payerOn(A, B);
  for (const [signed, named] of [
    [A, B],
    [B, A],
  ] as const) {
    const { quote, asPaid } = await quoteOn(named, 'solo');
    const answer = await sell({ quote, payment: await payFor(buyer, asPaid, chainIdOf(signed)) });
    expect([answer.status, answer.body.error]).toEqual([402, expect.stringMatching(/^authorization_invalid/)]);
  }
  const balances = await Promise.all([A, B].map((network) => balancesOf({ chain: chainOf(network) }, [buyer.address])));
  expect(balances).toEqual([[100_000n], [100_000n]]);
});

test('while a payment on one network is undecided, the same buyer’s for the same page on another waits, and never moves', async () => {
  const buyer = await payerOn(A, B);
  const states = async () => {
    const rows = await service.database.query<{ network: string; state: string }>(
      'select network, state from payment where payer = $1 order by network desc',
      [buyer.address.toLowerCase()],
    );
    return rows.map(({ network, state }) => `${network} ${state}`);
  };
  const [first, second] = [await signedFor(A, buyer, 'duo'), await signedFor(B, buyer, 'duo')];
  await rpcOf(A, 'evm_setIntervalMining', 0);
  await rpcOf(A, 'evm_setAutomine', false);
  const onA = sell(first);
  await expect.poll(states).toEqual([`${A} broadcast`]);
  const onB = sell(second);
  await expect.poll(states).toEqual([`${A} broadcast`, `${B} held`]);
  await rpcOf(A, 'evm_setAutomine', true);
  await rpcOf(A, 'evm_setIntervalMining', 1);
  const [one, other] = await Promise.all([onA, onB]);
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(other.body.settlementRef).toBe(one.body.settlementRef);
  expect(await balancesOf({ chain: chainOf(A) }, [buyer.address])).toEqual([99_000n]);
  expect(await balancesOf({ chain: chainOf(B) }, [buyer.address])).toEqual([100_000n]);
  // What the receipt names is where the transaction is.
  expect(decodePaymentResponseHeader(other.body.responseHeader)).toMatchObject({
    network: A,
    transaction: one.body.settlementRef,
  });
  const third = await sell(await signedFor(B, buyer, 'duo'));
  expect(third.body.settlementRef).toBe(one.body.settlementRef);
  expect(decodePaymentResponseHeader(third.body.responseHeader)).toMatchObject({ network: A, amount: '0' });
  expect(await balancesOf({ chain: chainOf(B) }, [buyer.address])).toEqual([100_000n]);
});

test('a licence over many pages is offered on both networks and bought on the second', async () => {
  const buyer = await payerOn(B);
  const { token } = await signInWith(service.baseUrl, buyer);
  const body = { host: site.host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' };
  const at = `${service.baseUrl}/_svc/licenses`;
  const offer = await fetch(at, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  expect(requirements(offer).map(({ network }) => network)).toEqual([A, B]);
  const bought = await call(at, { token, body, send: stockClient(buyer, B) });
  expect(bought).toMatchObject({ status: 200, body: { priceMicro: 3_000 } });
  expect(decodePaymentResponseHeader(bought.headers.get('payment-response') ?? '')).toMatchObject({ success: true, network: B });
  expect(await balancesOf({ chain: chainOf(B) }, [buyer.address])).toEqual([97_000n]);
});

test('sales of both networks are in earnings and statements, and each is reconciled with its own chain, to the micro', async () => {
  const report = async (path: string) => (await call(`${service.baseUrl}/_svc/earnings${path}`, { token: site.key })).body;
  // trio twice, solo, duo, and the licence of three pages.
  expect((await report('')).totals).toMatchObject({ events: 5, grossMicroUsdc: 7_000 });
  expect((await report('/statements')).totalMicroUsdc).toBe(7_000);
  const settled = await service.database.query<{ network: string; micro: string; refs: string[] }>(
    `select network, sum(amount_micro) as micro, array_agg(tx_hash) as refs from payment
      where tenant_id = $1 and state in ('settled', 'final') group by network order by network desc`,
    [site.tenantId],
  );
  expect(settled).toMatchObject([
    { network: A, micro: '2000' },
    { network: B, micro: '5000' },
  ]);
  await expect.poll(async () => (await report('/reconciliation')).outstanding).toMatchObject({ legs: 0 });
  // Gas of both is charged to the site in the coin of the first network: a POL is a five-thousandth of an ether.
  const charged = `select sum(ceil(case network when $1 then gas_wei else gas_wei / 5000 end)) as wei from settlement_batch
    where kind = 'settle' and gas_wei is not null`;
  const used = 'select sum(gas_wei) as wei from gas_usage where tenant_id = $1';
  expect(await service.database.query(used, [site.tenantId])).toEqual(await service.database.query(charged, [A]));
  // Each network's reconciler has read its own chain.
  const seen = async () => {
    const rows = await service.database.query<{ network: string; refs: string[] }>(
      'select network, array_agg(distinct tx_hash) as refs from chain_transfer group by network order by network desc',
    );
    return rows.map(({ network, refs }) => [network, refs.toSorted()]);
  };
  expect(await seen()).toEqual(settled.map(({ network, refs }) => [network, [...new Set(refs)].toSorted()]));
  const cursors = 'select network from chain_cursor order by network desc';
  await expect.poll(() => service.database.query(cursors)).toEqual([{ network: A }, { network: B }]);
});

test('once the owner leaves a network, what was taken there keeps its answer, and new payments there are refused', async () => {
  const buyer = await payerOn(A, B);
  const settled = await signedFor(B, buyer, 'solo');
  const before = await sell(settled);
  expect(before.status).toBe(200);
  const late = await signedFor(B, buyer, 'trio');
  const { token } = await signInWith(service.baseUrl, buyer);
  const body = { host: site.host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 7, kind: 'read' };
  // The owner leaves between the offer of a licence and its payment.
  const slow: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.headers.has('payment-signature')) await choose(A);
    return fetch(request);
  };
  const licence = await call(`${service.baseUrl}/_svc/licenses`, { token, body, send: stockClient(buyer, B, slow) });
  expect([licence.status, licence.body.error]).toEqual([402, expect.stringMatching(/^network_unsupported/)]);
  const refused = await sell(late);
  expect([refused.status, refused.body.error]).toEqual([402, expect.stringMatching(/^network_unsupported/)]);
  expect((await sell(settled)).body).toEqual(before.body);
  expect(await moneyVerdicts(service, site)).toContain('payment-failed network_unsupported');
  expect(await balancesOf({ chain: chainOf(B) }, [buyer.address])).toEqual([99_000n]);
  await choose(A, B);
  const again = await sell(await signedFor(B, buyer, 'trio'));
  expect(again.status).toBe(200);
});

test('a network whose nodes are away leaves the offers by itself, a payment for it is told to wait, and the others sell on', async () => {
  const buyer = await payerOn(A, B);
  const late = await signedFor(B, buyer, 'solo');
  await chainOf(B).stop();
  await expect.poll(() => quoted('solo')).toEqual([A]);
  expect((await sell(late)).status).toBe(503);
  expect((await sell(await signedFor(A, buyer, 'trio'))).status).toBe(200);
  expect(await (await fetch(`${service.baseUrl}/readyz`)).json()).toMatchObject({
    ok: true,
    networks: { [A]: 'ok', [B]: 'failed' },
  });
});
