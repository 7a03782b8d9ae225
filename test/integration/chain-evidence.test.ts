import { encodeFunctionData } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { tokenAbi } from '../../platform/chain/calls/abi.ts';
import type { BatchItem } from '../../platform/chain/calls/calldata.ts';
import { planBatch } from '../../platform/chain/calls/calldata.ts';
import { evidenceFromLogs } from '../../platform/chain/evidence/evidence.ts';
import type { Receipt } from '../../platform/chain/evidence/receipts.ts';
import {
  blockNumbers,
  blockTimeSeconds,
  listTransfers,
  receiptOf,
  waitForReceipt,
} from '../../platform/chain/evidence/receipts.ts';
import { readSights } from '../../platform/chain/evidence/sight.ts';
import { chooseFees, replaceFees } from '../../platform/chain/gas/fees.ts';
import type { Network } from '../../platform/chain/network.ts';
import { verifyNetwork } from '../../platform/chain/network.ts';
import { payToOf } from '../../platform/chain/router/split.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import type { SignedTransaction } from '../../platform/chain/transaction.ts';
import {
  baseFeeOf,
  gasBalance,
  sendRaw,
  signSelfTransfer,
  signTransaction,
  transactionCount,
} from '../../platform/chain/transaction.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import type { TestChain } from '../support/parts.ts';
import { startTestChain } from '../support/parts.ts';
import { addressOf, newAccount, newWallet, paymentFor, testNetwork } from '../support/payments.ts';

let chain: TestChain;
let network: Network;
let rpc: Rpc;
const relayerKey = generatePrivateKey();
const relayer = localSigner(relayerKey).address;
const payer = newAccount();
const [author, coauthor]: readonly [Address, Address] = [newWallet(), newWallet()];
const single = payToOf([{ wallet: author, weight: 1n }]);
const duo = payToOf([
  { wallet: author, weight: 2n },
  { wallet: coauthor, weight: 1n },
]);

beforeAll(async () => {
  chain = await startTestChain(
    { relayers: [relayer], mint: [{ to: addressOf(payer), amountMicro: 50_000_000n }] },
    { blockTimeSeconds: null },
  );
  network = testNetwork(chain);
  rpc = createRpc(network);
});
afterAll(() => rpc.close());
afterAll(() => chain.stop());

interface Signing {
  readonly nonce?: number;
  readonly gasLimit?: bigint;
  readonly key?: Hex;
}

async function sign(
  to: Address,
  data: Hex,
  { nonce, gasLimit = 1_000_000n, key = relayerKey }: Signing = {},
): Promise<SignedTransaction> {
  const at = nonce ?? (await transactionCount(rpc, localSigner(key).address, 'pending'));
  const fees = chooseFees(network, await baseFeeOf(rpc));
  return signTransaction(localSigner(key), { chainId: network.chainId, nonce: at, to, data, gasLimit, fees });
}

async function mined({ raw, hash }: SignedTransaction): Promise<Receipt> {
  expect(await sendRaw(rpc, raw)).toEqual({ kind: 'accepted', detail: hash });
  const receipt = await waitForReceipt(rpc, [hash], { timeoutMs: 20_000, pollMs: 20 });
  if (!receipt) throw new Error('not mined');
  return receipt;
}

async function settle(items: readonly BatchItem[]): Promise<Receipt> {
  const plan = planBatch(items, network);
  return mined(await sign(plan.to, plan.data, { gasLimit: plan.gasLimit }));
}

test('the network agrees with its configuration, and each difference is named', async () => {
  await verifyNetwork(network, rpc);
  const against = (changes: Partial<Network>) => verifyNetwork({ ...network, ...changes }, rpc);
  await expect(against({ assetName: 'USD Coin' })).rejects.toThrow(/name is "USDC", configured is "USD Coin"/);
  await expect(against({ assetVersion: '1' })).rejects.toThrow(/version/);
  await expect(against({ chainId: 8453, id: 'eip155:8453' })).rejects.toThrow(/answers for chain 84532/);
  await expect(against({ router: newWallet() })).rejects.toThrow(/router/);
});

test('a lone single-author payment goes straight to the token and leaves one piece of evidence', async () => {
  const item = await paymentFor(network, payer, single, 1_234n);
  const receipt = await settle([item]);
  expect(receipt.status).toBe('success');
  const { authorizations, unpaired, paid } = evidenceFromLogs(receipt.logs, network);
  const place = { txHash: receipt.hash, blockNumber: receipt.blockNumber, blockHash: receipt.blockHash, position: 1 };
  const { from, nonce } = item.authorization;
  expect(authorizations).toMatchObject([{ payer: from, nonce, to: author, value: 1_234n, ...place }]);
  expect([unpaired, paid]).toEqual([[], []]);
});

test('a mixed batch settles what can settle; each failed item and group is named where the plan says it sits', async () => {
  const good = [await paymentFor(network, payer, single, 1_000n), await paymentFor(network, payer, duo, 1_001n)];
  const poor = await paymentFor(network, newAccount(), duo, 1_000n);
  const again = await paymentFor(network, payer, duo, 2_000n);
  const items = [...good, poor, again];
  const plan = planBatch(items, network);
  const receipt = await mined(await sign(plan.to, plan.data, { gasLimit: plan.gasLimit }));
  const evidence = evidenceFromLogs(receipt.logs, network);
  const settled = [...good, again].map(({ authorization: { nonce, to, value } }) => ({ nonce, to, value }));
  expect(evidence.authorizations.map(({ nonce, to, value }) => ({ nonce, to, value }))).toEqual(settled);
  const { group, item } = plan.items.find(({ paymentId }) => paymentId === poor.paymentId) ?? {};
  expect(evidence.itemsFailed).toMatchObject([{ group, item, txHash: receipt.hash }]);
  expect(evidence.paid.map(({ payTo, total }) => [payTo, total])).toEqual([[duo.payTo, 3_001n]]);
  const outOfSplit = evidence.transfers.filter(({ from }) => from === duo.payTo).map(({ to, value }) => [to, value]);
  expect(outOfSplit).toEqual([
    [author, 2_002n],
    [coauthor, 999n],
  ]);
  expect(new Set(evidence.transfers.map(({ logIndex }) => logIndex)).size).toBe(evidence.transfers.length);
});

test('a full batch is mined within its gas limit and pays everyone in it', async () => {
  const groups = [single, duo, ...Array.from({ length: 6 }, () => payToOf([{ wallet: newWallet(), weight: 1n }]))];
  const items = await Promise.all(
    Array.from({ length: 100 }, (_, at) => paymentFor(network, payer, groups[at % 8] ?? single, 1_000n)),
  );
  const plan = planBatch(items, network);
  const receipt = await mined(await sign(plan.to, plan.data, { gasLimit: plan.gasLimit }));
  expect(receipt.status).toBe('success');
  expect(evidenceFromLogs(receipt.logs, network).authorizations).toHaveLength(plan.items.length);
  expect(plan.items.length + plan.leftOut.length).toBe(100);
});

/** What the chain shows of one authorization, from a block on. */
async function seen({ from, nonce }: { readonly from: Address; readonly nonce: Hex }, sinceBlock: bigint) {
  const { sights } = await readSights(rpc, network, [{ payer: from, nonce, hashes: [], sinceBlock }], { atSafe: true });
  return sights[0];
}

test('a front-run authorization is found by its nonce, with the transaction that used it', async () => {
  const item = await paymentFor(network, payer, duo, 777n);
  const { latest } = await blockNumbers(rpc);
  const { from, nonce } = item.authorization;
  expect(await seen({ from, nonce }, latest)).toMatchObject({ nonce: 'unused', spending: null });
  const direct = planBatch([{ ...item, words: null }], network);
  const receipt = await mined(await sign(direct.to, direct.data, { gasLimit: direct.gasLimit }));
  const timeSeconds = await blockTimeSeconds(rpc, receipt.blockNumber);
  expect(await seen({ from, nonce }, latest)).toMatchObject({
    nonce: 'used',
    spending: { kind: 'transfer', to: duo.payTo, valueMicro: 777n, transfer: { txHash: receipt.hash }, timeSeconds },
  });
  // Looked for too late, it is used and nothing more is said: that decides nothing.
  await callChain(chain.rpcUrl, 'anvil_mine', ['0x60']);
  expect(await seen({ from, nonce }, receipt.blockNumber + 90n)).toMatchObject({ nonce: 'used', spending: null });
  const toSplit = await listTransfers(rpc, network, { fromBlock: latest + 1n, toBlock: receipt.blockNumber, to: [duo.payTo] });
  expect(toSplit.map(({ transactionHash }) => transactionHash)).toEqual([receipt.hash]);
});

test('a cancelled authorization is found as cancelled', async () => {
  const { authorization } = await paymentFor(network, payer, single, 1n);
  const signature = await payer.signTypedData({
    domain: { name: 'USDC', version: '2', chainId: network.chainId, verifyingContract: network.asset },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce: authorization.nonce },
  });
  const args = [payer.address, authorization.nonce, signature] as const;
  const receipt = await mined(
    await sign(network.asset, encodeFunctionData({ abi: tokenAbi, functionName: 'cancelAuthorization', args })),
  );
  const spending = { kind: 'cancelled', blockNumber: receipt.blockNumber };
  expect(await seen(authorization, 0n)).toMatchObject({ nonce: 'used', spending });
});

test('an unused nonce is read at the safe block, too, with the time of that block', async () => {
  const { authorization } = await paymentFor(network, payer, single, 1_000n);
  await callChain(chain.rpcUrl, 'anvil_mine', ['0x40']);
  const { safe } = await blockNumbers(rpc);
  const timeSeconds = await blockTimeSeconds(rpc, safe);
  expect(await seen(authorization, safe)).toMatchObject({ safe: { blockNumber: safe, timeSeconds, nonce: 'unused' } });
});

test('two hundred authorizations are read with one call for their nonces and one log query, however many are used', async () => {
  const items = await Promise.all(Array.from({ length: 40 }, () => paymentFor(network, payer, single, 1_000n)));
  const { latest } = await blockNumbers(rpc);
  await settle(items.slice(0, 20));
  const methods: string[] = [];
  const counted: Rpc = {
    ...rpc,
    request: (method, params, options) => {
      methods.push(method);
      return rpc.request(method, params, options);
    },
  };
  const asks = Array.from({ length: 200 }, (_, at) => {
    const { from, nonce } = items[at % 40]?.authorization ?? { from: author, nonce: '0x' as Hex };
    return { payer: from, nonce, hashes: [], sinceBlock: latest };
  });
  const { sights } = await readSights(counted, network, asks, { atSafe: true });
  expect(sights.filter(({ nonce }) => nonce === 'used')).toHaveLength(100);
  expect(sights.filter(({ spending }) => spending?.kind === 'transfer')).toHaveLength(100);
  const count = (method: string) => methods.filter((one) => one === method).length;
  expect({ calls: count('eth_call'), logs: count('eth_getLogs'), receipts: count('eth_getTransactionReceipt') }).toEqual({
    calls: 2, // at the newest and at the safe block
    logs: 1,
    receipts: 1,
  });
});

test('a log whose receipt stands in another block is no evidence: the nonce is used and nothing more is said', async () => {
  const item = await paymentFor(network, payer, single, 1_000n);
  const { latest } = await blockNumbers(rpc);
  await settle([item]);
  const moved: Rpc = {
    ...rpc,
    request: async <T>(method: string, params: readonly unknown[]): Promise<T> => {
      const answer = await rpc.request<T>(method, params);
      return method === 'eth_getTransactionReceipt' ? { ...answer, blockHash: `0x${'77'.repeat(32)}` } : answer;
    },
  };
  const { from: payerAddress, nonce } = item.authorization;
  const ask = { payer: payerAddress, nonce, hashes: [], sinceBlock: latest };
  const { sights } = await readSights(moved, network, [ask], { atSafe: false });
  expect(sights).toMatchObject([{ nonce: 'used', spending: null }]);
});

test('the same bytes sent twice are known or mined, never a failure', async () => {
  const signed = await sign(single.payTo, '0x');
  await callChain(chain.rpcUrl, 'evm_setAutomine', [false]);
  expect(await sendRaw(rpc, signed.raw)).toMatchObject({ kind: 'accepted' });
  expect(await sendRaw(rpc, signed.raw)).toMatchObject({ kind: 'known' });
  expect(await receiptOf(rpc, signed.hash)).toBeNull();
  expect(await waitForReceipt(rpc, [signed.hash], { timeoutMs: 60, pollMs: 20 })).toBeNull();
  await callChain(chain.rpcUrl, 'evm_mine', []);
  await callChain(chain.rpcUrl, 'evm_setAutomine', [true]);
  expect(await sendRaw(rpc, signed.raw)).toMatchObject({ kind: 'nonce_too_low' });
});

test('a stuck transaction is replaced at its nonce; either hash finds the one that was mined', async () => {
  await callChain(chain.rpcUrl, 'evm_setAutomine', [false]);
  const nonce = await transactionCount(rpc, relayer, 'latest');
  const fees = chooseFees(network, await baseFeeOf(rpc));
  const request = { chainId: network.chainId, nonce, to: single.payTo, data: '0x', gasLimit: 30_000n, fees } as const;
  const stuck = await signTransaction(localSigner(relayerKey), request);
  expect(await signTransaction(localSigner(relayerKey), request)).toEqual(stuck);
  expect(await sendRaw(rpc, stuck.raw)).toMatchObject({ kind: 'accepted' });
  expect(
    await sendRaw(rpc, (await signSelfTransfer(localSigner(relayerKey), { chainId: network.chainId, nonce, fees })).raw),
  ).toMatchObject({
    kind: 'replacement_underpriced',
  });
  const dearer = replaceFees(network, fees);
  if (!dearer) throw new Error('at the cap');
  const replacement = await signTransaction(localSigner(relayerKey), { ...request, fees: dearer });
  expect(await sendRaw(rpc, replacement.raw)).toMatchObject({ kind: 'accepted' });
  expect(await transactionCount(rpc, relayer, 'pending')).toBe(nonce + 1);
  await callChain(chain.rpcUrl, 'evm_mine', []);
  await callChain(chain.rpcUrl, 'evm_setAutomine', [true]);
  const receipt = await waitForReceipt(rpc, [stuck.hash, replacement.hash], { timeoutMs: 5_000 });
  expect(receipt?.hash).toBe(replacement.hash);
  expect(await transactionCount(rpc, relayer, 'latest')).toBe(nonce + 1);
});

test('what a node refuses for good, a relayer without gas money, and a dead node are told apart', async () => {
  const tooMuchGas = await sign(single.payTo, '0x', { gasLimit: 16_777_217n });
  expect(await sendRaw(rpc, tooMuchGas.raw)).toMatchObject({ kind: 'refused' });
  const tooLittleGas = await sign(single.payTo, '0x', { gasLimit: 20_000n });
  expect(await sendRaw(rpc, tooLittleGas.raw)).toMatchObject({ kind: 'refused' });
  expect(await sendRaw(rpc, '0x02c0')).toMatchObject({ kind: 'refused' });
  const broke = await sign(single.payTo, '0x', { key: generatePrivateKey() });
  expect(await sendRaw(rpc, broke.raw)).toMatchObject({ kind: 'relayer_broke' });
  const dead = createRpc({ id: network.id, rpcUrls: ['http://127.0.0.1:1'] });
  expect(await sendRaw(dead, broke.raw)).toMatchObject({ kind: 'unavailable' });
  await dead.close();
  expect(await gasBalance(rpc, relayer)).toBeGreaterThan(0n);
});

test('after a reorg the receipt is gone and the nonce is unused', async () => {
  const item = await paymentFor(network, payer, single, 1_000n);
  const receipt = await settle([item]);
  await callChain(chain.rpcUrl, 'anvil_reorg', [1, []]);
  expect(await receiptOf(rpc, receipt.hash)).toBeNull();
  expect(await seen(item.authorization, receipt.blockNumber)).toMatchObject({ nonce: 'unused', spending: null });
});
