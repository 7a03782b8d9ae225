import { z } from 'zod';
import { licenceKeys, relayerKeys } from './keys.ts';
import { networks } from './networks.ts';
import {
  flag,
  issuer,
  key32,
  nameServers,
  priceFloor,
  publicUrl,
  secret,
  secretList,
  share,
  text,
  url,
  wei,
  wholeNumber,
} from './parsers.ts';
import type { Variable, WithDefault } from './variable.ts';

function withDefault<T>(variable: WithDefault<T>): WithDefault<T> {
  return variable;
}
function optional<T>(variable: Variable<T>): Variable<T> {
  return variable;
}

/** What this process is and where it listens. */
const process = {
  environment: withDefault({
    name: 'NODE_ENV',
    about: 'production, development or test; production refuses whatever is meant for tests only.',
    example: 'production',
    fallback: 'production',
    schema: z.enum(['production', 'development', 'test'], 'must be production, development or test'),
  }),
  logLevel: withDefault({
    name: 'LOG_LEVEL',
    about: 'The least severe line that is written.',
    example: 'info',
    fallback: 'info',
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be a pino level'),
  }),
  listenHost: withDefault({
    name: 'HOST',
    about: 'The address the API listens on.',
    example: '0.0.0.0',
    fallback: '127.0.0.1',
    schema: text,
  }),
  port: withDefault({
    name: 'PORT',
    about: 'The port the API listens on; 0 takes any free one.',
    example: '8402',
    fallback: '8402',
    schema: wholeNumber(0, 65_535),
  }),
  drainNoticeMs: withDefault({
    name: 'DRAIN_NOTICE_MS',
    about: 'After SIGTERM /readyz answers 503 for so long before the API takes no more calls, in milliseconds.',
    example: '2000',
    fallback: '2000',
    schema: wholeNumber(0, 30_000),
  }),
  publicBaseUrl: optional({
    name: 'PUBLIC_BASE_URL',
    about: 'The address others reach the API by; issuer and audience of what we sign. Not set: the address listened on.',
    example: 'https://api.example.com',
    schema: publicUrl,
  }),
};

/** What it shows of itself. */
const telemetry = {
  metricsPort: optional({
    name: 'METRICS_PORT',
    about: 'Serves /metrics in the Prometheus format on a port of its own; 0 takes any free one. Not set: nothing is measured.',
    example: '9464',
    schema: wholeNumber(0, 65_535),
  }),
  metricsHost: withDefault({
    name: 'METRICS_HOST',
    about: 'The address /metrics is served on; it needs no credential, so keep it inside.',
    example: '127.0.0.1',
    fallback: '127.0.0.1',
    schema: text,
  }),
  metricsIntervalMs: withDefault({
    name: 'METRICS_INTERVAL_MS',
    about: 'How often the worker reads the figures that stand in the database, in milliseconds.',
    example: '10000',
    fallback: '10000',
    schema: wholeNumber(100, 600_000),
  }),
  otlpEndpoint: optional({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    about: 'Base URL of the OTLP collector traces are sent to (HTTP). Not set: no traces.',
    example: 'http://127.0.0.1:4318',
    schema: url('https', 'http'),
  }),
  traceRatio: withDefault({
    name: 'TRACE_RATIO',
    about: 'Share of new traces that are kept, 0 to 1; the decision of a caller that sends one is followed.',
    example: '0.1',
    fallback: '1',
    schema: share,
  }),
};

/** Where rows and workflows live. */
const storage = {
  databaseUrl: optional({
    name: 'DATABASE_URL',
    about: 'Postgres for ordinary work; may lead through a transaction pooler.',
    example: 'postgres://service@db.example:5432/service',
    fromFile: true,
    schema: url('postgres', 'postgresql'),
  }),
  databaseDirectUrl: optional({
    name: 'DATABASE_DIRECT_URL',
    about: 'Postgres without a pooler in between, for LISTEN and advisory locks. Not set: DATABASE_URL.',
    example: 'postgres://service@db.example:5432/service',
    fromFile: true,
    schema: url('postgres', 'postgresql'),
  }),
  databaseOwnerUrl: optional({
    name: 'DATABASE_OWNER_URL',
    about: 'Postgres as the role that owns the tables; only migrations need it.',
    example: 'postgres://owner@db.example:5432/service',
    fromFile: true,
    schema: url('postgres', 'postgresql'),
  }),
  databasePoolSize: withDefault({
    name: 'DATABASE_POOL_SIZE',
    about: 'Connections to Postgres per process.',
    example: '10',
    fallback: '10',
    schema: wholeNumber(1, 500),
  }),
  groupCommitByTenant: withDefault({
    name: 'GROUP_COMMIT_BY_TENANT',
    about: 'true where Postgres is sharded by tenant (Citus): group commits then hold rows of one tenant each.',
    example: 'false',
    fallback: 'false',
    schema: flag,
  }),
  databaseReadUrl: optional({
    name: 'DATABASE_READ_URL',
    about: 'A replica of Postgres that GraphQL reads reports from; they may lag a little. Not set: DATABASE_URL.',
    example: 'postgres://service@replica.example:5432/service',
    fromFile: true,
    schema: url('postgres', 'postgresql'),
  }),
  temporalAddress: optional({
    name: 'TEMPORAL_ADDRESS',
    about: 'host:port of the Temporal frontend.',
    example: 'temporal.example:7233',
    schema: text.regex(/^(\[[0-9a-fA-F:]+\]|[^\s:/]+):\d{1,5}$/, 'must be host:port'),
  }),
  temporalNamespace: withDefault({
    name: 'TEMPORAL_NAMESPACE',
    about: 'The Temporal namespace; its retention must be at least 30 days.',
    example: 'default',
    fallback: 'default',
    schema: text,
  }),
  temporalUiUrl: optional({
    name: 'TEMPORAL_UI_URL',
    about: 'Where people read workflows; used in links only.',
    example: 'https://temporal.example.com',
    schema: url('https', 'http'),
  }),
};

/** Chains, keys and secrets. */
const keys = {
  networks: optional({
    name: 'NETWORKS',
    about:
      'The networks we settle on, a JSON list; Base (eip155:8453) and Base Sepolia (eip155:84532) need id, rpcUrls and router only.',
    example: '[{"id":"eip155:8453","rpcUrls":["https://rpc.example"],"router":"0x…"}]',
    fromFile: true,
    schema: networks,
  }),
  relayerPrivateKeys: optional({
    name: 'RELAYER_PRIVATE_KEYS',
    about: 'Keys that pay gas, by network, as JSON; only the worker takes it.',
    example: '{"eip155:8453":["0x…"]}',
    fromFile: true,
    schema: relayerKeys,
  }),
  licenceKeys: optional({
    name: 'LICENCE_KEYS',
    about: 'Private JWK set (Ed25519) that signs licences, newest first; its public half is served as JWKS.',
    example: '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"…","d":"…"}]}',
    fromFile: true,
    schema: licenceKeys,
  }),
  quoteTokenSecrets: optional({
    name: 'QUOTE_TOKEN_SECRETS',
    about: 'Secrets of quote tokens, comma-separated, newest first, 32 bytes or more each; keep an old one for 10 minutes.',
    example: 'newest…,previous…',
    fromFile: true,
    schema: secretList,
  }),
  apiKeyPepper: optional({
    name: 'API_KEY_PEPPER',
    about: 'Keys the hash of every stored API key, 32 bytes or more; changing it makes all keys unknown.',
    example: 'openssl-rand-base64-48…',
    fromFile: true,
    schema: secret,
  }),
  secretsKey: optional({
    name: 'SECRETS_KEY',
    about: 'Encrypts webhook secrets at rest: 32 bytes in base64url.',
    example: '43-characters-of-base64url…',
    fromFile: true,
    schema: key32,
  }),
};

/** How owners of sites sign in. */
const owners = {
  oidcIssuer: optional({
    name: 'OIDC_ISSUER',
    about: 'OpenID Connect issuer of owners of sites, exactly as its tokens write it. Not set: only tokens of bin/admin work.',
    example: 'https://login.example.com/',
    schema: issuer,
  }),
  oidcAudience: optional({
    name: 'OIDC_AUDIENCE',
    about: 'The audience tokens of owners must have; needed with OIDC_ISSUER.',
    example: 'content-settlement',
    schema: text,
  }),
};

/** E-mail of alerts. */
const mail = {
  smtpUrl: optional({
    name: 'SMTP_URL',
    about: 'The mail server for alerts, user and password included. Not set: no e-mail is sent.',
    example: 'smtps://user:password@mail.example:465',
    fromFile: true,
    schema: url('smtps', 'smtp'),
  }),
  alertMailFrom: withDefault({
    name: 'ALERT_MAIL_FROM',
    about: 'The address alerts come from.',
    example: 'alerts@service.example',
    fallback: 'alerts@localhost',
    schema: text.regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/, 'must be one e-mail address'),
  }),
};

/** The GraphQL door. */
const graphql = {
  graphqlPoolSize: withDefault({
    name: 'GRAPHQL_POOL_SIZE',
    about: 'Connections to Postgres per API process that GraphQL reads through, besides those of everything else.',
    example: '2',
    fallback: '2',
    schema: wholeNumber(1, 50),
  }),
  graphqlStatementTimeoutMs: withDefault({
    name: 'GRAPHQL_STATEMENT_TIMEOUT_MS',
    about: 'How long one statement of a GraphQL query may take, in milliseconds.',
    example: '5000',
    fallback: '5000',
    schema: wholeNumber(100, 60_000),
  }),
  graphiql: optional({
    name: 'GRAPHIQL',
    about: 'Whether a browser gets the GraphiQL page at /_svc/graphql. Not set: everywhere but in production.',
    example: 'true',
    schema: flag,
  }),
  graphiqlToken: optional({
    name: 'GRAPHIQL_TOKEN',
    about: 'A credential that the GraphiQL page fills in, for sample data alone; refused in production.',
    example: 'svc_owner_…',
    fromFile: true,
    schema: text,
  }),
};

/** Money, time and load. */
const limits = {
  licenceLifeSeconds: withDefault({
    name: 'LICENCE_LIFE_SECONDS',
    about: 'Life of a re-read licence and of an access token, in seconds; at most 3600.',
    example: '600',
    fallback: '600',
    schema: wholeNumber(60, 3600),
  }),
  priceFloorMicro: withDefault({
    name: 'PRICE_FLOOR_MICRO',
    about: 'The lowest price of anything that is not free, in micro-USDC.',
    example: '1000',
    fallback: '1000',
    schema: priceFloor,
  }),
  settleWaitMs: withDefault({
    name: 'SETTLE_WAIT_MS',
    about: 'How long a call waits for its payment to be decided before it answers settlement_pending, in milliseconds.',
    example: '20000',
    fallback: '20000',
    schema: wholeNumber(100, 60_000),
  }),
  eventWindowMs: withDefault({
    name: 'EVENT_WINDOW_MS',
    about: 'How long settled payments are gathered into one settlement.completed event, in milliseconds.',
    example: '300000',
    fallback: '300000',
    schema: wholeNumber(100, 3_600_000),
  }),
  reconcileIntervalMs: withDefault({
    name: 'RECONCILE_INTERVAL_MS',
    about: 'How often the ledger is compared with the chain, in milliseconds.',
    example: '60000',
    fallback: '60000',
    schema: wholeNumber(100, 3_600_000),
  }),
  sweepIntervalMs: withDefault({
    name: 'SWEEP_INTERVAL_MS',
    about: 'How often payments that no live workflow holds are picked up, in milliseconds.',
    example: '5000',
    fallback: '5000',
    schema: wholeNumber(100, 600_000),
  }),
  anomalyIntervalMs: withDefault({
    name: 'ANOMALY_INTERVAL_MS',
    about: "How often publishers' anomaly rules are looked at, in milliseconds.",
    example: '300000',
    fallback: '300000',
    schema: wholeNumber(100, 3_600_000),
  }),
  relayerInFlight: withDefault({
    name: 'RELAYER_IN_FLIGHT',
    about: 'Unmined transactions one relayer key may have at once.',
    example: '4',
    fallback: '4',
    schema: wholeNumber(1, 64),
  }),
  gasBudgetWeiPerDay: optional({
    name: 'GAS_BUDGET_WEI_PER_DAY',
    about: 'Gas one tenant may cost a day, in wei. Not set: no limit.',
    example: '50000000000000000',
    schema: wei,
  }),
};

/** How hosts are proven, and what they are allowed to cost. */
const hosts = {
  hostChecksPerHour: withDefault({
    name: 'HOST_CHECKS_PER_HOUR',
    about: 'Host checks an account may ask for in an hour.',
    example: '30',
    fallback: '30',
    schema: wholeNumber(1, 100_000),
  }),
  hostChecksPerHost: withDefault({
    name: 'HOST_CHECKS_PER_HOST',
    about: 'Host checks that may be asked for of one host name in total, until it is proven.',
    example: '50',
    fallback: '50',
    schema: wholeNumber(1, 1_000_000),
  }),
  hostCheckGapMs: withDefault({
    name: 'HOST_CHECK_GAP_MS',
    about: 'Least time between two checks of a host that are asked for, in milliseconds.',
    example: '2000',
    fallback: '2000',
    schema: wholeNumber(0, 3_600_000),
  }),
  hostFirstCheckMs: withDefault({
    name: 'HOST_FIRST_CHECK_MS',
    about: 'From opening a challenge to its first automatic check, in milliseconds.',
    example: '60000',
    fallback: '60000',
    schema: wholeNumber(100, 3_600_000),
  }),
  hostRecheckMs: withDefault({
    name: 'HOST_RECHECK_MS',
    about: 'How often a verified host is checked again, in milliseconds.',
    example: '86400000',
    fallback: '86400000',
    schema: wholeNumber(1_000, 604_800_000),
  }),
  hostResolvers: optional({
    name: 'HOST_RESOLVERS',
    about: 'Name servers for DNS proofs, comma-separated, in different networks: all must agree. Not set: those of the system.',
    example: '192.0.2.53,[2001:db8::53]:53',
    schema: nameServers,
  }),
  fleetHost: optional({
    name: 'FLEET_HOST',
    about: 'The name that CNAMEs of fleet-routed hosts point at. Not set: there is no fleet.',
    example: 'fleet.example.com',
    schema: text.toLowerCase(),
  }),
};

/** Another's facilitator, for networks of NETWORKS with `"settler":"facilitator"`. */
const facilitator = {
  facilitatorUrl: optional({
    name: 'FACILITATOR_URL',
    about: 'The x402 v2 facilitator (its /supported and /settle stand below it) for networks whose settler is `facilitator`.',
    example: 'https://facilitator.example',
    schema: publicUrl,
  }),
  facilitatorToken: optional({
    name: 'FACILITATOR_TOKEN',
    about: 'Sent to the facilitator as a bearer token. Not set: none is sent.',
    example: 'token-of-the-facilitator…',
    fromFile: true,
    schema: text,
  }),
  facilitatorStatusUrl: optional({
    name: 'FACILITATOR_STATUS_URL',
    about:
      'Where a facilitator that answers with ids of its own tells what became of one; `{id}` is replaced. Not set: such ids prove nothing.',
    example: 'https://facilitator.example/transfers/{id}',
    schema: text.regex(/^https?:\/\/[^\s{}]+\{id\}[^\s{}]*$/, 'must be an http or https URL with {id} in it'),
  }),
};

/** Doors that stay shut in production; `readConfig` refuses them there. */
const dangerous = {
  outboundAllowLoopback: withDefault({
    name: 'OUTBOUND_ALLOW_LOOPBACK',
    about: 'Lets outgoing requests reach loopback addresses over http; refused in production.',
    example: 'false',
    fallback: 'false',
    schema: flag,
  }),
  outboundSandboxWeb: optional({
    name: 'OUTBOUND_SANDBOX_WEB',
    about: 'Where the web and DNS of sandbox.example, alpha.example and beta.example are played; refused in production.',
    example: 'http://127.0.0.1:8406',
    schema: url('http'),
  }),
  testKeysEnabled: withDefault({
    name: 'TEST_KEYS_ENABLED',
    about: 'Accepts svc_test_ keys, whose settlements are mock and never count as money.',
    example: 'false',
    fallback: 'false',
    schema: flag,
  }),
  crashAt: optional({
    name: 'CRASH_AT',
    about: 'Name of the fail point at which the process ends itself, for fault tests; refused in production.',
    example: 'after_sign',
    schema: text.regex(/^[a-z0-9_]+$/, 'must be the name of a fail point'),
  }),
};

/** The environment by heading, in the order of `.env.example`. */
export const GROUPS = {
  'What this process is and where it listens': process,
  'What it shows of itself': telemetry,
  'Where rows and workflows live': storage,
  'Chains, keys and secrets': keys,
  'How owners sign in': owners,
  'E-mail of alerts': mail,
  'The GraphQL door': graphql,
  'Money, time and load': limits,
  'How hosts are proven': hosts,
  "Another's facilitator": facilitator,
  'For tests and development only': dangerous,
};

/** Every variable we read, by its name in `Config`. Nothing else of the environment has an effect on us. */
export const VARIABLES = {
  ...process,
  ...telemetry,
  ...storage,
  ...keys,
  ...owners,
  ...mail,
  ...graphql,
  ...limits,
  ...hosts,
  ...facilitator,
  ...dangerous,
};
