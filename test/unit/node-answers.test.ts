/** Which answers of a node can be read, by their method. */
import { expect, test } from 'vitest';
import { findAccountsWithCode } from '../../platform/chain/calls/codeSize.ts';
import { isReadable } from '../../platform/chain/rpc/answers.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { RpcError } from '../../platform/chain/rpc/rpc.ts';

const HASH = `0x${'1A'.repeat(32)}`;
const OTHER = `0x${'2b'.repeat(32)}`;
const ADDRESS = `0x${'3c'.repeat(20)}`;
const log = {
  address: ADDRESS,
  topics: [HASH],
  data: '0x',
  transactionHash: HASH,
  logIndex: '0x0',
  blockNumber: '0x10',
  blockHash: OTHER,
};
const receipt = {
  ...{ transactionHash: HASH.toLowerCase(), status: '0x1', blockNumber: '0x10', blockHash: OTHER },
  ...{ gasUsed: '0x5208', effectiveGasPrice: '0x3b9aca00', l1Fee: null, logs: [log] },
};
const block = { number: '0x10', hash: HASH, timestamp: '0x6553f100', baseFeePerGas: '0x7' };
const RUBBISH = [
  null,
  undefined,
  true,
  7,
  '',
  '0x',
  '0xzz',
  'zz',
  '0x1.5',
  '-0x1',
  '1',
  {},
  [],
  [null],
  { length: 4 },
  `0x${'f'.repeat(65)}`,
];
const NUMBERS = ['eth_blockNumber', 'eth_chainId', 'eth_estimateGas', 'eth_getTransactionCount', 'eth_getBalance'];

test('a number is hex of a size that can be held, with or without zeros before it', () => {
  for (const method of NUMBERS) {
    for (const answer of ['0x0', '0x1a', '0x001A', '0xfffffffffffff']) expect(isReadable(method, [], answer)).toBe(true);
    for (const answer of RUBBISH) expect(isReadable(method, [], answer), `${method} ${answer}`).toBe(false);
  }
  expect(isReadable('eth_blockNumber', [], '0x10000000000000')).toBe(false);
  expect(isReadable('eth_getBalance', [], `0x${'f'.repeat(64)}`)).toBe(true);
});

test('bytes are whole, of any length where nothing else is asked', () => {
  for (const method of ['eth_call', 'eth_getCode']) {
    for (const answer of ['0x', '0x00', `0x${'Ab'.repeat(100_000)}`]) expect(isReadable(method, [], answer)).toBe(true);
    for (const answer of [null, '', '0x0', '0xzz', 'ab', {}, [], `0x${'0'.repeat(63)}z`])
      expect(isReadable(method, [], answer)).toBe(false);
  }
  expect(isReadable('eth_sendRawTransaction', [], HASH)).toBe(true);
  expect(isReadable('eth_sendRawTransaction', [], '0x12')).toBe(false);
});

test('a receipt is of the transaction that was asked for, with its own logs, or none', () => {
  const isReceipt = (answer: unknown): boolean => isReadable('eth_getTransactionReceipt', [HASH], answer);
  for (const answer of [
    receipt,
    null,
    { blockNumber: null },
    { ...receipt, effectiveGasPrice: undefined },
    { ...receipt, logs: [] },
  ])
    expect(isReceipt(answer)).toBe(true);
  for (const name of ['transactionHash', 'status', 'blockNumber', 'blockHash', 'gasUsed', 'logs'])
    for (const value of RUBBISH.filter((one) => name !== 'logs' || !Array.isArray(one) || one.length > 0))
      if (name !== 'blockNumber' || value !== null)
        expect(isReceipt({ ...receipt, [name]: value }), `${name} ${value}`).toBe(false);
  for (const name of ['effectiveGasPrice', 'l1Fee']) expect(isReceipt({ ...receipt, [name]: `0x${'f'.repeat(25)}` })).toBe(false);
  expect(isReceipt({ ...receipt, transactionHash: OTHER })).toBe(false);
  for (const changed of [{ transactionHash: OTHER }, { blockHash: HASH }, { blockNumber: '0x11' }])
    expect(isReceipt({ ...receipt, logs: [{ ...log, ...changed }] })).toBe(false);
});

test('logs and blocks are whole; a block that is not there is an answer, and one with its transactions shows each', () => {
  expect(isReadable('eth_getLogs', [], [log, { ...log, removed: true }])).toBe(true);
  for (const name of Object.keys(log))
    for (const value of RUBBISH.filter((one) => !(name === 'data' && one === '0x') && !(name === 'topics' && `${one}` === '')))
      expect(isReadable('eth_getLogs', [], [log, { ...log, [name]: value }]), `${name} ${value}`).toBe(false);
  expect(isReadable('eth_getLogs', [], null)).toBe(false);
  const isBlock = (answer: unknown, isWhole = false): boolean => isReadable('eth_getBlockByNumber', ['latest', isWhole], answer);
  for (const answer of [block, null, { ...block, baseFeePerGas: undefined }]) expect(isBlock(answer)).toBe(true);
  for (const name of ['number', 'hash', 'timestamp'])
    for (const value of RUBBISH) expect(isBlock({ ...block, [name]: value })).toBe(false);
  expect(isBlock({ ...block, timestamp: '0xfffffffffff' })).toBe(false);
  const sent = { hash: HASH, from: ADDRESS, nonce: '0x1', input: '0x' };
  expect(isBlock({ ...block, transactions: [sent] }, true)).toBe(true);
  expect(isBlock({ ...block, transactions: [HASH] }, true)).toBe(false);
  expect(isBlock(block, true)).toBe(false);
});

test('which accounts have code is said of each of them: a refusal, or an answer of another length, is none', async () => {
  const saying = (request: () => Promise<string>): Rpc =>
    ({ networkId: 'eip155:1', request, each: async () => [], close: async () => undefined }) as Rpc;
  const [one, two] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`] as const;
  const sizes = `0x${'0'.repeat(64)}${'17'.padStart(64, '0')}`;
  expect(
    await findAccountsWithCode(
      saying(async () => sizes),
      [one, two],
    ),
  ).toEqual(new Set([two]));
  for (const answer of [
    async () => '0x',
    async () => sizes.slice(0, 66),
    () => Promise.reject(new RpcError(3, 'execution reverted', '0x')),
  ])
    await expect(findAccountsWithCode(saying(answer), [one, two])).rejects.toMatchObject({ code: 'chain_unavailable' });
});
