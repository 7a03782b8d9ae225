/** A service, sites that want to be found and let their text be handed on, and agents that buy of it over MCP by the x402 specification. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ExactEvmScheme } from '@x402/evm';
import { x402Client } from '@x402/fetch';
import type { RequestHandler } from 'express';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Budget } from '../../modules/budgets/rules/decide.ts';
import { readOpenLedger, writeBudget } from '../../modules/budgets/store/budgets.ts';
import { setSiteDiscovery } from '../../modules/discovery/use/manageDiscovery.ts';
import type { AgentWeb } from './agentWeb.ts';
import { gatedPages, openAgentWeb } from './agentWeb.ts';
import { WALLETS } from './api.ts';
import { signInWith } from './licences.ts';
import type { TestService, TestSite } from './service.ts';
import { CALM, startTestService } from './service.ts';

const [A = '', B = '', C = ''] = WALLETS;
const TRIO = [
  { authorId: 'ann', wallet: A, weight: 5 },
  { authorId: 'bob', wallet: B, weight: 3 },
  { authorId: 'cyd', wallet: C, weight: 2 },
];

/** The world of one test file. */
export interface AgentWorld {
  readonly service: TestService;
  readonly web: AgentWeb;
  /** A site that is found and relays; its pages, by slug, with their titles, are of three authors each. */
  site(name: string, priceUsdc: string, titles: Readonly<Record<string, string>>, pages?: RequestHandler): Promise<TestSite>;
  /** An agent with a wallet of its own, and the account of that wallet; `mayMicro` is what the account may spend in a day. */
  agent(fundsMicro: bigint, budget: Partial<Budget>): Promise<Agent>;
  stop(): Promise<void>;
}

/** What a tool told: `isError`, and its data. */
// biome-ignore lint/suspicious/noExplicitAny: results of many tools
export type Told = any;

/** An agent: one account, one wallet. */
export interface Agent {
  readonly accountId: string;
  readonly wallet: PrivateKeyAccount;
  /** Calls a tool by a new client, as the account; `payment` goes along as an object. */
  call(name: string, args: object, options?: { readonly payment?: object; readonly baseUrl?: string }): Promise<Told>;
  /** The payment of an offer that a tool told. */
  sign(told: Told): Promise<object>;
  /** Asks, signs if an offer comes, and pays. */
  buy(name: string, args: object, baseUrl?: string): Promise<Told>;
  /** Changes what the account may spend. */
  allow(changes: Partial<Budget>): Promise<void>;
  /** What counts against it now. */
  spentMicro(): Promise<bigint>;
}

const FREE: Budget = {
  period: 'day',
  totalMicro: 1_000_000n,
  hostMicro: null,
  pageMicro: null,
  approveAboveMicro: null,
  isStopped: false,
};

/** Starts it; `apis` processes. */
export async function startAgentWorld(apis = 1): Promise<AgentWorld> {
  const web = await openAgentWeb();
  const service = await startTestService({ apis, environment: { ...CALM, OUTBOUND_SANDBOX_WEB: web.url } });
  const site: AgentWorld['site'] = async (name, priceUsdc, titles, pages) => {
    const creditsInline = Object.fromEntries(
      Object.entries(titles).map(([slug, title]) => [slug, { title, contributors: TRIO }]),
    );
    const pricing = { priceUsdc, articlePrefixes: ['/articles/'], creditsInline };
    const made = await service.site({ hosts: [`${name}.sandbox.example`], pricing });
    web.put(made.host, gatedPages(service, made, pages));
    const call = { actor: { userId: 'owner', via: 'token' as const }, tenantId: made.tenantId };
    await setSiteDiscovery(service, call, { summary: name, tags: [], relays: true });
    return made;
  };
  return {
    service,
    web,
    site,
    agent: (fundsMicro, budget) => newAgent(service, fundsMicro, budget),
    stop: async () => {
      await service.stop();
      await web.close();
    },
  };
}

async function newAgent(service: TestService, fundsMicro: bigint, budget: Partial<Budget>): Promise<Agent> {
  const wallet = await service.payer(fundsMicro);
  const { token, accountId } = await signInWith(service.baseUrl, wallet);
  const payer = new x402Client().register('eip155:*', new ExactEvmScheme(wallet));
  const call: Agent['call'] = async (name, args, { payment, baseUrl = service.baseUrl } = {}) => {
    const client = new Client({ name: 'agent', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/_svc/mcp', baseUrl), { requestInit }));
    try {
      const meta = payment === undefined ? {} : { _meta: { 'x402/payment': payment } };
      return await client.callTool({ name, arguments: { ...args }, ...meta });
    } finally {
      await client.close();
    }
  };
  const sign: Agent['sign'] = (told) => payer.createPaymentPayload(told.structuredContent);
  const agent: Agent = {
    accountId,
    wallet,
    call,
    sign,
    buy: async (name, args, baseUrl = service.baseUrl) => {
      const told = await call(name, args, { baseUrl });
      if (told.structuredContent?.accepts === undefined) return told;
      return await call(name, args, { baseUrl, payment: await sign(told) });
    },
    allow: async (changes) => {
      const ledger = await readOpenLedger(service.database, accountId);
      const before = ledger?.budget ?? FREE;
      const written = await writeBudget(service.database, accountId, { ...before, ...changes }, ledger?.budget?.version ?? 0);
      if (typeof written === 'string') throw new Error(`the budget is not written: ${written}`);
    },
    spentMicro: async () => (await readOpenLedger(service.database, accountId))?.spentMicro.get('') ?? 0n,
  };
  await agent.allow(budget);
  return agent;
}

/** The text of the page that a result carries, with its address. */
export function pageIn(told: Told): { readonly uri: string; readonly text: string } | undefined {
  return told.content.map(({ resource }: { resource?: { uri: string; text: string } }) => resource).find((one: unknown) => one);
}
