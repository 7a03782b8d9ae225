import { encodeEventTopics, pad, toEventSelector, toHex } from 'viem';
import { expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { transferRows } from '../../modules/settlement/use/batch/transferRows.ts';
import { routerAbi, tokenAbi } from '../../platform/chain/calls/abi.ts';
import type { ChainLog } from '../../platform/chain/evidence/evidence.ts';
import { evidenceFromLogs, TOPICS } from '../../platform/chain/evidence/evidence.ts';
import { baseSepoliaNetwork } from '../../platform/chain/presets.ts';

const address = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;
const [asset, router, payer, payTo, other] = [address(1), address(2), address(3), address(4), address(5)];
const nonce: Hex = `0x${'ab'.repeat(32)}`;

let next = 0;
const log = (topics: readonly unknown[], data: Hex = '0x', from: Address = asset, hash = 1): ChainLog => ({
  address: from,
  topics: topics as Hex[],
  data,
  transactionHash: toHex(hash, { size: 32 }),
  logIndex: 10 + next++,
  blockNumber: 7n,
  blockHash: toHex(7, { size: 32 }),
});
const used = (who = payer, from = asset, hash = 1) =>
  log(encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed', args: { authorizer: who, nonce } }), '0x', from, hash);
const transfer = (from: Address, to: Address, value: bigint, token = asset, hash = 1) =>
  log(encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer', args: { from, to } }), toHex(value, { size: 32 }), token, hash);
const read = (...logs: ChainLog[]) => evidenceFromLogs(logs, { asset, router });

test('the topics are those of the ABIs', () => {
  const selectors = [...tokenAbi, ...routerAbi].flatMap((one) => (one.type === 'event' ? [toEventSelector(one)] : []));
  expect(new Set(Object.values(TOPICS))).toEqual(new Set(selectors));
});

test('an authorization and the next log of the token are one piece of evidence, placed within the receipt', () => {
  const first = transfer(other, payTo, 9n);
  const [authorization, moved] = [used(), transfer(payer, payTo, 5n)];
  const { authorizations, transfers } = read(moved, first, authorization);
  expect(authorizations).toMatchObject([{ payer, nonce, to: payTo, value: 5n, position: 2, logIndex: moved.logIndex }]);
  expect(transfers).toHaveLength(2);
});

test('logs of other contracts between the two change nothing', () => {
  const { authorizations } = read(used(), transfer(payer, other, 99n, other), transfer(payer, payTo, 5n));
  expect(authorizations).toMatchObject([{ to: payTo, value: 5n, position: 2 }]);
});

test('a transfer of another payer, or of another transaction, or none, proves nothing', () => {
  expect(read(used(), transfer(other, payTo, 5n))).toMatchObject({ authorizations: [], unpaired: [{ payer, nonce }] });
  expect(read(used(payer, asset, 1), transfer(payer, payTo, 5n, asset, 2))).toMatchObject({ authorizations: [], unpaired: [{}] });
  expect(read(used())).toMatchObject({ authorizations: [], unpaired: [{}] });
  expect(read(used(payer), used(other), transfer(other, payTo, 5n))).toMatchObject({
    authorizations: [{ payer: other }],
    unpaired: [{ payer }],
  });
});

test('one transfer never proves two authorizations (twenty nonces, one real transfer, nineteen to oneself)', () => {
  const pairs = Array.from({ length: 20 }, (_, at) => [used(), transfer(payer, at === 7 ? payTo : payer, 5n)]).flat();
  const { authorizations } = read(...pairs);
  expect(authorizations.filter(({ to }) => to === payTo)).toHaveLength(1);
  expect(new Set(authorizations.map(({ logIndex }) => logIndex)).size).toBe(20);
});

test('a foreign contract that speaks like the token or the router is not heard', () => {
  const topics = encodeEventTopics({ abi: routerAbi, eventName: 'Paid', args: { payTo, token: asset } });
  const evidence = read(used(payer, other), transfer(payer, payTo, 5n, other), log(topics, toHex(5n, { size: 32 }), other));
  for (const list of Object.values(evidence)) expect(list).toEqual([]);
});

test('cancellations and the events of the router are read', () => {
  const item = encodeEventTopics({ abi: routerAbi, eventName: 'ItemFailed', args: { group: 2n, item: 3n } });
  const group = encodeEventTopics({ abi: routerAbi, eventName: 'GroupFailed', args: { group: 4n } });
  const paid = encodeEventTopics({ abi: routerAbi, eventName: 'Paid', args: { payTo, token: asset } });
  const cancelled = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationCanceled', args: { authorizer: payer, nonce } });
  const why = pad('0x08c379a0', { dir: 'right' });
  expect(
    read(log(cancelled), log(item, why, router), log(group, why, router), log(paid, toHex(8n, { size: 32 }), router)),
  ).toMatchObject({
    cancelled: [{ payer, nonce }],
    itemsFailed: [{ group: 2, item: 3, why: '0x08c379a0' }],
    groupsFailed: [{ group: 4, why: '0x08c379a0' }],
    paid: [{ payTo, total: 8n }],
  });
});

test('a Transfer of an ERC-721 form is not one of money', () => {
  const topics = [TOPICS.transfer, pad(payer), pad(payTo), pad('0x05')];
  expect(read(used(), log(topics))).toMatchObject({ authorizations: [], unpaired: [{}], transfers: [] });
});

test('rows of evidence hold every transfer, with the nonce where an authorization of its sender moved it, in its own transaction alone', () => {
  const network = baseSepoliaNetwork({ rpcUrls: ['http://127.0.0.1:1'], router });
  const own = network.asset.toLowerCase() as Address;
  const blockTime = new Date(1_000);
  const [authorization, moved] = [used(payer, own), transfer(payer, payTo, 5n, own)];
  const [split, elsewhere] = [transfer(payTo, other, 3n, own), transfer(payer, other, 7n, own, 2)];
  const evidence = evidenceFromLogs([authorization, moved, split, elsewhere], network);
  const rows = transferRows(network, evidence, blockTime);
  expect(rows).toHaveLength(3);
  expect(rows).toEqual(
    expect.arrayContaining([
      {
        network: network.id,
        token: network.asset,
        blockTime,
        blockNumber: 7n,
        blockHash: moved.blockHash,
        txHash: moved.transactionHash,
        logPosition: 1,
        logIndex: moved.logIndex,
        from: payer,
        to: payTo,
        amountMicro: 5n,
        nonce,
      },
      expect.objectContaining({ from: payTo, amountMicro: 3n, logPosition: 2, nonce: null }),
      expect.objectContaining({ txHash: elsewhere.transactionHash, amountMicro: 7n, nonce: null }),
    ]),
  );
});
