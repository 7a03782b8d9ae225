import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { encodeDeployData, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import walletArtifact from '../../contracts/artifacts/test/TestWallet.json' with { type: 'json' };
import {
  createAccountClient,
  createBuyerAccount,
  mintBuyerKey,
  revokeAccountClient,
  revokeBuyerKey,
} from '../../modules/identity/use/accounts/clients.ts';
import { openChallenge, signIn as signInTo } from '../../modules/identity/use/accounts/signIn.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { startTestApi } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { sellLicence } from '../support/buyers.ts';
import { proofOf } from '../support/licences.ts';
import type { TestChain } from '../support/parts.ts';
import { startTestChain } from '../support/parts.ts';
import { addressOf, newAccount } from '../support/payments.ts';
import { startRpcProxy } from '../support/rpc-proxy.ts';

let api: TestApi;
let chain: TestChain;
beforeAll(async () => {
  chain = await startTestChain();
  api = await startTestApi({ rpcUrls: [chain.rpcUrl] });
});
afterAll(() => api.stop());
afterAll(() => chain.stop());

/** An ERC-1271 wallet of that owner; one that burns gas is valid and too dear to ask. */
async function deployWallet(owner: string, gasToBurn = 0n): Promise<`0x${string}`> {
  const abi = parseAbi(['constructor(address owner, uint256 gasToBurn)']);
  const data = encodeDeployData({
    abi,
    bytecode: walletArtifact.bytecode as `0x${string}`,
    args: [owner as `0x${string}`, gasToBurn],
  });
  const [from] = await callChain<string[]>(chain.rpcUrl, 'eth_accounts', []);
  const hash = await callChain<string>(chain.rpcUrl, 'eth_sendTransaction', [{ from, data }]);
  const receipt = () => callChain<{ contractAddress: `0x${string}` } | null>(chain.rpcUrl, 'eth_getTransactionReceipt', [hash]);
  await expect.poll(receipt).not.toBeNull();
  return (await receipt())?.contractAddress ?? '0x';
}

const held = (key?: string, headers: Record<string, string> = {}) =>
  api.request('/_svc/licenses/held', { headers, ...(key === undefined ? {} : { key }) });
const challengeOf = async (address: string) => (await api.request(`/_svc/accounts/challenge?address=${address}`)).body;
const signIn = (message: string, signature: string) => api.post('/_svc/accounts/token', null, { message, signature });

test('a wallet signs in to an account of its own, the same one every time', async () => {
  const wallet = newAccount();
  const accounts = [];
  for (let n = 0; n < 2; n++) {
    const { message } = await challengeOf(wallet.address);
    const answer = await signIn(message, await wallet.signMessage({ message }));
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3_600 } });
    expect((await held(answer.body.access_token)).status).toBe(200);
    accounts.push(answer.body.accountId);
  }
  expect(new Set(accounts).size).toBe(1);
});

test('an account made with a wallet is the one the wallet signs in to', async () => {
  const wallet = newAccount();
  const { accountId } = await createBuyerAccount(api.deps, { wallet: addressOf(wallet) });
  const { message } = await challengeOf(wallet.address);
  expect((await signIn(message, await wallet.signMessage({ message }))).body.accountId).toBe(accountId);
});

test('a challenge is good once, for five minutes, for its wallet and this service only', async () => {
  const [wallet, other] = [newAccount(), newAccount()];
  const refused = async (message: string, signer = wallet): Promise<void> => {
    const answer = await signIn(message, await signer.signMessage({ message }));
    expect([answer.status, Object.keys(answer.body)], message.slice(0, 300)).toEqual([401, ['error', 'next']]);
  };
  const { message } = await challengeOf(wallet.address);
  await refused(message, other);
  expect((await signIn(message, await wallet.signMessage({ message }))).status).toBe(200);
  await refused(message);
  const again = (await challengeOf(wallet.address)).message;
  for (const changed of [
    again.replaceAll('svc.example', 'evil.example'),
    again.replace('Chain ID: 84532', 'Chain ID: 1'),
    again.replace(/Nonce: .*/, 'Nonce: 0123456789abcdef'),
    again.replace('Version: 1', 'Version: 2'),
    again.replace(/Expiration Time: .*/, 'Expiration Time: never'),
    `${again}\nResources:\n- https://evil.example`,
    `${again}\n`,
    again.slice(0, 40),
    'x'.repeat(3_000),
  ]) {
    await refused(changed);
  }
  api.time.offsetMs = 300_001;
  await refused(again);
  api.time.offsetMs = 0;
  expect((await signIn(again, await wallet.signMessage({ message: again }))).status).toBe(200);
});

test('SIGN-IN-WITH-X is accepted directly, once', async () => {
  const wallet = newAccount();
  const { message, ...fields } = await challengeOf(wallet.address);
  const signature = await wallet.signMessage({ message });
  const value = Buffer.from(JSON.stringify({ ...fields, type: 'eip191', signature })).toString('base64');
  expect((await held(undefined, { 'sign-in-with-x': value })).status).toBe(200);
  expect((await held(undefined, { 'sign-in-with-x': value })).status).toBe(401);
  for (const bad of ['', 'e30=', 'bnVsbA==', '%%%', Buffer.from('[1]').toString('base64')]) {
    expect((await held(undefined, { 'sign-in-with-x': bad })).status).toBe(401);
  }
});

test('a wallet of code signs in with its owner’s signature (ERC-1271), no other, and none that burns our gas', async () => {
  const [owner, stranger] = [newAccount(), newAccount()];
  const [wallet, hostile] = [await deployWallet(owner.address), await deployWallet(owner.address, 5_000_000n)];
  const { message } = await challengeOf(wallet);
  expect((await signIn(message, await stranger.signMessage({ message }))).status).toBe(401);
  expect((await signIn(message, await owner.signMessage({ message }))).status).toBe(200);
  const dear = (await challengeOf(hostile)).message;
  expect((await signIn(dear, await owner.signMessage({ message: dear }))).status).toBe(401);
});

test('a challenge stores nothing, and an invented, foreign, ended or used one costs no call of the node', async () => {
  const line = await startRpcProxy(chain.rpcUrl);
  const own = await startTestApi({ rpcUrls: [line.url] });
  const [owner, other] = [newAccount(), newAccount()];
  const wallet = await deployWallet(owner.address);
  const challenge = async (address: string): Promise<string> =>
    (await own.request(`/_svc/accounts/challenge?address=${address}`)).body.message;
  const attempt = async (message: string, signature: string) =>
    (await own.post('/_svc/accounts/token', null, { message, signature })).status;
  const stored = async () => (await own.deps.database.query('select 1 from used_once')).length;

  const message = await challenge(wallet);
  expect(await stored()).toBe(0);
  const given = /Nonce: (.*)/.exec(message)?.[1] ?? '';
  const foreign = /Nonce: (.*)/.exec(await challenge(other.address))?.[1] ?? '';
  const later = (Number.parseInt(given.slice(0, 12), 16) + 1).toString(16).padStart(12, '0');
  const invented = ['0'.repeat(32), 'f'.repeat(76), foreign, `${later}${given.slice(12)}`, `${given.slice(0, -1)}x`, 'deadbeef'];
  for (const nonce of invented) {
    const changed = message.replace(given, nonce);
    expect(await attempt(changed, await owner.signMessage({ message: changed })), nonce).toBe(401);
    expect(await attempt(changed, '0x00'), nonce).toBe(401);
  }
  expect(line.count('eth_call')).toBe(0);
  expect(await attempt(message, await owner.signMessage({ message }))).toBe(200);
  expect(line.count('eth_call')).toBe(1);
  expect(await stored()).toBe(1);
  expect(await attempt(message, await owner.signMessage({ message }))).toBe(401);
  const ended = await challenge(wallet);
  own.time.offsetMs = 300_001;
  const longer = ended.replace(/Expiration Time: .*/, `Expiration Time: ${new Date(Date.now() + 900_000).toISOString()}`);
  for (const one of [ended, longer]) expect(await attempt(one, await owner.signMessage({ message: one }))).toBe(401);
  expect(line.count('eth_call')).toBe(1);
  await own.stop();
  await line.close();
});

test('a challenge given under the pepper before is good while that is configured', async () => {
  const wallet = newAccount();
  const { message } = await challengeOf(wallet.address);
  const signature = await wallet.signMessage({ message });
  const [before, after] = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string];
  const under = (current: string, previous?: string) => ({
    ...api.deps,
    pepper: pepperOf({ apiKeyPepper: current, apiKeyPepperPrevious: previous }),
  });
  await expect(signInTo(under(after), { message, signature, from: '' })).rejects.toMatchObject({ code: 'unknown_credential' });
  const given = openChallenge(under(before), addressOf(wallet)).message;
  const signed = { message: given, signature: await wallet.signMessage({ message: given }), from: '' };
  await expect(signInTo(under(after), signed)).rejects.toMatchObject({ code: 'unknown_credential' });
  await expect(signInTo(under(after, before), signed)).resolves.toMatch(/^[0-9a-f-]{36}$/);
});

test('wallets of code have turns of their own: so many a minute, of one address fewer, and keys sign in beside it', async () => {
  const line = await startRpcProxy(chain.rpcUrl);
  const own = await startTestApi({ rpcUrls: [line.url], codeWallets: { atOnce: 2, perMinute: 2, perMinuteOfOne: 1 } });
  const [owner, stranger] = [newAccount(), newAccount()];
  const wallet = await deployWallet(owner.address);
  const attempt = async (address: string, signer: typeof owner) => {
    const { message } = (await own.request(`/_svc/accounts/challenge?address=${address}`)).body;
    return own.post('/_svc/accounts/token', null, { message, signature: await signer.signMessage({ message }) });
  };
  expect((await attempt(wallet, stranger)).status).toBe(401);
  const calls = line.count('eth_call');
  const refused = await attempt(wallet, owner);
  expect([refused.status, refused.headers.get('x-svc-error-code')]).toEqual([503, 'overloaded']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await attempt(owner.address, owner)).status).toBe(200);
  expect(line.count('eth_call')).toBe(calls);
  const elsewhere = (from: string) => {
    const { message } = openChallenge(own.deps, wallet);
    return owner.signMessage({ message }).then((signature) => signInTo(own.deps, { message, signature, from }));
  };
  await expect(elsewhere('192.0.2.1')).resolves.toMatch(/^[0-9a-f-]{36}$/);
  await expect(elsewhere('192.0.2.2')).rejects.toMatchObject({ code: 'overloaded' });
  own.time.offsetMs = 60_001;
  expect((await attempt(wallet, owner)).status).toBe(200);
  own.time.offsetMs = 0; // a clock that is set back holds nobody up until it is where it was
  expect((await attempt(wallet, owner)).status).toBe(503);
  own.time.offsetMs = 60_001;
  expect((await attempt(wallet, owner)).status).toBe(200);
  await own.stop();
  await line.close();
});

test('proofs of a licence by a wallet of code take these turns, too, so many a minute of one licence, and ask no node above them', async () => {
  const line = await startRpcProxy(chain.rpcUrl);
  const own = await startTestApi({ rpcUrls: [line.url], codeWallets: { atOnce: 2, perMinute: 9, perMinuteOfOne: 3 } });
  const [site, { accountId, token }, owner, stranger] = [
    await own.site(),
    await createBuyerAccount(own.deps),
    newAccount(),
    newAccount(),
  ];
  const holder = await deployWallet(owner.address);
  const wanted = { host: site.host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' } as const;
  const buy = async () => {
    const { jti } = await sellLicence(own, accountId, wanted);
    return (await own.post(`/_svc/licenses/${jti}/access`, token, { holder })).body.license as string;
  };
  const entitled = async (license: string, signer: typeof owner, nonce: string) => {
    const proof = await proofOf(signer, license, 'solo', `nonce-of-the-proof-${nonce}`);
    const question = { license, resource: `https://${site.host}/articles/solo`, slug: 'solo', proof };
    return (await own.post('/_svc/license/check', site.key, question)).body.entitled;
  };
  const [first, second] = [await buy(), await buy()];
  expect(await entitled(first, owner, '0')).toBe(true);
  for (let n = 1; n < 3; n++) expect(await entitled(first, stranger, `${n}`)).toBe(false);
  const calls = line.count('eth_call');
  expect(await entitled(first, owner, '3')).toBe(false);
  expect(line.count('eth_call')).toBe(calls);
  expect(await entitled(second, owner, '4')).toBe(true);
  await own.stop();
  await line.close();
});

/** Code that confirms any signature. */
const YES_CODE = '0x631626ba7e60e01b60005260206000f3';

test('a wallet of code signs in, and proves a licence, by the word of two nodes: one that lies lets nobody in, one alone is asked again', async () => {
  const elsewhere = await startTestChain();
  const [honest, liar] = [await startRpcProxy(chain.rpcUrl), await startRpcProxy(elsewhere.rpcUrl)];
  const [victim, wallet, stranger] = [newAccount(), newAccount(), newAccount()];
  await callChain(elsewhere.rpcUrl, 'anvil_mine', ['0x20']); // the highest head is asked first
  for (const { address } of [victim, wallet]) await callChain(elsewhere.rpcUrl, 'anvil_setCode', [address, YES_CODE]);
  await callChain(chain.rpcUrl, 'anvil_setCode', [wallet.address, YES_CODE]);
  for (const rpcUrls of [
    [liar.url, honest.url],
    [honest.url, liar.url],
  ]) {
    const own = await startTestApi({ rpcUrls });
    const attempt = async ({ address }: typeof victim) => {
      const { message } = (await own.request(`/_svc/accounts/challenge?address=${address}`)).body;
      return own.post('/_svc/accounts/token', null, { message, signature: await stranger.signMessage({ message }) });
    };
    const proves = async (account: typeof victim) => {
      const signed = {
        address: addressOf(account),
        message: 'a proof',
        signature: await stranger.signMessage({ message: 'a proof' }),
      };
      return own.deps.codeWallets.confirms('licence of a test', signed);
    };
    const before = honest.count('eth_call') + liar.count('eth_call');
    expect([(await attempt(victim)).status, await proves(victim)]).toEqual([401, false]);
    expect([(await attempt(wallet)).status, await proves(wallet)]).toEqual([200, true]);
    expect(honest.count('eth_call') + liar.count('eth_call') - before).toBe(8); // one of each URL for each question
    honest.set('eth_call', { kind: 'cut' });
    const alone = await attempt(victim);
    expect([alone.status, alone.headers.get('x-svc-error-code')]).toEqual([503, 'chain_unavailable']);
    expect(Number(alone.headers.get('retry-after'))).toBeGreaterThan(0);
    honest.set('eth_call', null);
    expect((await attempt(victim)).status).toBe(401);
    await own.stop();
  }
  await Promise.all([honest.close(), liar.close(), elsewhere.stop()]);
});

test('when the chain is away a wallet of code cannot be asked: 503, and keys sign in as ever', async () => {
  const away = await startTestApi();
  const [wallet, stranger] = [newAccount(), newAccount()];
  const { message } = (await away.request(`/_svc/accounts/challenge?address=${wallet.address}`)).body;
  const attempt = async (signer: typeof wallet) =>
    (await away.post('/_svc/accounts/token', null, { message, signature: await signer.signMessage({ message }) })).status;
  expect(await attempt(stranger)).toBe(503);
  expect(await attempt(wallet)).toBe(200);
  await away.stop();
});

test('malformed sign-in calls are 400', async () => {
  for (const query of ['', '?address=', '?address=0x1', `?address=0x${'a'.repeat(40)}&address=0x${'a'.repeat(40)}`]) {
    expect((await api.request(`/_svc/accounts/challenge${query}`)).status).toBe(400);
  }
  for (const body of [
    {},
    { message: '', signature: '0x00' },
    { message: 'x', signature: 'x' },
    { message: 'x', signature: 7 },
    [],
  ]) {
    expect((await api.post('/_svc/accounts/token', null, body)).status).toBe(400);
  }
});

test('svc_buyer_ keys let in until they are revoked; publisher keys, licences and forged tokens never do', async () => {
  const site = await api.site();
  const { accountId, token } = await createBuyerAccount(api.deps);
  const extra = await mintBuyerKey(api.deps, accountId);
  expect([(await held(token)).status, (await held(extra.token)).status]).toEqual([200, 200]);
  await revokeBuyerKey(api.deps, extra.token);
  expect([(await held(token)).status, (await held(extra.token)).status]).toEqual([200, 401]);
  const { keyring, baseUrl, clock } = api.deps;
  const { kid } = keyring.current();
  const now = Math.floor(clock() / 1000);
  const good = { iss: baseUrl, aud: baseUrl, sub: accountId, nbf: now, exp: now + 60, svc: { v: 1, grant: 'account' } };
  expect((await held(await keyring.sign(kid, good))).status).toBe(200);
  const forged = [
    site.key,
    `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
    'svc_buyer_',
    await keyring.sign(kid, { ...good, svc: { v: 1, grant: 'read' } }),
    await keyring.sign(kid, { ...good, aud: `https://${site.host}` }),
    await keyring.sign(kid, { ...good, iss: 'https://evil.example' }),
    await keyring.sign(kid, { ...good, exp: now }),
    await keyring.sign(kid, { ...good, nbf: now + 120 }),
    await keyring.sign(kid, { ...good, sub: 7 }),
    await keyring.sign(kid, { ...good, svc: null }),
  ];
  for (const one of forged) expect((await held(one)).status, one.slice(0, 30)).toBe(401);
  const asLicence = await keyring.sign(kid, { ...good, aud: `https://${site.host}`, iat: now, jti: 'x' });
  const check = { license: asLicence, resource: `https://${site.host}/articles/solo`, slug: 'solo' };
  expect((await api.post('/_svc/license/check', site.key, check)).body).toEqual({ entitled: false });
  expect((await api.request('/_svc/quote?slug=solo', { key: token })).status).toBe(401);
});

const form = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  api.request('/_svc/oauth/token', { method: 'POST', body: new URLSearchParams(fields), headers });
const basic = (id: string, secret: string) => ({ authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` });

test('a client with a secret gets tokens of its account until it is revoked', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  const { clientId, clientSecret } = await createAccountClient(api.deps, { accountId });
  const secret = clientSecret ?? '';
  const granted = await form({ grant_type: 'client_credentials' }, basic(clientId, secret));
  expect(granted).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3_600 } });
  expect(granted.headers.get('cache-control')).toBe('no-store');
  expect((await held(granted.body.access_token)).status).toBe(200);
  const error = async (fields: Record<string, string>, headers: Record<string, string>) => {
    const { status, body } = await form(fields, headers);
    return [status, body.error];
  };
  const grant = { grant_type: 'client_credentials' };
  expect(await error(grant, basic(clientId, `${secret}x`))).toEqual([401, 'invalid_client']);
  expect(await error(grant, basic(randomUUID(), secret))).toEqual([401, 'invalid_client']);
  expect(await error(grant, basic("' or 1=1", secret))).toEqual([401, 'invalid_client']);
  expect(await error(grant, {})).toEqual([401, 'invalid_client']);
  expect(await error({ ...grant, client_id: clientId, client_secret: secret }, {})).toEqual([401, 'invalid_client']);
  expect(await error({}, basic(clientId, secret))).toEqual([400, 'invalid_request']);
  expect(await error({ grant_type: 'password' }, basic(clientId, secret))).toEqual([400, 'unsupported_grant_type']);
  const stored = await api.deps.database.query<{ text: string }>(
    'select oauth_client::text as text from oauth_client where client_id = $1',
    [clientId],
  );
  expect(stored[0]?.text).not.toContain(secret);
  await revokeAccountClient(api.deps, clientId);
  expect(await error(grant, basic(clientId, secret))).toEqual([401, 'invalid_client']);
});

test('a client with public keys signs each request; an assertion counts once', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] };
  const { clientId, clientSecret } = await createAccountClient(api.deps, { accountId, jwks });
  expect(clientSecret).toBeNull();
  const assert = (changes: Record<string, unknown> = {}, alg = 'ES256', key: Parameters<SignJWT['sign']>[0] = privateKey) =>
    new SignJWT({
      iss: clientId,
      sub: clientId,
      aud: api.deps.baseUrl,
      jti: randomUUID(),
      exp: Math.floor(Date.now() / 1000) + 60,
      ...changes,
    })
      .setProtectedHeader({ alg, kid: 'one' })
      .sign(key);
  const ask = (client_assertion: string, changes: Record<string, string> = {}) =>
    form({
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion,
      ...changes,
    });
  const good = await assert();
  expect((await ask(good)).status).toBe(200);
  expect((await ask(good)).body.error).toBe('invalid_client');
  expect((await ask(await assert({ aud: `${api.deps.baseUrl}/_svc/oauth/token` }))).status).toBe(200);
  const stranger = await generateKeyPair('ES256');
  const bad = [
    await assert({ aud: 'https://evil.example' }),
    await assert({ iss: randomUUID() }),
    await assert({ exp: Math.floor(Date.now() / 1000) - 120 }),
    await assert({ exp: Math.floor(Date.now() / 1000) + 3_600 }),
    await assert({ jti: undefined }),
    await assert({ jti: 'a\u0000b' }),
    await assert({ jti: '\ud800' }),
    await assert({ exp: undefined }),
    await assert({}, 'ES256', stranger.privateKey),
    await assert({}, 'HS256', new TextEncoder().encode(JSON.stringify(jwks.keys[0]))),
    'x.y.z',
    `${'x'.repeat(9_000)}`,
  ];
  for (const one of bad) expect((await ask(one)).status, one.slice(0, 60)).toBe(401);
  expect((await ask(await assert(), { client_assertion_type: 'x' })).status).toBe(401);
  await expect(createAccountClient(api.deps, { accountId, jwks: { keys: [{ kty: 'oct', k: 'AA' }] } })).rejects.toMatchObject({
    code: 'invalid_parameter',
  });
});

test('the authorization server describes itself (RFC 8414)', async () => {
  const { status, body } = await api.request('/.well-known/oauth-authorization-server');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    issuer: 'https://svc.example',
    token_endpoint: 'https://svc.example/_svc/oauth/token',
    jwks_uri: 'https://svc.example/.well-known/jwks.json',
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
  });
});

test('without a signing key nobody gets a token, and the challenge stays unused', async () => {
  const bare = await startTestApi({ signingKey: null });
  const wallet = newAccount();
  const { message } = (await bare.request(`/_svc/accounts/challenge?address=${wallet.address}`)).body;
  const answer = await bare.post('/_svc/accounts/token', null, { message, signature: await wallet.signMessage({ message }) });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
  expect(await bare.deps.database.query('select 1 from used_once')).toHaveLength(0);
  await bare.stop();
});
