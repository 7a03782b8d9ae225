import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import type { Network } from '../../platform/chain/network.ts';
import { Networks, verifyNetwork } from '../../platform/chain/network.ts';
import { precheck } from '../../platform/chain/precheck.ts';
import { askEach, QUORUM } from '../../platform/chain/rpc/quorum.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { createRpc, HEDGE_MS, hasOthers } from '../../platform/chain/rpc/rpc.ts';
import { compareNetworks } from '../../process/networks.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import type { TestChain } from '../support/parts.ts';
import { startTestChain } from '../support/parts.ts';
import { newAccount, newWallet, paymentFor, testNetwork } from '../support/payments.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import { startRpcProxy } from '../support/rpc-proxy.ts';

let chain: TestChain;
let other: TestChain;
let first: RpcProxy;
let second: RpcProxy;
const open: Rpc[] = [];

beforeAll(async () => {
  [chain, other] = await Promise.all([startTestChain(), startTestChain({}, { chainId: 84_531 })]);
});
afterAll(() => Promise.all([chain.stop(), other.stop()]));
beforeEach(async () => {
  [first, second] = await Promise.all([startRpcProxy(chain.rpcUrl), startRpcProxy(chain.rpcUrl)]);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((rpc) => rpc.close()));
  await Promise.all([first.close(), second.close()]);
});

function networkOf(...rpcUrls: string[]): Network {
  return testNetwork(chain, { rpcUrls, blockTimeMs: 1_000 });
}

function rpcTo(network: Network): Rpc {
  const rpc = createRpc(network);
  open.push(rpc);
  return rpc;
}

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
/** A connection to each of some networks. */
function connections(networks: Networks): (id: string) => Rpc {
  const rpcs = new Map(networks.list.map((network) => [network.id, rpcTo(network)]));
  return (id) => rpcs.get(id) as Rpc;
}

/** What timers of a busy machine add. */
const NOISE_MS = 250;
const headOf = async (): Promise<number> => Number(await callChain(chain.rpcUrl, 'eth_blockNumber', []));
const mine = (blocks: number): Promise<unknown> => callChain(chain.rpcUrl, 'anvil_mine', [`0x${blocks.toString(16)}`]);
const statesOf = async (rpc: Rpc) => (await rpc.nodes?.())?.map(({ state }) => state);
async function timed(rpc: Rpc): Promise<number> {
  const startedMs = performance.now();
  await rpc.request('eth_gasPrice', []);
  return performance.now() - startedMs;
}
/** Milliseconds of the slowest of `calls` calls to each, in turns, without the slowest quarter: a busy machine holds up single ones. */
async function mostly(calls: number, ...rpcs: readonly [Rpc, Rpc]): Promise<readonly [number, number]> {
  const taken: [number[], number[]] = [[], []];
  for (let call = 0; call < calls; call += 1) {
    taken[0].push(await timed(rpcs[0]));
    taken[1].push(await timed(rpcs[1]));
  }
  const worst = (list: number[]): number => list.sort((a, b) => a - b)[Math.ceil(calls * 0.75) - 1] ?? 0;
  return [worst(taken[0]), worst(taken[1])];
}

test('one dead URL is told at the start and keeps nothing from working; with none that answers it is chain_unavailable', async () => {
  const network = networkOf('http://127.0.0.1:1', second.url);
  const rpc = rpcTo(network);
  const silent: number[] = [];
  await verifyNetwork(network, rpc, (place) => silent.push(place));
  expect(silent).toEqual([1]);
  expect(await rpc.request('eth_chainId', [])).toBe('0x14a34');
  expect(await statesOf(rpc)).toEqual(['away', 'up']);
  const dead = networkOf('http://127.0.0.1:1', 'http://127.0.0.1:2');
  await expect(verifyNetwork(dead, rpcTo(dead))).rejects.toMatchObject({ code: 'chain_unavailable' });
});

test('a URL on another chain is refused at the start, and one that comes up on another chain later is never asked', async () => {
  const wrong = networkOf(first.url, other.rpcUrl);
  await expect(verifyNetwork(wrong, rpcTo(wrong))).rejects.toThrow('RPC URL 2 answers for chain 84531');
  const foreign = await startRpcProxy(other.rpcUrl);
  foreign.set('*', { kind: 'cut' });
  const rpc = rpcTo(networkOf(foreign.url, second.url));
  expect(await rpc.request('eth_gasPrice', [])).toMatch(/^0x/);
  foreign.set('*', null);
  await expect.poll(() => statesOf(rpc)).toEqual(['foreign', 'up']);
  for (let call = 0; call < 5; call += 1) await rpc.request('eth_gasPrice', []);
  expect(foreign.count('eth_gasPrice')).toBe(0);
  await foreign.close();
});

test('a network without a node keeps no other from starting, moves nothing until it was compared, and opens when a node comes', async () => {
  const [silent, open, foreign] = [first, second, await startRpcProxy(other.rpcUrl)];
  silent.set('*', { kind: 'cut' });
  const away: Network = { ...networkOf(silent.url, silent.url), id: 'eip155:84531', chainId: 84_531, v1Name: null };
  const networks = new Networks([away, networkOf(open.url)]);
  const compared = await compareNetworks({ networks, rpcOf: connections(networks), log }, 100);
  expect(hasOthers(compared.rpcOf(away.id))).toBe(true); // what one node says of it is asked of the other
  const asked = () => compared.rpcOf(away.id).request('eth_blockNumber', []);
  expect(await compared.rpcOf('eip155:84532').request('eth_chainId', [])).toBe('0x14a34');
  await expect(asked()).rejects.toMatchObject({ code: 'chain_unavailable' });
  silent.set('*', null); // it answers, and is another chain: what it says is not believed
  await expect.poll(() => log.error).toHaveBeenCalled();
  await expect(asked()).rejects.toMatchObject({ code: 'chain_unavailable' });
  compared.close();

  foreign.set('*', { kind: 'cut' });
  const late = new Networks([{ ...away, rpcUrls: [foreign.url] }, networkOf(open.url)]);
  const again = await compareNetworks({ networks: late, rpcOf: connections(late), log }, 100);
  expect(again.isCompared(away.id)).toBe(false);
  foreign.set('*', null);
  await expect.poll(() => again.isCompared(away.id)).toBe(true);
  expect(await again.rpcOf(away.id).request('eth_chainId', [])).toBe('0x14a33');
  again.close();
  await foreign.close();
});

test('with no network that answers all are closed; one that is not what is configured ends the start', async () => {
  const dead = (id: number): Network => ({ ...networkOf('http://127.0.0.1:1'), id: `eip155:${id}`, chainId: id, v1Name: null });
  const all = new Networks([dead(1), dead(2)]);
  const compared = await compareNetworks({ networks: all, rpcOf: connections(all), log });
  expect(all.ids.map(compared.isCompared)).toEqual([false, false]);
  await expect(compared.rpcOf('eip155:1').request('eth_chainId', [])).rejects.toMatchObject({ code: 'chain_unavailable' });
  compared.close();
  const wrong = new Networks([{ ...networkOf(first.url), assetName: 'Other' }, dead(2)]);
  await expect(compareNetworks({ networks: wrong, rpcOf: connections(wrong), log })).rejects.toThrow('the asset');
});

test('a first URL that hangs costs a call its hedge delay at most, and nothing once its breaker is open', async () => {
  const healthy = rpcTo(networkOf(chain.rpcUrl));
  const rpc = rpcTo(networkOf(first.url, second.url));
  await Promise.all([healthy.request('eth_gasPrice', []), rpc.request('eth_gasPrice', [])]);
  first.set('*', { kind: 'delay', ms: 60_000 });
  const [healthyMs, hangingMs] = await mostly(20, healthy, rpc);
  expect(hangingMs).toBeLessThanOrEqual(2 * healthyMs + HEDGE_MS + NOISE_MS);
  await expect.poll(() => statesOf(rpc)).toEqual(['away', 'up']);
  const before = second.count('eth_gasPrice');
  const [baseMs, openMs] = await mostly(100, healthy, rpc);
  expect(openMs).toBeLessThanOrEqual(2 * baseMs + NOISE_MS);
  expect(second.count('eth_gasPrice') - before).toBe(100);
});

test('a frozen URL never says that a funded buyer has no money: the one that is ahead is asked, without it nobody', async () => {
  const buyer = newWallet();
  first.set('*', { kind: 'freeze', block: await headOf() });
  await mintUsdc(chain.rpcUrl, buyer, 5_000_000n);
  await mine(4);
  const network = networkOf(first.url, second.url);
  const rpc = rpcTo(network);
  expect(await listBalances(rpc, network, [buyer])).toEqual([5_000_000n]);
  expect(first.count('eth_call')).toBe(0);
  second.set('*', { kind: 'cut' });
  await expect(listBalances(rpc, network, [buyer])).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect(first.count('eth_call')).toBe(0);
});

test('an only node whose head has stood still for long is not believed about the present, and is once it moves again', async () => {
  const buyer = newWallet();
  first.set('*', { kind: 'freeze', block: await headOf() });
  await mintUsdc(chain.rpcUrl, buyer, 5_000_000n);
  const network = networkOf(first.url);
  const rpc = rpcTo(network);
  expect(await listBalances(rpc, network, [buyer])).toEqual([0n]);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 40_000);
  await expect(listBalances(rpc, network, [buyer])).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect((await rpc.nodes?.())?.[0]).toMatchObject({ state: 'up', behindBlocks: 0 });
  first.set('*', null);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 45_000);
  expect(await listBalances(rpc, network, [buyer])).toEqual([5_000_000n]);
});

test('a node three blocks behind is not asked about the present, and is asked for what only it answers', async () => {
  const buyer = newWallet();
  first.set('*', { kind: 'behind', blocks: 3 });
  const network = networkOf(first.url, second.url);
  const rpc = rpcTo(network);
  await rpc.request('eth_blockNumber', []);
  await mintUsdc(chain.rpcUrl, buyer, 5_000_000n);
  expect(await listBalances(rpc, network, [buyer])).toEqual([5_000_000n]);
  expect(first.count('eth_call')).toBe(0);
  second.set('eth_gasPrice', { kind: 'refuse', status: 429 });
  expect(await rpc.request('eth_gasPrice', [])).toMatch(/^0x/);
  expect((await rpc.nodes?.())?.[0]?.behindBlocks).toBeGreaterThanOrEqual(3);
});

test('a node that fell far behind since the last look does not refuse a buyer who has money since: the one with the newest block is asked', async () => {
  const own = await startTestChain({}, { beginsAt: Math.floor(Date.now() / 1_000) - 100 });
  const [behind, near] = [await startRpcProxy(own.rpcUrl), await startRpcProxy(own.rpcUrl)];
  const buyer = newAccount();
  const network = testNetwork(own, { rpcUrls: [behind.url, near.url], blockTimeMs: 1_000 });
  const rpc = rpcTo(network);
  await callChain(own.rpcUrl, 'anvil_mine', ['0x5f', '0x1']); // a block a second: one that shows an early one is late, and refutes nobody
  await rpc.request('eth_blockNumber', []);
  await mintUsdc(own.rpcUrl, buyer.address, 5_000_000n);
  const item = await paymentFor(network, buyer, { payTo: newWallet(), words: [] }, 1_000n);
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now); // no look is due
  behind.set('*', { kind: 'behind', blocks: 80 });
  expect(await precheck(rpc, network, [item])).toMatchObject([{ outcome: { kind: 'passed' } }]);
  expect(behind.count('eth_call')).toBeGreaterThan(0);
  // Nobody answers from near the newest block any more: that is no refusal.
  near.set('eth_call', { kind: 'behind', blocks: 80 });
  expect(await precheck(rpc, network, [item])).toMatchObject([{ outcome: { kind: 'unconfirmed' } }]);
  const alone = rpcTo({ ...network, rpcUrls: [near.url] });
  await alone.request('eth_blockNumber', []);
  await expect(precheck(alone, network, [item])).rejects.toMatchObject({ code: 'chain_unavailable' });
  await Promise.all([behind.close(), near.close(), own.stop()]);
});

test('a node that says the chain is thirty blocks longer is not the only one asked for a second word, so two others refuse without it', async () => {
  const third = await startRpcProxy(chain.rpcUrl);
  const network = networkOf(first.url, second.url, third.url);
  const lift = (reply: string): string =>
    reply.replace(/"(number|result)":"(0x[0-9a-f]{1,8})"/g, (_, name, hex) => `"${name}":"0x${(Number(hex) + 30).toString(16)}"`);
  for (const method of ['eth_blockNumber', 'eth_getBlockByNumber']) first.set(method, { kind: 'alter', change: lift });
  await mine(5);
  const rpc = rpcTo(network);
  const item = await paymentFor(network, newAccount(), { payTo: newWallet(), words: [] }, 1_000n);
  expect(await askEach(rpc, (node) => listBalances(node, network, [newWallet()]))).toHaveLength(3);
  const refused = [{ outcome: { kind: 'refused', reason: 'insufficient_funds' } }];
  expect(await precheck(rpc, network, [item])).toMatchObject(refused);
  await third.close();
});

test('a node that answers looks and fails on calls alone opens its breaker, and has one call a pause until it answers one', async () => {
  const network = networkOf(first.url, second.url);
  const rpc = rpcTo(network);
  await rpc.newestBlock?.();
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now); // no pause ends
  first.set('eth_call', { kind: 'cut' });
  for (let call = 0; call < 6; call += 1) {
    expect(await listBalances(rpc, network, [newWallet()])).toEqual([0n]);
    await rpc.newestBlock?.();
  }
  expect(first.count('eth_call')).toBe(3);
  vi.spyOn(performance, 'now').mockReturnValue(now + 6_000);
  for (let call = 0; call < 3; call += 1) {
    await rpc.newestBlock?.();
    await listBalances(rpc, network, [newWallet()]);
  }
  expect(first.count('eth_call')).toBe(4);
});

test('a second word waits for no node that hangs once two agree, and for one of two no longer than 1.5 s', async () => {
  const third = await startRpcProxy(chain.rpcUrl);
  const network = networkOf(first.url, second.url, third.url);
  const [rpc, pair] = [rpcTo(network), rpcTo(networkOf(first.url, second.url))];
  await Promise.all([rpc.newestBlock?.(), pair.newestBlock?.()]);
  first.set('eth_call', { kind: 'delay', ms: 10_000 });
  const startedMs = performance.now();
  const ask = (node: Rpc) => listBalances(node, network, [newWallet()]);
  expect(await askEach(rpc, ask, (words) => words.length >= QUORUM)).toHaveLength(2);
  const agreedMs = performance.now() - startedMs;
  expect(agreedMs).toBeLessThan(1_500);
  const twice = async (node: Rpc) => [await ask(node), await ask(node)];
  expect(await askEach(pair, twice)).toHaveLength(1);
  expect(performance.now() - startedMs - agreedMs).toBeLessThan(1_500 + 2 * NOISE_MS);
  await third.close();
});

test('what is asked of the safe block is answered by the node whose safe block is highest', async () => {
  first.set('*', { kind: 'behind', blocks: 2 });
  const rpc = rpcTo(networkOf(first.url, second.url));
  await rpc.request('eth_blockNumber', []);
  const asked = second.count('eth_getTransactionCount');
  for (let call = 0; call < 10; call += 1) await rpc.request('eth_getTransactionCount', [newWallet(), 'safe']);
  expect(second.count('eth_getTransactionCount')).toBe(asked + 10);
  // Where an answer takes longer than the hedge delay, on a busy machine, the other one is asked besides.
  expect(first.count('eth_getTransactionCount')).toBeLessThan(10);
});

test('two nodes with another safe block at one height are told apart from two that agree', async () => {
  const agreeing = rpcTo(networkOf(first.url, second.url));
  await agreeing.request('eth_blockNumber', []);
  expect((await agreeing.nodes?.())?.map(({ disagrees }) => disagrees)).toEqual([false, false]);
  const twin = await startTestChain();
  const split = rpcTo(networkOf(first.url, twin.rpcUrl));
  await split.request('eth_blockNumber', []);
  expect((await split.nodes?.())?.filter(({ disagrees }) => disagrees)).toHaveLength(1);
  await twin.stop();
});

test('with every URL away a call is chain_unavailable within the time limit, and the first that comes back is used', async () => {
  const rpc = rpcTo(networkOf(first.url, second.url));
  await rpc.request('eth_gasPrice', []);
  for (const proxy of [first, second]) proxy.set('*', { kind: 'delay', ms: 60_000 });
  const startedMs = performance.now();
  await expect(rpc.request('eth_gasPrice', [])).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect(performance.now() - startedMs).toBeLessThan(5_500); // one URL after the other would take 6 s
  for (const proxy of [first, second]) proxy.set('*', { kind: 'cut' });
  for (let call = 0; call < 6; call += 1) await rpc.request('eth_gasPrice', []).catch(() => null);
  expect(await statesOf(rpc)).toEqual(['away', 'away']);
  second.set('*', null);
  await expect.poll(() => rpc.request('eth_gasPrice', []).catch(() => null)).toMatch(/^0x/);
  first.set('*', null);
  await expect.poll(() => statesOf(rpc)).toEqual(['up', 'up']);
});

test('two nodes whose heads are a thousand blocks apart at one time are asked neither about the present, and both are named', async () => {
  const lift = (reply: string): string =>
    reply.replace(/"(result|number)":"(0x[0-9a-f]+)"/, (_, name, hex) => `"${name}":"0x${(Number(hex) + 1_000).toString(16)}"`);
  const network = networkOf(first.url, second.url);
  const buyer = newWallet();
  await mintUsdc(chain.rpcUrl, buyer, 5_000_000n);
  for (const method of ['eth_blockNumber', 'eth_getBlockByNumber']) first.set(method, { kind: 'alter', change: lift });
  const rpc = rpcTo(network);
  await expect(listBalances(rpc, network, [buyer])).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect((await rpc.nodes?.())?.map(({ disagrees, behindBlocks }) => [disagrees, behindBlocks])).toEqual([
    [true, null],
    [true, null],
  ]);
  const third = await startRpcProxy(chain.rpcUrl);
  const three = networkOf(first.url, second.url, third.url);
  const more = rpcTo(three);
  expect(await listBalances(more, three, [buyer])).toEqual([5_000_000n]); // two stand by one head
  expect((await more.nodes?.())?.map(({ disagrees }) => disagrees)).toEqual([true, false, false]);
  await third.close();
});
