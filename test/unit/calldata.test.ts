import { decodeFunctionData } from 'viem';
import { expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { routerAbi, tokenAbi } from '../../platform/chain/calls/abi.ts';
import type { BatchItem } from '../../platform/chain/calls/calldata.ts';
import { planBatch } from '../../platform/chain/calls/calldata.ts';
import { carriedBy } from '../../platform/chain/evidence/carried.ts';
import {
  CONTRACT_AUTH_GAS,
  MAX_BATCH_BYTES,
  MAX_BATCH_GAS,
  MAX_BATCH_ITEMS,
  PLAIN_AUTH_GAS,
} from '../../platform/chain/gas/gas.ts';
import { payToOf, routerAddress } from '../../platform/chain/router/split.ts';

const network = { asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', router: routerAddress } as const;
const address = (number: number): Address => `0x${(number + 1).toString(16).padStart(40, '0')}`;
const wallet = (number: number) => payToOf([{ wallet: address(number), weight: 1n }]);
const split = (legs: number, salt = 0) =>
  payToOf(Array.from({ length: legs }, (_, at) => ({ wallet: address(at), weight: BigInt(1_000 + at + salt * 10_000) })));

function item(number: number, payee: ReturnType<typeof payToOf>, changes: Partial<BatchItem> = {}): BatchItem {
  const authorization = {
    from: address(500_000 + number),
    to: payee.payTo,
    value: 1_000n,
    validAfter: 0n,
    validBefore: 2_000_000_000n,
    nonce: `0x${number.toString(16).padStart(64, '0')}` as Hex,
  };
  const words = payee.words.length === 1 ? null : payee.words;
  return {
    paymentId: `pay_${number}`,
    authorization,
    signature: `0x${'1b'.repeat(65)}`,
    payTo: payee.payTo,
    words,
    payerKind: 'plain',
    ...changes,
  };
}

const bytes = (data: Hex) => (data.length - 2) / 2;

test('what a batch carried is read back from its bytes, with what each payee gets; a flush and a void carried nothing', () => {
  const sent = [item(1, split(3)), item(2, split(3)), item(3, wallet(7))];
  const back = carriedBy(planBatch(sent, network).data);
  expect(back.map(({ payer, nonce }) => [payer, nonce])).toEqual(sent.map(({ authorization: { from, nonce } }) => [from, nonce]));
  for (const { legs } of back) expect(legs.reduce((sum, { amountMicro }) => sum + amountMicro, 0n)).toBe(1_000n);
  expect(back.map(({ legs }) => legs.length)).toEqual([3, 3, 1]);
  const [alone] = carriedBy(planBatch([item(4, wallet(1))], network).data);
  expect(alone).toMatchObject({ legs: [{ toAddress: address(1), amountMicro: 1_000n }], validBefore: 2_000_000_000n });
  expect([carriedBy('0x'), carriedBy('0xdeadbeef')]).toEqual([[], []]);
});

test('a single payment to a wallet goes straight to the token', () => {
  const plan = planBatch([item(1, wallet(1))], network);
  expect(plan.to).toBe(network.asset);
  expect(decodeFunctionData({ abi: tokenAbi, data: plan.data }).functionName).toBe('transferWithAuthorization');
  expect(plan.items).toEqual([{ paymentId: 'pay_1', group: 0, item: 0 }]);
  expect(plan.leftOut).toEqual([]);
});

test('a single payment to a split goes through the router', () => {
  const plan = planBatch([item(1, split(3))], network);
  expect(plan.to).toBe(network.router);
  expect(decodeFunctionData({ abi: routerAbi, data: plan.data }).functionName).toBe('settleBatch');
});

test('payments to one payTo share a group, and every position names its payment in the call data', () => {
  const items = [item(1, wallet(1)), item(2, split(3)), item(3, wallet(1)), item(4, split(2)), item(5, split(3))];
  const plan = planBatch(items, network);
  const { args } = decodeFunctionData({ abi: routerAbi, data: plan.data });
  const [groups, gas] = args as unknown as [{ authGas: bigint; legs: Hex[]; auths: { nonce: Hex }[] }[], bigint[]];
  expect(groups.map(({ auths }) => auths.length)).toEqual([2, 2, 1]);
  expect(groups.map(({ legs }) => legs.length)).toEqual([1, 3, 2]);
  expect(gas).toEqual(plan.groups.map((group) => group.gas));
  for (const { paymentId, group, item: at } of plan.items) {
    const nonce = items.find((one) => one.paymentId === paymentId)?.authorization.nonce;
    expect(groups[group]?.auths[at]?.nonce).toBe(nonce);
  }
  expect(planBatch(items, network)).toEqual(plan);
});

test('a batch closes at 100 items, the rest waits in order', () => {
  const plan = planBatch(
    Array.from({ length: 130 }, (_, at) => item(at, split(2))),
    network,
  );
  expect(plan.items).toHaveLength(MAX_BATCH_ITEMS);
  expect(plan.leftOut).toEqual(Array.from({ length: 30 }, (_, at) => `pay_${100 + at}`));
});

test.each([
  ['different wallets', (at: number) => item(at, wallet(at))],
  ['different splits of fifty', (at: number) => item(at, split(50, at))],
  ['different splits of three', (at: number) => item(at, split(3, at))],
  ['one split of fifty', (at: number) => item(at, split(50))],
  [
    'contract wallets with long signatures',
    (at: number) => item(at, wallet(at), { payerKind: 'contract', signature: `0x${'11'.repeat(4_096)}` }),
  ],
  ['long signatures of keys', (at: number) => item(at, wallet(0), { signature: `0x${'11'.repeat(4_096)}` })],
])('a batch of %s keeps to 12 M gas and 96 KB, and is as full as that allows', (_, make) => {
  const plan = planBatch(
    Array.from({ length: 110 }, (__, at) => make(at)),
    network,
  );
  expect(plan.gasLimit).toBeLessThanOrEqual(MAX_BATCH_GAS);
  expect(bytes(plan.data)).toBeLessThanOrEqual(MAX_BATCH_BYTES);
  const closedBy = [
    plan.items.length / MAX_BATCH_ITEMS,
    Number(plan.gasLimit) / Number(MAX_BATCH_GAS),
    bytes(plan.data) / MAX_BATCH_BYTES,
  ];
  expect(Math.max(...closedBy)).toBeGreaterThan(0.75);
  expect(plan.items.length + plan.leftOut.length).toBe(110);
});

test('a batch is of one payer kind, that of its first payment, with the gas cap of that kind', () => {
  const contract = { payerKind: 'contract' } as const;
  const items = [item(1, wallet(1), contract), item(2, wallet(2)), item(3, wallet(3), contract)];
  const plan = planBatch(items, network);
  expect(plan.items.map(({ paymentId }) => paymentId)).toEqual(['pay_1', 'pay_3']);
  expect(plan.leftOut).toEqual(['pay_2']);
  const capOf = (data: Hex) =>
    (decodeFunctionData({ abi: routerAbi, data }).args as unknown as [{ authGas: bigint }[]])[0][0]?.authGas;
  expect(capOf(plan.data)).toBe(CONTRACT_AUTH_GAS);
  expect(capOf(planBatch([item(2, split(2))], network).data)).toBe(PLAIN_AUTH_GAS);
});

test('one payment always fits, and an empty batch is refused', () => {
  const huge = item(1, split(50), { signature: `0x${'11'.repeat(4_096)}`, payerKind: 'contract' });
  expect(planBatch([huge], network).items).toHaveLength(1);
  expect(() => planBatch([], network)).toThrow(RangeError);
});
