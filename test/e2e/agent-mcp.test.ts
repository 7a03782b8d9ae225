/** The buyer's server of the Model Context Protocol, asked by a stock client of the older line; that of the newer one does the ten tasks. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import type { AgentHome } from '../support/agentHome.ts';
import { newAgentHome } from '../support/agentHome.ts';
import { AGENT_COMMAND } from '../support/agentProcess.ts';
import { addressOf } from '../support/payments.ts';
import type { TestService } from '../support/service.ts';
import { useTestService } from '../support/service.ts';
import type { Shop } from '../support/shop.ts';
import { balancesOf, openShop } from '../support/shop.ts';

const FUNDS = 100_000n;
let service: TestService;
let shop: Shop;
let home: AgentHome;
let close: () => Promise<void>;

beforeAll(async () => {
  service = await useTestService();
  shop = await openShop(service, await service.site());
});
afterAll(async () => {
  await shop?.close();
  await service?.stop();
});
beforeEach(async () => {
  home = newAgentHome();
  close = async () => undefined;
  await mintUsdc(service.chain.rpcUrl, addressOf(home.account), FUNDS);
});
afterEach(async () => {
  await close();
  home.remove();
});

const page = (slug: string): string => `${shop.url}/articles/${slug}`;
const started = (environment: Readonly<Record<string, string>>) => ({
  command: process.execPath,
  args: [AGENT_COMMAND, 'mcp'],
  env: { PATH: process.env['PATH'] ?? '', CONTENT_SETTLEMENT_HOME: home.folder, ...environment },
});

interface Result {
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly resource?: { readonly uri: string; readonly text: string };
  }[];
}

async function open(environment: Readonly<Record<string, string>>) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport(started(environment)));
  close = () => client.close();
  return {
    call: async (name: string, input: object) => (await client.callTool({ name, arguments: { ...input } })) as Result,
    tools: async () => (await client.listTools()).tools,
  };
}

const factsOf = ({ content }: Result): Record<string, unknown> => JSON.parse(content[0]?.text ?? 'null');
async function paidMicro(): Promise<bigint> {
  const [left = 0n] = await balancesOf(service, [addressOf(home.account)]);
  return FUNDS - left;
}

test('an agent compares prices, buys within the budget, is refused above it, and reads again free', async () => {
  home.limit({ total: '0.002' });
  const agent = await open({});
  expect(factsOf(await agent.call('quote_page', { url: page('trio') }))).toMatchObject({ usdc: '0.001', mayRead: true });
  const read = await agent.call('read_page', { url: page('trio') });
  expect(factsOf(read)).toMatchObject({ how: 'bought', usdc: '0.001' });
  expect(read.content[1]?.resource).toMatchObject({ uri: page('trio'), text: '<p>trio</p>' });
  expect(factsOf(await agent.call('buy_pages', { urls: [page('duo'), page('trio')] }))).toMatchObject({
    pages: expect.arrayContaining([expect.objectContaining({ how: 'bought' }), expect.objectContaining({ how: 'held' })]),
  });
  const refused = await agent.call('read_page', { url: page('solo') });
  expect([refused.isError, refused.content[0]?.text]).toEqual([true, expect.stringMatching(/^over_limit: .*0 USDC is left/)]);
  expect(factsOf(await agent.call('read_held', { url: page('duo') }))).toMatchObject({ how: 'held' });
  expect((await agent.call('read_held', { url: page('solo') })).isError).toBe(true);
  expect(factsOf(await agent.call('spending', {}))).toMatchObject({ spentUsdc: '0.002', leftUsdc: '0' });
  expect(await paidMicro()).toBe(2_000n);
});

test('a payment that was refused for want of money names what lacks, and goes out later by read_page alone, within the envelope of then', async () => {
  home.remove();
  home = newAgentHome();
  const agent = await open({});
  const refused = await agent.call('read_page', { url: page('solo') });
  const next = { action: 'fund', address: home.account.address, needsMicro: 1_000, network: expect.stringMatching(/^eip155:/) };
  expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'payment_refused', next } });
  expect(refused.content[0]?.text).toMatch(/Send at least 0\.001 USDC on eip155:\d+ to 0x/);
  await mintUsdc(service.chain.rpcUrl, addressOf(home.account), FUNDS);
  expect((await agent.call('read_held', { url: page('solo') })).content[0]?.text).toMatch(/^over_limit: /);
  home.limit({ total: '1', stop: true });
  expect((await agent.call('read_page', { url: page('solo') })).content[0]?.text).toMatch(/^stopped: /);
  home.limit({ total: '0.0009' });
  expect((await agent.call('read_page', { url: page('solo') })).content[0]?.text).toMatch(/^over_limit: /);
  expect(await paidMicro()).toBe(0n);
  home.limit({ total: '0.001' });
  expect(factsOf(await agent.call('read_page', { url: page('solo') }))).toMatchObject({ how: 'bought', usdc: '0.001' });
  expect([await paidMicro(), home.lines().filter(({ type }) => type === 'signed').length]).toEqual([1_000n, 1]);
});

test('no argument raises a limit, and the tools that may pay say so', async () => {
  home.limit({ total: '0.0005' });
  const agent = await open({});
  const forced = await agent
    .call('read_page', { url: page('trio'), maxMicro: 1_000_000, again: true })
    .catch((error: unknown) => ({ isError: true, content: [{ type: 'text', text: String(error) }] }));
  expect(forced.isError).toBe(true);
  const tools = await agent.tools();
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint === false).map(({ name }) => name)).toEqual([
    'read_page',
    'buy_pages',
  ]);
  expect(await paidMicro()).toBe(0n);
});
