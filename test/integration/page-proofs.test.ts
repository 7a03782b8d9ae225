/** Wallets that show what they bought: POST /_svc/license/proof, and what licence endpoints declare. */
import { encodeSIWxHeader, formatSIWEMessage } from '@x402/extensions/sign-in-with-x';
import { encodeDeployData, parseAbi } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import walletArtifact from '../../contracts/artifacts/test/TestWallet.json' with { type: 'json' };
import type { SignInDeclaration } from '../../modules/identity/rules/pageProof.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { revokeLicence, revokeToken } from '../../modules/licences/use/revoke.ts';
import type { PaymentEvent } from '../../modules/settlement/rules/machine.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { ALPHA_PRICING, startTestApi } from '../support/api.ts';
import { buyPage, settledBy } from '../support/boughtPage.ts';
import type { TestApi } from '../support/buyers.ts';
import { sellLicence } from '../support/buyers.ts';
import type { TestChain } from '../support/parts.ts';
import { startTestChain } from '../support/parts.ts';
import { addressOf, newAccount } from '../support/payments.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import { startRpcProxy } from '../support/rpc-proxy.ts';

let chain: TestChain;
let line: RpcProxy;
let api: TestApi;
let site: Awaited<ReturnType<TestApi['site']>>;
beforeAll(async () => {
  chain = await startTestChain();
  line = await startRpcProxy(chain.rpcUrl);
  api = await startTestApi({ rpcUrls: [line.url] });
  site = await api.site();
});
afterAll(async () => {
  await api?.stop();
  await line?.close();
  await chain?.stop();
});

type Site = typeof site;
const urlOf = (own: Site, slug: string): string => `https://${own.host}/articles/${slug}`;

/** What the offer of a page declares. */
async function declared(own: Site, slug: string): Promise<SignInDeclaration> {
  const query = new URLSearchParams({ build: '402', signIn: '1', resource: urlOf(own, slug) });
  const { body } = await api.request(`/_svc/quote?${query}`, { key: own.key });
  const offer = JSON.parse(Buffer.from(body.x402.header, 'base64').toString('utf8'));
  return offer.extensions['sign-in-with-x'];
}

/** What a client makes of it, with the library's own text and encoding; `changes` are signed, too. */
async function signed(
  { info, supportedChains }: SignInDeclaration,
  signer: PrivateKeyAccount,
  {
    address = signer.address,
    chainId,
    ...changes
  }: Partial<SignInDeclaration['info'] & { address: string; chainId: string }> = {},
): Promise<string> {
  const chosen = { ...info, ...changes, chainId: chainId ?? supportedChains[0]?.chainId ?? '', type: 'eip191' as const };
  const signature = await signer.signMessage({ message: formatSIWEMessage(chosen, address) });
  return encodeSIWxHeader({ ...chosen, address, signature });
}

async function prove(own: Site, slug: string, signInWithX: string, changes: Record<string, unknown> = {}) {
  const answer = await api.post('/_svc/license/proof', own.key, { signInWithX, resource: urlOf(own, slug), slug, ...changes });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as { entitled: boolean; license?: string; expiresAt?: number; error?: string };
}

const proveFor = async (own: Site, slug: string, signer: PrivateKeyAccount, changes: Record<string, unknown> = {}) =>
  prove(own, slug, await signed(await declared(own, slug), signer), changes);

async function entitled(own: Site, slug: string, license: string, kind = 'read'): Promise<boolean> {
  const { body } = await api.post('/_svc/license/check', own.key, { license, resource: urlOf(own, slug), slug, kind });
  return body.entitled;
}

const buy = (own: Site, slug: string, payer: string, changes: Parameters<typeof buyPage>[2] = {}) =>
  buyPage(api, { site: own, slug, payer }, changes);

async function during<T>(offsetMs: number, work: () => Promise<T>): Promise<T> {
  api.time.offsetMs = offsetMs;
  try {
    return await work();
  } finally {
    api.time.offsetMs = 0;
  }
}

const refused = (sentence: string) => ({ entitled: false, error: `unknown_credential: ${sentence}` });
const NOTHING = { entitled: false };

test('a wallet that bought a page gets its licence anew, under the same id and never for longer than it bought', async () => {
  const buyer = newAccount();
  api.time.stoppedAtMs = Math.ceil(Date.now() / 1_000) * 1_000;
  const { jti } = await buy(site, 'solo', buyer.address);
  const bought = api.time.stoppedAtMs;
  const answer = await during(200_000, () => proveFor(site, 'solo', buyer));
  expect(answer).toEqual({ entitled: true, license: expect.any(String), expiresAt: bought + 600_000 });
  const claims = JSON.parse(Buffer.from(answer.license?.split('.')[1] ?? '', 'base64url').toString('utf8'));
  expect(claims).toMatchObject({ jti, aud: `https://${site.host}`, svc: { slug: 'solo', kind: 'read', amountMicro: 0 } });
  const opens = (slug: string) => during(200_000, () => entitled(site, slug, answer.license ?? ''));
  expect([await opens('solo'), await opens('trio')]).toEqual([true, false]);
  expect(await during(599_000, () => proveFor(site, 'solo', buyer))).toMatchObject({
    entitled: true,
    expiresAt: bought + 600_000,
  });
  expect(await during(600_000, () => proveFor(site, 'solo', buyer))).toEqual(NOTHING);
  api.time.stoppedAtMs = null;
});

test('an owner grants more than the licence that came with a payment: a page opens again for so many hours, ten minutes at a time', async () => {
  const buyer = newAccount();
  const generous = await api.site({ pricing: { ...ALPHA_PRICING, readAgainHours: 24 } });
  await buy(generous, 'solo', buyer.address);
  const hour = 3_600_000;
  const late = await during(23 * hour, () => proveFor(generous, 'solo', buyer));
  expect(late).toMatchObject({ entitled: true });
  expect(Math.abs((late.expiresAt ?? 0) - Date.now() - 23 * hour - 600_000)).toBeLessThan(60_000);
  expect(await during(23 * hour, () => entitled(generous, 'solo', late.license ?? ''))).toBe(true);
  expect(await during(24 * hour + 1, () => proveFor(generous, 'solo', buyer))).toEqual(NOTHING);
  await setPricing(api.deps, { tenantId: generous.tenantId, pricing: { readAgainHours: null } });
  await expect.poll(() => during(23 * hour, () => proveFor(generous, 'solo', buyer))).toEqual(NOTHING);
  for (const readAgainHours of [0, 1.5, -1, 8_785])
    await expect(setPricing(api.deps, { tenantId: generous.tenantId, pricing: { readAgainHours } })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
});

test('a purchase that was never answered has a whole licence to come, once', async () => {
  const buyer = newAccount();
  await buy(site, 'solo', buyer.address, { jti: null });
  const first = await during(3_600_000, () => proveFor(site, 'solo', buyer));
  expect(first.entitled).toBe(true);
  expect(await during(3_600_000 + 601_000, () => proveFor(site, 'solo', buyer))).toEqual(NOTHING);
});

test('a good proof of a wallet that holds nothing here says nothing, and uses nothing up', async () => {
  const [buyer, other] = [newAccount(), newAccount()];
  await buy(site, 'solo', buyer.address);
  await buy(site, 'solo', other.address, { event: null });
  expect([
    await proveFor(site, 'solo', newAccount()),
    await proveFor(site, 'trio', buyer),
    await proveFor(site, 'solo', other),
  ]).toEqual(Array(3).fill(NOTHING));
  const late = newAccount();
  const header = await signed(await declared(site, 'solo'), late);
  expect(await prove(site, 'solo', header)).toEqual(NOTHING);
  await buy(site, 'solo', late.address);
  expect(await prove(site, 'solo', header)).toMatchObject({ entitled: true });
});

test('what a site sold opens nothing at another, and what nobody paid for nothing at all', async () => {
  const [buyer, tester] = [newAccount(), newAccount()];
  const neighbour = await api.site();
  await buy(neighbour, 'solo', buyer.address);
  await buy(site, 'solo', tester.address, { mode: 'mock' });
  expect([await proveFor(site, 'solo', buyer), await proveFor(neighbour, 'solo', buyer)]).toMatchObject([
    NOTHING,
    { entitled: true },
  ]);
  expect(await proveFor(site, 'solo', tester)).toEqual(NOTHING);
  const header = await signed(await declared(neighbour, 'solo'), buyer);
  const answer = await api.post('/_svc/license/proof', site.key, {
    signInWithX: header,
    resource: urlOf(neighbour, 'solo'),
    slug: 'solo',
  });
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([403, 'resource_not_owned']);
});

test('a host that changed hands opens nothing that the site before it sold', async () => {
  const buyer = newAccount();
  const [before, after] = [await api.site(), await api.site()];
  await buy(before, 'solo', buyer.address);
  expect((await proveFor(before, 'solo', buyer)).entitled).toBe(true);
  const moved = { host: after.host, key: `${after.host}/articles/solo` };
  await buy(before, 'solo', buyer.address, { host: moved.host, resource: urlOf(after, 'solo'), resourceKey: moved.key });
  expect(await proveFor(after, 'solo', buyer)).toEqual(NOTHING);
});

test('a citation opens the page for reading, too; a read cites nothing', async () => {
  const [citer, reader] = [newAccount(), newAccount()];
  await buy(site, 'solo', citer.address, { kind: 'citation' });
  await buy(site, 'solo', reader.address);
  const cite = { kind: 'citation' };
  expect([
    await proveFor(site, 'solo', citer, cite),
    await proveFor(site, 'solo', citer),
    await proveFor(site, 'solo', reader, cite),
  ]).toMatchObject([{ entitled: true }, { entitled: true }, NOTHING]);
});

test('a licence that was revoked never comes back, by whichever of its tokens it was revoked, until the page is bought again', async () => {
  const buyer = newAccount();
  const { jti } = await buy(site, 'solo', buyer.address);
  const anew = (await proveFor(site, 'solo', buyer)).license ?? '';
  await revokeToken(api.deps, { tenantId: site.tenantId, jti: jti ?? '' });
  expect([await proveFor(site, 'solo', buyer), await entitled(site, 'solo', anew)]).toEqual([NOTHING, false]);
  await buy(site, 'solo', buyer.address);
  expect((await proveFor(site, 'solo', buyer)).entitled).toBe(true);
});

test('a purchase that the chain took back opens nothing, until it stands again', async () => {
  const buyer = newAccount();
  const { paymentId } = await buy(site, 'solo', buyer.address);
  const tell = (event: PaymentEvent) => applyEvents(api.deps.database, [{ tenantId: site.tenantId, paymentId, event }]);
  await tell({ type: 'reorged' });
  expect(await proveFor(site, 'solo', buyer)).toEqual(NOTHING);
  await tell(settledBy());
  expect((await proveFor(site, 'solo', buyer)).entitled).toBe(true);
});

test.each([
  ['of another domain', { domain: 'evil.example' }, 'the message is for another site'],
  ['for another page', { uri: 'https://SITE/articles/trio' }, 'the message is for another page'],
  ['for another scheme', { uri: 'http://SITE:8080/articles/solo' }, 'the message is for another page'],
  ['for a chain that is not ours', { chainId: 'eip155:1' }, 'the message names a chain that is not accepted here'],
  ['from the future', { issuedAt: '2096-01-01T00:00:00.000Z' }, 'the message is not valid yet'],
  ['from long ago', { issuedAt: '2020-01-01T00:00:00.000Z' }, 'the message is too old'],
  ['that has ended', { expirationTime: '2020-01-01T00:00:00.000Z' }, 'the message has expired'],
  ['with a nonce of nobody’s', { nonce: 'f'.repeat(76) }, 'the nonce is not one of ours'],
  ['with a short nonce', { nonce: 'deadbeef' }, 'the nonce is not one of ours'],
])('a message %s is refused by a sentence, whatever its wallet bought', async (_what, changes, sentence) => {
  const buyer = newAccount();
  await buy(site, 'solo', buyer.address);
  const given = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value.replace('SITE', site.host)]));
  expect(await prove(site, 'solo', await signed(await declared(site, 'solo'), buyer, given))).toEqual(refused(sentence));
});

test('a message is good for five minutes, for its own host, with what anybody puts behind its nonce, once', async () => {
  const buyer = newAccount();
  await buy(site, 'solo', buyer.address);
  const offer = await declared(site, 'solo');
  const header = await signed(offer, buyer);
  expect(await during(300_001, () => prove(site, 'solo', header))).toMatchObject(refused('the message has expired'));
  expect(await prove(site, 'solo', header)).toMatchObject({ entitled: true });
  expect(await prove(site, 'solo', header)).toEqual(refused('the nonce was used'));
  const nonce = (end: string) => ({ nonce: `${offer.info.nonce}${end}` });
  expect(await prove(site, 'solo', await signed(offer, buyer, nonce('0a1b')))).toMatchObject({ entitled: true });
  expect(await prove(site, 'solo', await signed(offer, buyer, nonce('0a1b')))).toEqual(refused('the nonce was used'));
  expect(await prove(site, 'solo', await signed(offer, buyer, nonce('f'.repeat(20))))).toMatchObject({ entitled: true });
  expect(await prove(site, 'solo', await signed(offer, buyer, nonce('f'.repeat(21))))).toMatchObject({ entitled: false });
  const neighbour = await api.site();
  const theirs = { ...(await declared(neighbour, 'solo')).info, domain: site.host, uri: urlOf(site, 'solo') };
  expect(await prove(site, 'solo', await signed(offer, buyer, theirs))).toEqual(refused('the nonce is not one of ours'));
});

test('of twenty calls with one proof at once, one gets the licence', async () => {
  const buyer = newAccount();
  await buy(site, 'solo', buyer.address);
  const header = await signed(await declared(site, 'solo'), buyer);
  const answers = await Promise.all(Array.from({ length: 20 }, () => prove(site, 'solo', header)));
  expect(answers.filter((answer) => answer.entitled)).toHaveLength(1);
});

test('whatever stands in the header, the answer is a sentence; what is no question is 400; nothing is a defect', async () => {
  for (const bad of [
    '%%%',
    'bnVsbA==',
    Buffer.from('[1]').toString('base64'),
    Buffer.from('{"a":1}').toString('base64'),
    'a'.repeat(16_384),
  ])
    expect(await prove(site, 'solo', bad)).toEqual(refused('SIGN-IN-WITH-X is not readable'));
  const buyer = newAccount();
  const offer = await declared(site, 'solo');
  const lines = await signed(offer, buyer, { statement: 'one' });
  const sent = JSON.parse(Buffer.from(lines, 'base64').toString('utf8'));
  for (const change of [
    { statement: 'a\nURI: b' },
    { address: '0x' },
    { chainId: 'solana:x' },
    { signature: '0x' },
    { signature: 'no' },
    { uri: 'no' },
    { expirationTime: 'never' },
  ]) {
    const answer = await prove(site, 'solo', Buffer.from(JSON.stringify({ ...sent, ...change })).toString('base64'));
    expect([answer.entitled, answer.error]).toEqual([false, expect.stringMatching(/^unknown_credential: /)]);
  }
  const body = { signInWithX: lines, resource: urlOf(site, 'solo'), slug: 'solo' };
  for (const wrong of [
    { signInWithX: 'a'.repeat(16_385) },
    { signInWithX: '' },
    { signInWithX: 1 },
    { resource: 'no' },
    { slug: '' },
    { kind: 'x' },
  ])
    expect((await api.post('/_svc/license/proof', site.key, { ...body, ...wrong })).status).toBe(400);
  expect((await api.post('/_svc/license/proof', null, body)).status).toBe(401);
  expect(api.problems).toEqual([]);
});

test('the licence of a wallet’s account opens its pages one by one, while its period runs and it is not revoked', async () => {
  const buyer = newAccount();
  const { accountId } = await createBuyerAccount(api.deps, { wallet: addressOf(buyer) });
  const request = {
    host: site.host,
    scope: ['/articles/solo', '/articles/trio'],
    terms: ['ai-input'],
    periodDays: 1,
    kind: 'read' as const,
  };
  const { jti } = await sellLicence(api, accountId, request);
  const { license = '', entitled: isHeld } = await proveFor(site, 'solo', buyer);
  expect([isHeld, await entitled(site, 'solo', license), await entitled(site, 'trio', license)]).toEqual([true, true, false]);
  expect(await proveFor(site, 'duo', buyer)).toEqual(NOTHING);
  expect(await proveFor(site, 'solo', buyer, { kind: 'citation' })).toEqual(NOTHING);
  expect(await proveFor(site, 'solo', newAccount())).toEqual(NOTHING);
  expect(await during(86_400_001, () => proveFor(site, 'solo', buyer))).toEqual(NOTHING);
  await revokeLicence(api.deps, { tenantId: site.tenantId, jti });
  expect(await proveFor(site, 'solo', buyer)).toEqual(NOTHING);
});

/** An ERC-1271 wallet of that owner. */
async function deployWallet(owner: string): Promise<`0x${string}`> {
  const abi = parseAbi(['constructor(address owner, uint256 gasToBurn)']);
  const bytecode = walletArtifact.bytecode as `0x${string}`;
  const data = encodeDeployData({ abi, bytecode, args: [owner as `0x${string}`, 0n] });
  const [from] = await callChain<string[]>(chain.rpcUrl, 'eth_accounts', []);
  const hash = await callChain<string>(chain.rpcUrl, 'eth_sendTransaction', [{ from, data }]);
  const receipt = () => callChain<{ contractAddress: `0x${string}` } | null>(chain.rpcUrl, 'eth_getTransactionReceipt', [hash]);
  await expect.poll(receipt).not.toBeNull();
  return (await receipt())?.contractAddress ?? '0x';
}

test('a wallet of code shows what it bought by its owner’s signature; the chain is asked only for one that bought something', async () => {
  const [owner, stranger] = [newAccount(), newAccount()];
  const { getAddress } = await import('viem');
  const [wallet, poor] = [getAddress(await deployWallet(owner.address)), getAddress(await deployWallet(owner.address))];
  await buy(site, 'solo', wallet);
  const by = async (signer: PrivateKeyAccount, address: string) =>
    prove(site, 'solo', await signed(await declared(site, 'solo'), signer, { address }));
  const before = line.count('eth_call');
  expect(await by(owner, poor)).toEqual(refused('the signature was not made by this wallet'));
  expect(line.count('eth_call')).toBe(before);
  const header = await signed(await declared(site, 'solo'), stranger, { address: wallet });
  expect(await prove(site, 'solo', header)).toEqual(refused('the signature was not made by this wallet'));
  const asked = line.count('eth_call');
  expect(await prove(site, 'solo', header)).toEqual(refused('the signature was not made by this wallet'));
  expect(line.count('eth_call')).toBe(asked);
  expect(await by(owner, wallet)).toMatchObject({ entitled: true });
});

test('a wallet of code that paid on another chain than the one it is asked on shows nothing: another may have its address there', async () => {
  const owner = newAccount();
  const { getAddress } = await import('viem');
  const wallet = getAddress(await deployWallet(owner.address));
  await buy(site, 'solo', wallet, { network: 'eip155:8453' });
  const header = await signed(await declared(site, 'solo'), owner, { address: wallet });
  expect(await prove(site, 'solo', header)).toEqual(refused('the signature was not made by this wallet'));
});

test('licence endpoints say what a wallet may sign to come in: in a 401, and in the offer, by which it gets anew what it bought', async () => {
  const buyer = newAccount();
  const request = { host: site.host, scope: ['/articles/solo'], terms: ['ai-input'], periodDays: 1, kind: 'read' };
  const shown = (header: string, body: object = request) => api.post('/_svc/licenses', null, body, { 'sign-in-with-x': header });
  const unknown = await api.post('/_svc/licenses', null, request);
  expect([unknown.status, unknown.body.extensions['sign-in-with-x']]).toMatchObject([
    401,
    {
      info: { domain: 'svc.example', uri: 'https://svc.example' },
      supportedChains: [{ chainId: 'eip155:84532', type: 'eip191' }],
    },
  ]);
  const declaredThere = unknown.body.extensions['sign-in-with-x'] as SignInDeclaration;
  const header = await signed(declaredThere, buyer);
  const offered = await shown(header);
  expect([offered.status, (await shown(header)).status]).toEqual([402, 401]);
  const offer = JSON.parse(Buffer.from(offered.headers.get('payment-required') ?? '', 'base64').toString('utf8'));
  const inOffer = offer.extensions['sign-in-with-x'] as SignInDeclaration;
  const { accountId } = await createBuyerAccount(api.deps, { wallet: addressOf(buyer) }).catch(() => ({ accountId: '' }));
  const [own] = await api.deps.database.query<{ account_id: string }>('select account_id from buyer_account where wallet = $1', [
    addressOf(buyer),
  ]);
  expect(accountId === '' || accountId === own?.account_id).toBe(true);
  const { jti } = await sellLicence(api, own?.account_id ?? '', request as Parameters<typeof sellLicence>[2]);
  const anew = await shown(await signed(inOffer, buyer));
  expect([anew.status, anew.body]).toMatchObject([200, { jti, license: expect.any(String) }]);
  expect(await entitled(site, 'solo', anew.body.license)).toBe(true);
  const again = async (body: object) => {
    const { body: told } = await api.post('/_svc/licenses', null, body);
    return (await shown(await signed(told.extensions['sign-in-with-x'], buyer), body)).status;
  };
  expect([await again({ ...request, periodDays: 2 }), await again(request)]).toEqual([402, 200]);
  await revokeLicence(api.deps, { tenantId: site.tenantId, jti });
  expect(await again(request)).toBe(402);
});
