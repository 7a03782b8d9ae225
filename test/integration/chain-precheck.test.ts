import { encodeDeployData, encodeFunctionData, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import walletArtifact from '../../contracts/artifacts/test/TestWallet.json' with { type: 'json' };
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { tokenAbi } from '../../platform/chain/calls/abi.ts';
import { planBatch } from '../../platform/chain/calls/calldata.ts';
import { findAccountsWithCode } from '../../platform/chain/calls/codeSize.ts';
import { lookAtNonces } from '../../platform/chain/evidence/states.ts';
import type { Network } from '../../platform/chain/network.ts';
import { precheck } from '../../platform/chain/precheck.ts';
import { findBlockedPayees, simulateGroups } from '../../platform/chain/router/payees.ts';
import { payToOf } from '../../platform/chain/router/split.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import { checkSignature } from '../../platform/chain/signature/contractWallet.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { testTokenAbi } from '../support/abi.ts';
import type { TestChain } from '../support/parts.ts';
import { startTestChain } from '../support/parts.ts';
import { addressOf, newAccount, newWallet, paymentFor, signPayment, testNetwork } from '../support/payments.ts';

let chain: TestChain;
let network: Network;
let rpc: Rpc;
const rich = newAccount();
const author: Address = newWallet();
const single = payToOf([{ wallet: author, weight: 1n }]);

beforeAll(async () => {
  chain = await startTestChain({ mint: [{ to: addressOf(rich), amountMicro: 50_000_000n }] });
  network = testNetwork(chain);
  rpc = createRpc(network);
});
afterAll(() => rpc.close());
afterAll(() => chain.stop());

async function send(transaction: { readonly to?: Address; readonly data: Hex; readonly from?: Address }): Promise<Address> {
  const [from] = await callChain<Address[]>(chain.rpcUrl, 'eth_accounts', []);
  const hash = await callChain<Hex>(chain.rpcUrl, 'eth_sendTransaction', [{ from, ...transaction }]);
  for (;;) {
    const receipt = await callChain<{ status: Hex; contractAddress: Address } | null>(chain.rpcUrl, 'eth_getTransactionReceipt', [
      hash,
    ]);
    if (receipt?.status === '0x0') throw new Error('the transaction of a test failed');
    if (receipt) return receipt.contractAddress;
  }
}

const walletAbi = parseAbi(['constructor(address owner, uint256 gasToBurn)']);
const deployWallet = (owner: Address, gasToBurn = 0n) =>
  send({ data: encodeDeployData({ abi: walletAbi, bytecode: walletArtifact.bytecode as Hex, args: [owner, gasToBurn] }) });
const block = (account: Address, functionName: 'blacklist' | 'unBlacklist' = 'blacklist') =>
  send({ to: network.asset, data: encodeFunctionData({ abi: testTokenAbi, functionName, args: [account] }) });
const asset = () => ({ to: network.asset });

test('a batch is judged in one call: paid, no money, wrong signature, expired, not yet valid', async () => {
  const poor = newAccount();
  const good = await paymentFor(network, rich, single, 1_000n);
  const items = [
    good,
    await paymentFor(network, poor, single, 1_000n),
    { ...(await paymentFor(network, rich, single, 1_000n)), signature: good.signature, paymentId: 'wrong' },
    await paymentFor(network, rich, single, 1_000n, { validBefore: 1n }),
    await paymentFor(network, rich, single, 1_000n, { validAfter: 99_999_999_999n, validBefore: 99_999_999_999_999n }),
  ];
  const blockNumber = async () => BigInt(await callChain<Hex>(chain.rpcUrl, 'eth_blockNumber', []));
  const earliest = await blockNumber();
  const results = await precheck(rpc, network, items);
  const latest = await blockNumber(); // a block is made every second, and may be while it is judged
  expect(results.map(({ paymentId }) => paymentId)).toEqual(items.map(({ paymentId }) => paymentId));
  expect(results.map(({ outcome }) => (outcome.kind === 'refused' ? outcome.reason : outcome.kind))).toEqual([
    'passed',
    'insufficient_funds',
    'authorization_invalid',
    'authorization_invalid',
    'authorization_invalid',
  ]);
  expect(results[0]).toMatchObject({ nonceUsed: false, balance: 50_000_000n, payerKind: 'plain' });
  expect(results[0]?.blockNumber).toBeGreaterThanOrEqual(earliest);
  expect(results[0]?.blockNumber).toBeLessThanOrEqual(latest);
});

test('of two payments of one payer with money for one, the second fails as it would on chain', async () => {
  const payer = newAccount();
  await mintUsdc(chain.rpcUrl, addressOf(payer), 1_500n);
  const items = [await paymentFor(network, payer, single, 1_000n), await paymentFor(network, payer, single, 1_000n)];
  const results = await precheck(rpc, network, items);
  expect(results.map(({ outcome }) => outcome.kind)).toEqual(['passed', 'refused']);
  expect(results.map(({ balance }) => balance)).toEqual([1_500n, 1_500n]);
});

test('a used and a cancelled nonce are nonce_used, which decides nothing by itself', async () => {
  const used = await paymentFor(network, rich, single, 1_000n);
  await send({ ...asset(), data: planBatch([used], network).data });
  const cancelled = await paymentFor(network, rich, single, 1_000n);
  const signature = await rich.signTypedData({
    domain: { name: 'USDC', version: '2', chainId: network.chainId, verifyingContract: network.asset },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: rich.address, nonce: cancelled.authorization.nonce },
  });
  const args = [rich.address, cancelled.authorization.nonce, signature] as const;
  await send({ ...asset(), data: encodeFunctionData({ abi: tokenAbi, functionName: 'cancelAuthorization', args }) });
  const results = await precheck(rpc, network, [used, cancelled]);
  expect(results).toMatchObject([{ nonceUsed: true, outcome: { kind: 'nonce_used' } }, { outcome: { kind: 'nonce_used' } }]);
});

test('a hundred payments are judged by one request for reads and simulations and one for code', async () => {
  const items = await Promise.all(Array.from({ length: 100 }, () => paymentFor(network, rich, single, 1_000n)));
  let requests = 0;
  const counted: Rpc = {
    ...rpc,
    request(method, params) {
      requests += 1;
      return rpc.request(method, params);
    },
  };
  const results = await precheck(counted, network, items);
  expect(results.every(({ outcome }) => outcome.kind === 'passed')).toBe(true);
  expect(requests).toBe(2);
});

test('where the EVM tells the number of another chain, the block of a look is asked of ArbSys, in the same state', async () => {
  // Runs PUSH4 123456789, MSTORE, RETURN: what answers at the precompile's address.
  const code = '0x63075bcd1560005260206000f3';
  await callChain(chain.rpcUrl, 'anvil_setCode', ['0x0000000000000000000000000000000000000064', code]);
  const item = await paymentFor(network, rich, single, 1_000n);
  const pairs = [{ payer: addressOf(rich), nonce: item.authorization.nonce }];
  const onArbitrum = { ...network, blockNumberFrom: 'arbsys' } as const;
  expect(await lookAtNonces(rpc, onArbitrum, pairs)).toEqual({ blockNumber: 123_456_789n, used: [false] });
  expect(await precheck(rpc, onArbitrum, [item])).toMatchObject([{ blockNumber: 123_456_789n, outcome: { kind: 'passed' } }]);
  const head = BigInt(await rpc.request<Hex>('eth_blockNumber', []));
  expect((await lookAtNonces(rpc, network, pairs)).blockNumber - head).toBeLessThanOrEqual(1n);
});

test('an ERC-1271 wallet is asked, and its payment passes alone under the gas cap', async () => {
  const owner = newAccount();
  const wallet = await deployWallet(addressOf(owner));
  await mintUsdc(chain.rpcUrl, wallet, 5_000n);
  const item = await paymentFor(network, owner, single, 1_000n, { from: wallet, payerKind: 'contract' });
  expect(await checkSignature(rpc, network, { ...item, erc6492: false })).toEqual({ ok: true, payerKind: 'contract' });
  const [other, own] = await precheck(rpc, network, [await paymentFor(network, rich, single, 1_000n), item]);
  expect(other).toMatchObject({ payerKind: 'plain', outcome: { kind: 'passed' } });
  expect(own).toMatchObject({ payerKind: 'contract', balance: 5_000n, outcome: { kind: 'passed' } });
});

test('a wallet that burns five million gas is refused at signature and at precheck, its neighbour passes', async () => {
  const owner = newAccount();
  const wallet = await deployWallet(addressOf(owner), 5_000_000n);
  await mintUsdc(chain.rpcUrl, wallet, 5_000n);
  const item = await paymentFor(network, owner, single, 1_000n, { from: wallet, payerKind: 'contract' });
  expect(await checkSignature(rpc, network, { ...item, erc6492: false })).toMatchObject({
    ok: false,
    reason: 'authorization_invalid',
  });
  const [other, own] = await precheck(rpc, network, [await paymentFor(network, rich, single, 1_000n), item]);
  expect(other).toMatchObject({ outcome: { kind: 'passed' } });
  expect(own).toMatchObject({ outcome: { kind: 'refused', reason: 'authorization_invalid' } });
});

test('another key than the wallet’s owner, another key than the payer’s, and ERC-6492 are refused', async () => {
  const wallet = await deployWallet(addressOf(newAccount()));
  const foreign = await signPayment(network, newAccount(), { from: wallet, to: author, value: 1n });
  const forged = await signPayment(network, newAccount(), { from: addressOf(rich), to: author, value: 1n });
  const wrapped = await signPayment(network, rich, { to: author, value: 1n });
  const { assetName: name, assetVersion: version, chainId, asset: verifyingContract } = network;
  const mend = { action: 'fix_domain', domain: { name, version, chainId, verifyingContract } };
  for (const payment of [foreign, forged]) {
    const refusal = { ok: false, raw: 'invalid_exact_evm_signature', next: mend };
    expect(await checkSignature(rpc, network, { ...payment, erc6492: false })).toMatchObject(refusal);
  }
  expect(await checkSignature(rpc, network, { ...wrapped, erc6492: true })).toMatchObject({
    ok: false,
    raw: 'eip6492_factory_not_allowed',
  });
});

test('a key’s own signature needs no node at all', async () => {
  const dead = createRpc({ id: network.id, rpcUrls: ['http://127.0.0.1:1'] });
  const signed = await signPayment(network, rich, { to: author, value: 1n });
  expect(await checkSignature(dead, network, { ...signed, erc6492: false })).toEqual({ ok: true, payerKind: 'plain' });
  const forged = await signPayment(network, newAccount(), { from: addressOf(rich), to: author, value: 1n });
  await expect(checkSignature(dead, network, { ...forged, erc6492: false })).rejects.toMatchObject({ code: 'chain_unavailable' });
  await dead.close();
});

test('an EIP-7702 account that signed with its key has code: it counts as a wallet and its delegate decides', async () => {
  const delegate = await deployWallet(addressOf(newAccount()));
  const payer = privateKeyToAccount(generatePrivateKey());
  await mintUsdc(chain.rpcUrl, addressOf(payer), 5_000n);
  await callChain(chain.rpcUrl, 'anvil_setCode', [addressOf(payer), `0xef0100${delegate.slice(2)}`]);
  const item = await paymentFor(network, payer, single, 1_000n);
  expect(await findAccountsWithCode(rpc, [addressOf(payer), addressOf(rich), addressOf(payer)])).toEqual(
    new Set([addressOf(payer)]),
  );
  expect(await checkSignature(rpc, network, { ...item, erc6492: false })).toEqual({ ok: true, payerKind: 'plain' });
  const [other, own] = await precheck(rpc, network, [await paymentFor(network, rich, single, 1_000n), item]);
  expect(other).toMatchObject({ payerKind: 'plain', outcome: { kind: 'passed' } });
  expect(own).toMatchObject({ payerKind: 'contract', outcome: { kind: 'refused', reason: 'authorization_invalid' } });
});

test('a group whose author is blocked is found, the other groups are fine, and the blocked wallet is named', async () => {
  const blocked = newWallet();
  await block(blocked);
  const bad = payToOf([
    { wallet: author, weight: 2n },
    { wallet: blocked, weight: 1n },
  ]);
  const good = payToOf([
    { wallet: author, weight: 3n },
    { wallet: newWallet(), weight: 1n },
  ]);
  const poor = payToOf([
    { wallet: author, weight: 5n },
    { wallet: newWallet(), weight: 1n },
  ]);
  const items = [
    await paymentFor(network, rich, bad, 1_000n),
    await paymentFor(network, rich, good, 1_000n),
    await paymentFor(network, newAccount(), poor, 1_000n),
  ];
  const simulated = await simulateGroups(rpc, network, planBatch(items, network).groups);
  expect(simulated.map(({ payTo, kind }) => [payTo, kind])).toEqual([
    [bad.payTo, 'payee_reverts'],
    [good.payTo, 'ok'],
    [poor.payTo, 'nothing_pulled'],
  ]);
  expect(await findBlockedPayees(rpc, network, [author, blocked, newWallet()])).toEqual([blocked]);
  await block(blocked, 'unBlacklist');
  expect(await findBlockedPayees(rpc, network, [author, blocked])).toEqual([]);
});
