/** The ten tasks of an agent over standard input and output: a stock MCP client beside a key, an envelope and a ledger of its own machine. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { buyPage } from '../../examples/buyer/buyer.ts';
import { newPrivateKey } from '../../process/serviceSecrets.ts';
import { limits } from '../../sandbox/limits.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import type { AgentHome } from '../support/agentHome.ts';
import { newAgentHome } from '../support/agentHome.ts';
import { AGENT_COMMAND, runAgent } from '../support/agentProcess.ts';
import type { AgentWorld, Told } from '../support/agentWorld.ts';
import { pageIn, startAgentWorld } from '../support/agentWorld.ts';
import { WALLETS } from '../support/api.ts';
import { addressOf } from '../support/payments.ts';
import type { TestSite } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';
import { moneyVerdicts } from '../support/verify.ts';

const FUNDS = 1_000_000n;
let world: AgentWorld;
let kelp: TestSite;
let reef: TestSite;
/** Where each site listens on this machine, by its host. */
const shops = new Map<string, Shop>();
let home: AgentHome;
const open: Client[] = [];

beforeAll(async () => {
  world = await startAgentWorld();
  kelp = await world.site('kelp', '0.001', { forest: 'Kelp forests', tides: 'Kelp and the tides', urchin: 'Kelp and urchins' });
  reef = await world.site('reef', '0.004', { coral: 'Coral after kelp', shark: 'Sharks' });
  for (const site of [kelp, reef]) shops.set(site.host, await openShop(world.service, site));
});
afterAll(async () => {
  for (const shop of shops.values()) await shop.close();
  await world?.stop();
});
beforeEach(async () => {
  home = newAgentHome();
  await mintUsdc(world.service.chain.rpcUrl, addressOf(home.account), FUNDS);
});
afterEach(async () => {
  await Promise.allSettled(open.splice(0).map((client) => client.close()));
  home.remove();
});

const urlOf = (site: TestSite, slug: string): string => `${shops.get(site.host)?.url}/articles/${slug}`;

/** Starts the server as an agent's configuration names it. */
async function startServer(): Promise<{ readonly pid: number; call(name: string, args?: object): Promise<Told> }> {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const env = { ...process.env, NODE_OPTIONS: '', CONTENT_SETTLEMENT_HOME: home.folder } as Record<string, string>;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [AGENT_COMMAND, 'mcp'],
    stderr: 'ignore',
    env: { ...env, CONTENT_SETTLEMENT_SERVICE: world.service.baseUrl },
  });
  await client.connect(transport);
  open.push(client);
  return { pid: transport.pid ?? 0, call: (name, args = {}) => client.callTool({ name, arguments: { ...args } }) };
}

const factsOf = (told: Told) => JSON.parse(told.content[0].text);
const paidMicro = async (): Promise<bigint> => {
  const [left = 0n] = await balancesOf(world.service, [addressOf(home.account)]);
  return FUNDS - left;
};
function expectRefused(told: Told, code: string): void {
  expect([told.isError, told.content[0].text]).toEqual([true, expect.stringMatching(new RegExp(`^${code}: `))]);
}

test('1 and 2: finds pages by their words and price, and compares what they cost', async () => {
  const { call } = await startServer();
  const { pages } = factsOf(await call('find_pages', { query: 'kelp', maxPriceMicro: 1_000 }));
  expect(new Set(pages.map(({ host }: { host: string }) => host))).toEqual(new Set([kelp.host]));
  const urls = [urlOf(reef, 'coral'), urlOf(kelp, 'forest')];
  expect(factsOf(await call('quote_pages', { urls })).pages).toMatchObject([{ usdc: '0.004' }, { usdc: '0.001' }]);
  expect(await paidMicro()).toBe(0n);
});

test('3 and 4: buys within the envelope, three authors are paid, and reads it again free, also in a process that starts anew', async () => {
  home.limit({ total: '0.005' });
  const { call } = await startServer();
  const before = await balancesOf(world.service, WALLETS);
  const url = urlOf(kelp, 'forest');
  expectRefused(await call('read_held', { url }), 'over_limit');
  const read = await call('read_page', { url });
  expect([factsOf(read), pageIn(read)]).toMatchObject([
    { how: 'bought', usdc: '0.001' },
    { uri: url, text: '<p>forest</p>' },
  ]);
  const after = await balancesOf(world.service, WALLETS);
  expect(after.map((micro, at) => micro - (before[at] ?? 0n))).toEqual([500n, 300n, 200n, 0n]);
  const anew = await startServer();
  expect(pageIn(await anew.call('read_held', { url }))).toMatchObject({ text: '<p>forest</p>' });
  expect(factsOf(await anew.call('read_page', { url }))).toMatchObject({ how: 'held' });
  expect([await paidMicro(), factsOf(await anew.call('spending')).spentUsdc]).toEqual([1_000n, '0.001']);
});

test('5, 6 and 7: is refused above each limit, waits for a yes above what it may decide, and stops in the very next call; arguments change none of it', async () => {
  const { call } = await startServer();
  const url = urlOf(reef, 'coral');
  for (const limit of [{ total: '0.003999' }, { total: '1', perHost: '0.003999' }, { total: '1', perPage: '0.003999' }]) {
    home.limit(limit);
    expectRefused(await call('read_page', { url }), 'over_limit');
  }
  home.limit({ total: '1', approveAbove: '0.001' });
  expectRefused(await call('read_page', { url }), 'approval_required');
  expect((await call('read_page', { url, max: '1' })).isError).toBe(true);
  expect(await paidMicro()).toBe(0n);
  expect((await runAgent(home, ['approve', url, '--max', '0.004'])).code).toBe(0);
  expect(factsOf(await call('read_page', { url }))).toMatchObject({ how: 'bought' });
  home.limit({ total: '1', stop: true });
  expectRefused(await call('read_page', { url: urlOf(kelp, 'tides') }), 'stopped');
  expect(await paidMicro()).toBe(4_000n);
});

test('8: buys a licence over many pages once, when a person said yes to this one, and finds it in its list; its token stays on the machine', async () => {
  home.limit({ total: '1', approveAbove: '0.001' });
  const { call } = await startServer();
  const order = { host: kelp.host, scope: ['/articles/*'], periodDays: 30 };
  expect(factsOf(await call('quote_licence', order))).toMatchObject({ priceMicro: 3_000 });
  const refused = await call('buy_licence', order);
  expectRefused(refused, 'approval_required');
  const approved = await runAgent(home, ['approve', refused.structuredContent.approvalId], { input: 'yes\n' });
  expect(approved).toMatchObject({ code: 0, out: expect.stringContaining(`licence at "${kelp.host}" for 30 days`) });
  expectRefused(await call('buy_licence', { ...order, periodDays: 60 }), 'approval_required');
  expectRefused(await call('buy_licence', { ...order, host: reef.host }), 'approval_required');
  const bought = await call('buy_licence', order);
  expect([factsOf(bought), JSON.stringify(bought).includes('eyJ')]).toMatchObject([{ priceMicro: 3_000 }, false]);
  expectRefused(await call('buy_licence', order), 'bought_before');
  expect(factsOf(await call('list_licences')).licences).toMatchObject([{ host: kelp.host }]);
  expect(await paidMicro()).toBe(3_000n);
});

test('9: checks a receipt, and one of which a letter was changed is none', async () => {
  const { call } = await startServer();
  const privateKey = newPrivateKey();
  await mintUsdc(world.service.chain.rpcUrl, addressOf(privateKeyToAccount(privateKey)), 1_000n);
  const { settlement } = await buyPage(urlOf(kelp, 'urchin'), privateKey);
  const extension = settlement?.extensions?.['offer-receipt'] as { info: { receipt: { signature: string } } };
  const jws = extension.info.receipt.signature;
  expect(factsOf(await call('check_receipt', { jws }))).toMatchObject({ transaction: settlement?.transaction });
  const [head, body = '', signature] = jws.split('.');
  const forged = [head, `${body.slice(0, -3)}${body.endsWith('AAA') ? 'BBB' : 'AAA'}`, signature].join('.');
  expectRefused(await call('check_receipt', { jws: forged }), 'receipt_invalid');
});

test('10: survives a killed worker and its own death: the process that starts anew sends the same payment, charged once', async () => {
  home.limit({ total: '1' });
  const hasty = await openShop({ baseUrl: (await world.service.startApi(limits({ settleWaitMs: 500 }))).url }, reef);
  const url = `${hasty.url}/articles/shark`;
  await expect.poll(async () => (await fetch(url)).status).toBe(402);
  await Promise.all(world.service.workers.map((worker) => worker.kill()));
  const payments = () => hasty.requests.flatMap(({ headers }) => headers['payment-signature'] ?? []);
  const first = await startServer();
  const cut = first.call('read_page', { url }).catch(() => 'cut');
  await expect.poll(() => payments().length).toBeGreaterThan(0);
  process.kill(first.pid, 'SIGKILL');
  expect(await cut).toBe('cut');
  await world.service.startWorker();
  const second = await startServer();
  await expect.poll(async () => pageIn(await second.call('read_page', { url }))).toMatchObject({ text: '<p>shark</p>' });
  expect([new Set(payments()).size, await paidMicro()]).toEqual([1, 4_000n]);
  await hasty.close();
});

test('and no payment of these tasks was made twice, failed, or is left open', async () => {
  const verdicts = [...(await moneyVerdicts(world.service, kelp)), ...(await moneyVerdicts(world.service, reef))];
  expect(new Set(verdicts)).toEqual(new Set(['paid']));
});
