/** The REST API on a real Postgres, with two sites; settling itself is the caller's, since it is tested end to end elsewhere. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAddressReader } from '../../api/address.ts';
import { createApi } from '../../api/app.ts';
import { withSafetyHeaders } from '../../api/everyAnswer.ts';
import type { ApiDeps } from '../../api/route.ts';
import { openDatabase } from '../../db/database.ts';
import { openDirectories } from '../../modules/gate/use/agents/directories.ts';
import type { NewDirectories } from '../../modules/gate/use/agents/newDirectories.ts';
import { openNewDirectories } from '../../modules/gate/use/agents/newDirectories.ts';
import { openLiveness } from '../../modules/gate/use/liveness.ts';
import { HOST_TIMES } from '../../modules/hosts/rules/challengeSchedule.ts';
import type { HostService } from '../../modules/hosts/use/deps.ts';
import type { CodeWalletLimits } from '../../modules/identity/use/accounts/codeWallets.ts';
import { openCodeWallets } from '../../modules/identity/use/accounts/codeWallets.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { openSnapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import type { Scope } from '../../modules/kernel/access/key.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Metrics } from '../../modules/kernel/metrics.ts';
import { openKeyring } from '../../modules/licences/use/keyring.ts';
import { openCreditsBook } from '../../modules/quotes/use/credits/book.ts';
import type { ScopeLimits } from '../../modules/storefront/use/licences/scopes.ts';
import { openScopes, SCOPE_LIMITS } from '../../modules/storefront/use/licences/scopes.ts';
import type { TenantInput } from '../../modules/tenants/use/tenants.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import type { Network } from '../../platform/chain/network.ts';
import { Networks } from '../../platform/chain/network.ts';
import { baseSepoliaNetwork } from '../../platform/chain/presets.ts';
import { routerAddress } from '../../platform/chain/router/split.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import type { RateLimits } from '../../platform/pacing/rates.ts';
import { openRates } from '../../platform/pacing/rates.ts';
import type { PrivateJwk } from '../../platform/tokens/jws.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { createDatabase, PATIENT_MS } from './parts.ts';

/** Wallets of the sites' authors. */
export const WALLETS = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}` as const);
const [A, B, C, D] = WALLETS as [string, string, string, string];

/** What alpha charges: one author, three, a composite, a free page. */
export const ALPHA_PRICING = {
  priceUsdc: '0.001',
  articlePrefixes: ['/articles/'],
  creditsFreeSlugs: ['free'],
  creditsInline: {
    solo: { title: 'Alone', contributors: [{ authorId: 'ann', wallet: A }] },
    trio: {
      contributors: [
        { authorId: 'ann', wallet: A, weight: 5 },
        { authorId: 'bob', wallet: B, weight: 3 },
        { authorId: 'cyd', wallet: C, weight: 2 },
      ],
    },
    duo: {
      contributors: [
        {
          authorId: 'desk',
          weight: 1,
          members: [
            { authorId: 'bob', wallet: B },
            { authorId: 'cyd', wallet: C },
          ],
        },
        { authorId: 'dan', wallet: D, weight: 1 },
      ],
    },
    free: { contributors: [{ authorId: 'ann', wallet: A }] },
  },
} as const;

/** An answer, its body parsed when it is JSON. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of many shapes
  readonly body: any;
}

/** A private signing key. */
export function newSigningKey(): PrivateJwk {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return { kty: 'OKP', crv: 'Ed25519', x: String(jwk.x), d: String(jwk.d) };
}

/** Host verification without its workflows: whatever needs them is 503. */
const NO_HOSTS = { caps: { perHour: 30, perHost: 50, gapMs: 0 }, times: HOST_TIMES, ownHosts: ['svc.example'] };
const away = (): Promise<never> => Promise.reject(new ServiceError('workflows_unavailable', 'no workflows in this test'));

/** Starts the API on a free port. Its clock may be moved and stopped (`time`); `settle` stands for the settlement service. */
export async function startTestApi(
  options: {
    readonly settle?: ApiDeps['settle'];
    readonly signingKey?: PrivateJwk | null;
    readonly floorMicro?: bigint;
    readonly rpcUrls?: readonly string[];
    readonly hosts?: HostService;
    readonly outbound?: Outbound;
    readonly agents?: Partial<ApiDeps['agents']>;
    /** How often new directories of agents are asked; as in production unless told. */
    readonly newDirectories?: NewDirectories;
    readonly metrics?: Metrics;
    readonly testKeysEnabled?: boolean;
    readonly scopes?: ScopeLimits;
    readonly codeWallets?: CodeWalletLimits;
    /** Configured after Base Sepolia. */
    readonly moreNetworks?: readonly Network[];
    /** None: callers may call as often as they like. */
    readonly rates?: RateLimits;
    readonly trustedProxies?: readonly string[];
  } = {},
) {
  const urls = await createDatabase();
  const database = await openDatabase({ url: urls.appUrl, statementTimeoutMs: PATIENT_MS });
  // Where the answer depends on the very second, a test stops the clock: it must not depend on how fast the machine is.
  const time: { offsetMs: number; stoppedAtMs: number | null } = { offsetMs: 0, stoppedAtMs: null };
  const clock = (): number => (time.stoppedAtMs ?? Date.now()) + time.offsetMs;
  const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => problems.push(fields) };
  const problems: object[] = [];
  const network = baseSepoliaNetwork({ rpcUrls: ['http://127.0.0.1:1'], router: routerAddress });
  const networks = new Networks([network, ...(options.moreNetworks ?? [])]);
  const priceFloorMicro = options.floorMicro ?? 1_000n;
  const snapshots = await openSnapshots({
    database,
    directUrl: urls.appUrl,
    networkIds: networks.ids,
    priceFloorMicro,
    clock,
    log,
  });
  const signingKey = options.signingKey === undefined ? newSigningKey() : options.signingKey;
  const keyring = await openKeyring(database, { privateKeys: signingKey ? [signingKey] : [], clock });
  const outbound = options.outbound ?? createOutbound({ allowLoopback: true });
  const secretBox = createSecretBox(randomBytes(32));
  const credits = openCreditsBook({ database, outbound, secretBox, clock, log, forbidden: networks.contracts });
  const liveness = openLiveness({ database, clock, log });
  const newDirectories = options.newDirectories ?? openNewDirectories(clock);
  const failing = new Set<string>();
  const check = (name: string) => () => (failing.has(name) ? Promise.reject(new Error(name)) : Promise.resolve());
  const rpc = createRpc({ ...network, rpcUrls: options.rpcUrls ?? network.rpcUrls });
  const deps: ApiDeps = {
    hosts: options.hosts ?? { ...NO_HOSTS, workflows: { opened: away, check: away } },
    agents: {
      directories: openDirectories({ database, outbound, clock, log, newDirectories }),
      clock,
      acceptTestKeys: false,
      ...options.agents,
    },
    database,
    snapshots,
    keyring,
    credits,
    networks,
    clock,
    log,
    priceFloorMicro,
    outbound,
    reports: { database, clock },
    oidc: null,
    receivers: { outbound, secretBox },
    pepper: pepperOf({ apiKeyPepper: randomBytes(32).toString('hex') }),
    quoteTokenSecrets: [randomBytes(32).toString('hex')],
    baseUrl: 'https://svc.example',
    rpc,
    codeWallets: openCodeWallets({ rpc, clock }, options.codeWallets),
    licenceLifeSeconds: 600,
    scopes: openScopes(options.scopes ?? SCOPE_LIMITS),
    testKeysEnabled: options.testKeysEnabled ?? false,
    ...(options.metrics ? { metrics: options.metrics } : {}),
    ...(options.rates ? { rates: openRates({ limits: options.rates, clock, metrics: options.metrics }) } : {}),
    addressOf: createAddressReader(options.trustedProxies ?? []),
    liveness,
    settle: options.settle ?? (() => Promise.reject(new Error('nothing is settled in this test'))),
    readiness: { database: check('database'), temporal: check('temporal'), chain: check('chain') },
  };
  const server = createServer(withSafetyHeaders(deps.baseUrl, createApi(deps)));
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const url = await listen(server);
  const request = async (path: string, init: RequestInit & { key?: string } = {}): Promise<TestAnswer> => {
    const { key, ...rest } = init;
    const headers = new Headers(rest.headers);
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    const response = await fetch(`${url}${path}`, { ...rest, headers });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  const post = (path: string, key: string | null, body: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> =>
    request(path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers,
      ...(key === null ? {} : { key }),
    });
  const site = async (input: Partial<TenantInput> & { scopes?: readonly Scope[] } = {}) => {
    const { scopes = SCOPES, ...rest } = input;
    const hosts = rest.hosts ?? [`${randomBytes(6).toString('hex')}.example`];
    const { tenantId } = await createTenant({ database, networks }, { plan: 'studio', pricing: ALPHA_PRICING, ...rest, hosts });
    const { token, keyId } = await mintKey(deps, { tenantId, name: 'all', scopes });
    return { tenantId, host: hosts[0] as string, key: token, keyId };
  };
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await liveness.close();
    await deps.agents.directories.settled();
    await outbound.close();
    await snapshots.close();
    await database.close();
    await urls.drop();
  };
  /** The ports of callers that are connected. */
  const callers = () => [...sockets].map(({ remotePort }) => remotePort);
  return { url, urls, callers, deps, secretBox, liveness, time, failing, problems, request, post, site, stop };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
