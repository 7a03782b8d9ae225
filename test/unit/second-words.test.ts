/** What several nodes make of a transaction, by their answers alone. */
import { expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { evidenceFromLogs, TOPICS } from '../../platform/chain/evidence/evidence.ts';
import { secondWordsOf } from '../../platform/chain/evidence/secondSource.ts';
import type { SightAsk } from '../../platform/chain/evidence/sight.ts';
import { spendingIn } from '../../platform/chain/evidence/spending.ts';
import { askEach } from '../../platform/chain/rpc/quorum.ts';
import type { Answer, Rpc } from '../../platform/chain/rpc/rpc.ts';
import { chainUnavailable, RpcError } from '../../platform/chain/rpc/rpc.ts';

const hex = (pair: string, bytes: number): Hex => `0x${pair.repeat(bytes)}`;
const network = { asset: hex('03', 20), router: hex('99', 20) };
const [payer, author, thief] = [hex('aa', 20), hex('bb', 20), hex('cc', 20)] as [Address, Address, Address];
const [nonce, ours, invented, block] = [hex('01', 32), hex('12', 32), hex('56', 32), hex('34', 32)];
const topic = (address: Address): Hex => `0x${address.slice(2).padStart(64, '0')}`;

/** A receipt of block 16 in which the authorization moves 5 USDC to a wallet. */
function receipt(to: Address, hash = ours) {
  const place = { address: network.asset, transactionHash: hash, blockNumber: '0x10', blockHash: block };
  return {
    ...{ transactionHash: hash, status: '0x1', blockNumber: '0x10', blockHash: block, gasUsed: '0x1' },
    logs: [
      { ...place, topics: [TOPICS.authorizationUsed, topic(payer), nonce], data: '0x', logIndex: '0x0' },
      {
        ...{ ...place, topics: [TOPICS.transfer, topic(payer), topic(to)], logIndex: '0x1' },
        data: `0x${(5_000_000).toString(16).padStart(64, '0')}`,
      },
    ],
  };
}

function decoded({ logs, ...raw }: ReturnType<typeof receipt>) {
  const read = logs.map((log) => ({ ...log, data: log.data as Hex, logIndex: Number(log.logIndex), blockNumber: 16n }));
  const figures = { blockNumber: 16n, gasUsed: 1n, effectiveGasPriceWei: 0n, l1FeeWei: 0n, status: 'success' as const };
  const one = { hash: raw.transactionHash, blockHash: raw.blockHash, ...figures, logs: read };
  return { receipt: one, evidence: evidenceFromLogs(read, network) };
}

interface Node {
  readonly receipts: Readonly<Record<Hex, object | null | 'unreadable'>>;
  readonly head?: Hex;
}

/** Every node's answers, as `each` gives them; one that gives a receipt as `unreadable` gave something else. */
function rpcOf(nodes: readonly Node[]): Rpc {
  const of = (node: Node, method: string, hash: Hex): unknown => {
    if (method === 'eth_blockNumber') return node.head ?? '0x20';
    return method === 'eth_getBlockByNumber' ? { hash: block, timestamp: '0x64' } : (node.receipts[hash] ?? null);
  };
  const each = async (method: string, params: readonly unknown[]): Promise<readonly Answer<never>[]> =>
    nodes.map((node, index) => ({ index, result: of(node, method, params[0] as Hex) as never }));
  return {
    networkId: 'eip155:1',
    urlCount: nodes.length,
    each,
    request: () => Promise.reject(new Error('not asked')),
    close: async () => undefined,
  };
}

/** What the nodes make of it that the first one shows the money to have gone to `said`, by transaction `hash`. */
async function wordOn(nodes: readonly Node[], said: Address, { hash = ours, safeBlock = 20n } = {}) {
  const own = decoded(receipt(said, hash));
  const ask: SightAsk = { payer, nonce, hashes: [ours], sinceBlock: 1n, needsSecond: () => true };
  const spending = spendingIn(own.evidence, ask, 100n);
  const shown = { found: new Map(spending ? [[ask, spending]] : []), receipts: new Map([[hash, own]]), safeBlock };
  const word = (await secondWordsOf(rpcOf(nodes), network, [ask], shown)).get(ask);
  const instead = word?.instead ? spendingIn(word.instead.evidence, ask, word.instead.timeSeconds) : null;
  return { doubt: word?.doubt, isContradicted: word?.isContradicted, to: instead?.kind === 'transfer' ? instead.to : undefined };
}

const shows = (to: Address): Node => ({ receipts: { [ours]: receipt(to) } });
const UNREADABLE: Node = { receipts: { [ours]: 'unreadable' } };
const NOTHING: Node = { receipts: {} };

test('an answer that cannot be read differs from every other, beside one node and beside none', async () => {
  expect(await wordOn([UNREADABLE, shows(author)], thief)).toMatchObject({ doubt: 'disputed', isContradicted: true });
  expect(await wordOn([shows(author), UNREADABLE], author)).toMatchObject({ doubt: 'disputed', isContradicted: true });
  expect(await wordOn([UNREADABLE, UNREADABLE], thief)).toMatchObject({ doubt: 'disputed', isContradicted: true });
});

test('what two nodes show counts, whether the first is one of them or not; two against two are a dispute', async () => {
  expect(await wordOn([shows(author), shows(author)], author)).toEqual({ doubt: null, isContradicted: false, to: undefined });
  expect(await wordOn([shows(author), shows(author), shows(thief)], author)).toMatchObject({ doubt: null, isContradicted: true });
  expect(await wordOn([shows(thief), shows(author), shows(author)], thief)).toEqual({
    doubt: null,
    isContradicted: true,
    to: author,
  });
  const [two, against] = [
    [shows(thief), shows(thief)],
    [shows(author), shows(author)],
  ];
  expect(await wordOn([...two, ...against], thief)).toMatchObject({ doubt: 'disputed' });
});

test('a node that has come to the safe block without the transaction contradicts it; one that has not is late', async () => {
  expect(await wordOn([shows(thief), NOTHING], thief)).toMatchObject({ doubt: 'disputed' });
  expect(await wordOn([shows(thief), { ...NOTHING, head: '0xf' }], thief)).toMatchObject({ doubt: 'unconfirmed' });
  expect(await wordOn([shows(thief), NOTHING], thief, { safeBlock: 10n })).toMatchObject({ doubt: 'unconfirmed' });
});

test('a transaction that one node made up does not hide ours, which two others have', async () => {
  const liar: Node = { receipts: { [invented]: receipt(thief, invented) } };
  expect(await wordOn([liar, shows(author), shows(author)], thief, { hash: invented })).toEqual({
    ...{ doubt: null, isContradicted: true, to: author },
  });
  expect(await wordOn([liar, shows(author)], thief, { hash: invented })).toMatchObject({ doubt: 'disputed' });
});

test('an answer that a reader fails on is no word of its node; what fails at every node is thrown', async () => {
  const rpc: Rpc = { ...rpcOf([NOTHING, NOTHING]), request: async (_method, _params, options) => options?.ofNode as never };
  const failAt = (places: readonly number[], error: Error) => async (node: Rpc) => {
    const place = await node.request<number>('eth_call', []);
    if (places.includes(place)) throw error;
    return place;
  };
  expect(await askEach(rpc, failAt([0], new SyntaxError('not a number')))).toEqual([1]);
  expect(await askEach(rpc, failAt([1], new RpcError(3, 'execution reverted', '0x')))).toEqual([0]);
  expect(await askEach(rpc, failAt([0, 1], chainUnavailable('eip155:1')))).toEqual([]);
  await expect(askEach(rpc, failAt([0, 1], new TypeError('ours')))).rejects.toThrow('ours');
});
