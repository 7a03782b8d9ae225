import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { SignInDeclaration } from '../../modules/identity/rules/pageProof.ts';
import { buildSignInMessage } from '../../modules/identity/rules/siwx.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { SettleRequest } from '../../modules/settlement/use/accept/settle.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { setSiteNetworks } from '../../modules/tenants/use/manageNetworks.ts';
import type { Network } from '../../platform/chain/network.ts';
import { presetNetwork } from '../../platform/chain/presets.ts';
import { startTestApi } from '../support/api.ts';
import { newAccount, signPayment } from '../support/payments.ts';

const [A, B, C] = ['eip155:84532', 'eip155:137', 'eip155:42161'] as const;
/** A router of its own: recipients differ from those of Base Sepolia. */
const OTHER_ROUTER: Address = `0x${'5b'.repeat(20)}`;
const rpcUrls = ['http://127.0.0.1:1'];
const [polygon, arbitrum] = [
  presetNetwork(B, { rpcUrls, router: OTHER_ROUTER }),
  presetNetwork(C, { rpcUrls, router: OTHER_ROUTER }),
];

let api: Awaited<ReturnType<typeof startTestApi>>;
let site: Awaited<ReturnType<typeof api.site>>;
let asked: SettleRequest[] = [];

beforeAll(async () => {
  const settle = async (request: SettleRequest): Promise<never> => {
    asked.push(request);
    throw new PaymentError('settlement_pending', 'this test settles nothing', null);
  };
  api = await startTestApi({ settle, moreNetworks: [polygon, arbitrum] });
  site = await api.site();
  await choose(A, B);
});
afterAll(() => api.stop());
beforeEach(() => {
  asked = [];
});

async function choose(...networks: string[]): Promise<void> {
  await setSiteNetworks(api.deps, { tenantId: site.tenantId, actor: operatorNamed('ops') }, networks);
  expect((await self()).body.chainsEnabled).toEqual(networks);
  while (idsOf(await quote()).join() !== networks.join()); // what is held in memory is two seconds old at most
}
const self = () => api.request('/_svc/tenants/self', { key: site.key });
const quote = async (build = '') => (await api.request(`/_svc/quote?slug=trio${build}`, { key: site.key })).body;
const idsOf = ({ network, otherNetworks = [] }: { network: string; otherNetworks?: { network: string }[] }): string[] => [
  network,
  ...otherNetworks.map((other) => other.network),
];

/** A payment of version 2 to an address, as its buyer sends it for a network. */
async function paid(network: Network, payTo: string, value = 1_000n): Promise<string> {
  const to = payTo.toLowerCase() as Address;
  const { authorization, signature } = await signPayment(network, newAccount(), { to, value });
  const text = Object.fromEntries(Object.entries(authorization).map(([name, part]) => [name, String(part)]));
  const { id, asset, assetName: name, assetVersion: version } = network;
  const accepted = { scheme: 'exact', network: id, amount: String(value), asset, payTo, extra: { name, version } };
  const payment = { x402Version: 2, accepted, payload: { signature, authorization: text } };
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}
// biome-ignore lint/suspicious/noExplicitAny: a quote as the API answers it
const verify = (sent: any, payment: string) =>
  api.post('/_svc/verify', site.key, { payment, quote: sent, legs: sent.legs, resource: sent.resource });

test('each network has its own recipient by its own router, and the offer says by which it can be recomputed', async () => {
  const { x402, ...body } = await quote('&build=402');
  const [other] = body.otherNetworks;
  expect(other.payTo).not.toBe(body.payTo);
  expect(other).toMatchObject({ network: B, extra: { name: 'USD Coin', version: '2' } });
  const { accepts } = JSON.parse(Buffer.from(x402.header, 'base64').toString());
  expect(accepts.map(({ network, payTo, asset }: Record<string, string>) => [network, payTo, asset])).toEqual([
    [A, body.payTo, body.asset],
    [B, other.payTo, other.asset],
  ]);
  const { router, routers } = x402.body.extensions['svc-legs'].info;
  expect([router, routers[A], routers[B].toLowerCase()]).toEqual([routers[A], router, OTHER_ROUTER]);
  expect(x402.body.accepts.map(({ network }: Record<string, string>) => network)).toEqual(['base-sepolia', 'polygon']);
});

test('the network that the payment names is the one whose recipient, token and router it must meet', async () => {
  const sent = await quote();
  const [other] = sent.otherNetworks;
  for (const [network, payTo] of [
    [api.deps.networks.first, sent.payTo],
    [polygon, other.payTo],
  ] as const) {
    expect((await verify(sent, await paid(network, payTo))).headers.get('x-svc-error-code')).toBe('settlement_pending');
  }
  const bare = { price: sent.price, legs: sent.legs, resource: sent.resource };
  await verify(bare, await paid(polygon, other.payTo));
  const expected = {
    network: B,
    asset: polygon.asset,
    router: OTHER_ROUTER,
    payTo: other.payTo.toLowerCase(),
    priceMicro: 1_000n,
  };
  expect(asked.map(({ terms }) => terms)).toMatchObject([{ network: A }, expected, expected]);
});

test('a network that the quote did not offer is refused, though it is configured and was chosen since', async () => {
  const sent = await quote();
  await choose(A, B, C);
  const refused = await verify(sent, await paid(arbitrum, sent.otherNetworks[0].payTo));
  expect([refused.status, refused.headers.get('x-svc-error-code')]).toEqual([402, 'network_unsupported']);
  const settlement = JSON.parse(Buffer.from(refused.headers.get('payment-response') ?? '', 'base64').toString());
  expect(settlement).toMatchObject({ success: false, network: C, errorReason: 'invalid_exact_evm_network_mismatch' });
  await choose(A, B);
  expect(asked).toEqual([]);
});

test('a quote that says another network first than it did is not ours', async () => {
  const sent = await quote();
  const [other] = sent.otherNetworks;
  const answer = await verify({ ...sent, ...other }, await paid(polygon, other.payTo));
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([402, 'authorization_invalid']);
});

test('an author who cannot be paid on one network takes that out of the offer; on all of them the page is not quoted', async () => {
  const sent = await quote();
  const block = (network: string, payTo: string) =>
    api.deps.database.query('insert into blocked_payee (network, pay_to, detail) values ($1, $2, $3)', [
      network,
      payTo.toLowerCase(),
      'reverts',
    ]);
  await block(A, sent.payTo);
  await expect.poll(async () => idsOf(await quote())).toEqual([B]);
  expect((await quote()).payTo).toBe(sent.otherNetworks[0].payTo);
  await block(B, sent.otherNetworks[0].payTo);
  const code = async () => (await api.request('/_svc/quote?slug=trio', { key: site.key })).headers.get('x-svc-error-code');
  await expect.poll(code).toBe('payee_blocked');
  await api.deps.database.query('delete from blocked_payee');
  await expect.poll(async () => idsOf(await quote())).toEqual([A, B]);
});

test('a site none of whose networks is configured any more sells on no other: 503, and its own page still opens', async () => {
  const gone = await api.site();
  await api.deps.database.query(`update tenant set networks = '{eip155:1}', version = version + 1 where tenant_id = $1`, [
    gone.tenantId,
  ]);
  const answer = async () => await api.request('/_svc/quote?slug=trio', { key: gone.key });
  await expect.poll(async () => (await answer()).headers.get('x-svc-error-code')).toBe('chain_unavailable');
  expect((await api.request('/_svc/tenants/self', { key: gone.key })).body.chainsEnabled).toEqual([]);
});

test('none, or one that is not configured, cannot be chosen', async () => {
  for (const networks of [[], [A, 'eip155:1']]) {
    const chosen = setSiteNetworks(api.deps, { tenantId: site.tenantId, actor: operatorNamed('ops') }, networks);
    await expect(chosen).rejects.toMatchObject({ code: 'invalid_parameter' });
  }
});

test('an offer for a licence names the documents of its site, and a wallet may show itself on every network that is taken here', async () => {
  const body = { host: site.host, scope: ['/articles/solo'], terms: ['ai-input'], periodDays: 1, kind: 'read' };
  const refused = await api.post('/_svc/licenses', null, body);
  const { info, supportedChains } = refused.body.extensions['sign-in-with-x'] as SignInDeclaration;
  expect([refused.status, supportedChains.map(({ chainId }) => chainId)]).toEqual([401, [A, B, C]]);
  const buyer = newAccount();
  const fields = { ...info, address: buyer.address, chainId: Number(C.slice('eip155:'.length)) };
  const signature = await buyer.signMessage({ message: buildSignInMessage(fields) });
  const header = Buffer.from(JSON.stringify({ ...fields, chainId: C, type: 'eip191', signature })).toString('base64');
  const offered = await api.post('/_svc/licenses', null, body, { 'sign-in-with-x': header });
  const offer = JSON.parse(Buffer.from(offered.headers.get('payment-required') ?? '', 'base64').toString('utf8'));
  expect([offered.status, offer.extensions['sign-in-with-x'].supportedChains]).toEqual([402, supportedChains]);
  const links = `<https://svc.example/_svc/discovery/${site.host}/license.xml>; rel="license"; type="application/rsl+xml"`;
  expect(offered.headers.get('link')).toContain(links);
  expect(offered.headers.get('access-control-expose-headers')).toContain('link');
});
