/** The console beside GraphQL and REST in one server, on a real Postgres, and a browser's habits without a browser. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi } from '../../api/app.ts';
import type { ConsoleHandlerDeps } from '../../api/console/call.ts';
import { createConsole, isConsolePath } from '../../api/console/handler.ts';
import { pathOf } from '../../api/handler.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import { createGraphqlHandler } from '../../graphql/request/handler.ts';
import { GRAPHQL_PATH } from '../../graphql/request/path.ts';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import type { Network } from '../../platform/chain/network.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { openHeavyWork } from '../../platform/pacing/heavy.ts';
import type { RateLimits } from '../../platform/pacing/rates.ts';
import { openRates } from '../../platform/pacing/rates.ts';
import { createOidcVerifier } from '../../platform/tokens/oidc.ts';
import { createOidcLogin } from '../../platform/tokens/oidcLogin.ts';
import { readConsole } from '../../process/api/console.ts';
import { startTestApi } from './api.ts';
import { PATIENT_MS } from './parts.ts';

const UNBOUND = 1_000_000;
const LIFTED: RateLimits = {
  perSecond: { address: UNBOUND, refused: UNBOUND, key: UNBOUND, tenant: UNBOUND, account: UNBOUND, account_address: UNBOUND },
  burstSeconds: 10,
};

/** An answer to a browser: its body as text and, where it is JSON, parsed. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes
  readonly body: any;
}

/** What a test changes about the console. */
export type ConsoleChanges = Partial<Pick<ConsoleHandlerDeps, 'mayCreateSite' | 'oidc' | 'hosts'>> & {
  readonly rates?: RateLimits;
  /** Signs in at the provider of this issuer, as the client of this id. */
  readonly provider?: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string | null };
  /** A demo of a site of this user's. */
  readonly demoOf?: string;
  /** Served under this address, as by a proxy that ends TLS. */
  readonly baseUrl?: string;
  /** Configured after Base Sepolia. */
  readonly moreNetworks?: readonly Network[];
};

/** Starts everything. The caller stops it. */
export async function startTestConsole({ rates, demoOf, provider, moreNetworks = [], ...changes }: ConsoleChanges = {}) {
  const api = await startTestApi({ moreNetworks });
  const { secretBox } = api;
  const { database, pepper, networks, clock, log } = api.deps;
  const connections = { reports: database.pool.options.max, questions: 2 };
  // One piece of a site at once, whatever machine this is, and what waits for its turn is not refused where the machine is slow.
  const heavy = openHeavyWork({ connections, cores: 2, waitMs: PATIENT_MS });
  // A clock that a test sets back fills no bucket until it has caught up: only tests of rates count by it.
  const counted = openRates({ limits: rates ?? LIFTED, clock: rates ? clock : () => performance.now() });
  const graph = { ...api.deps, outbound: createOutbound(), secretBox, oidc: null, rates: counted, heavy } as never;
  const reads = { ...api.deps, reading: database, networkIds: networks.ids };
  const handler = createGraphqlHandler(graph, { ask: openEngine(reads, null), change: openEngine(reads, graph) }, null);
  const rest = createApi({ ...api.deps, heavy });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokenOf = async (tenantId: string, userId = 'you') => createOwnerToken({ database, pepper }, { tenantId, userId });
  const demoToken = demoOf === undefined ? null : (await tokenOf((await api.site()).tenantId, demoOf)).token;
  const outbound = createOutbound({ allowLoopback: true });
  const redirectUri = `${url}/_svc/console/oidc/callback`;
  const login = provider ? createOidcLogin({ ...provider, redirectUri, outbound, clock }) : null;
  const oidc = provider ? createOidcVerifier({ issuer: provider.issuer, audience: 'unused', outbound, clock }) : null;
  const logged: object[] = [];
  const files = readConsole();
  const keep = (fields: object): void => void logged.push(fields);
  const handle = createConsole({
    database,
    pepper,
    clock,
    rates: counted,
    baseUrl: url,
    oidc,
    login,
    secretBox,
    hosts: api.deps.hosts,
    networks,
    testKeysEnabled: false,
    demoToken,
    files: () => files,
    log: { ...log, info: keep, warn: keep, error: keep } as never,
    reports: api.deps.reports,
    heavy,
    priceFloorMicro: api.deps.priceFloorMicro,
    addressOf: () => '192.0.2.1',
    mayCreateSite: () => false,
    answerGraphql: handler,
    ...changes,
  });
  server.on('request', (request, response) => {
    const path = pathOf(request);
    if (isConsolePath(path)) void handle(request, response);
    else if (path === GRAPHQL_PATH) void handler(request, response);
    else rest(request, response);
  });
  return {
    api,
    url,
    database,
    heavy,
    logged,
    tokenOf,
    browser: () => new Browser(url),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await outbound.close();
      await api.stop();
    },
  };
}

/** Does what a browser does by itself on a page of ours: keeps cookies, says where a call comes from. */
export class Browser {
  readonly url: string;
  readonly cookies = new Map<string, string>();
  csrf = '';

  constructor(url: string) {
    this.url = url;
  }

  /** The cookie of the session as a header has it. */
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Sends a call of our own page; headers of null are left out. */
  async send(
    method: string,
    path: string,
    { body, headers = {} }: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string | null>> } = {},
  ): Promise<PageAnswer> {
    const all: Record<string, string | null> = {
      ...(method === 'GET' ? {} : { origin: this.url, 'x-csrf-token': this.csrf, 'content-type': 'application/json' }),
      'sec-fetch-site': 'same-origin',
      ...(this.cookies.size > 0 ? { cookie: this.cookie } : {}),
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
    const response = await fetch(path.startsWith('http') ? path : `${this.url}${path}`, {
      method,
      headers: sent,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=', 2);
      if (line.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const parsed = isJson ? JSON.parse(text) : null;
    if (typeof parsed?.csrf === 'string') this.csrf = parsed.csrf;
    return { status: response.status, headers: response.headers, text, body: parsed };
  }

  get(path: string, headers: Readonly<Record<string, string | null>> = {}): Promise<PageAnswer> {
    return this.send('GET', path, { headers });
  }

  /** Signs in with an owner's token. */
  signIn(token: string): Promise<PageAnswer> {
    return this.send('POST', '/_svc/console/session', { body: { token } });
  }

  /** Asks GraphQL as the page does. */
  ask(query: string, headers: Readonly<Record<string, string | null>> = {}): Promise<PageAnswer> {
    return this.send('POST', '/_svc/console/graphql', { body: { query }, headers });
  }
}
