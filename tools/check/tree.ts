import { readFileSync } from 'node:fs';
import { listPaths } from './sources.ts';
import { ROOT } from './tool.ts';

/**
 * What stands in each folder, in one line. The tree in ARCHITECTURE.md is written from it, and a folder without a line, or a line without a
 * folder, fails the check: a new concept says here where it lives.
 */
const SHELVES: Readonly<Record<string, string>> = {
  'domain/': 'pure rules: no I/O, no packages, no clock',
  'domain/access/': 'what a key may do, bearer credentials, token buckets',
  'domain/anomaly/': 'when a figure is worth an alert',
  'domain/budget/': 'what an account may spend, and when it sends alerts',
  'domain/discovery/': 'how agents find a site: offers’ extensions, manifests',
  'domain/gate/': 'what a publisher’s gate decides by, agents by name, enforcement',
  'domain/hosts/': 'hosts, resource URLs, the challenge that proves a host',
  'domain/licence/': 'claims, periods, proofs of a licence, notices to its buyer',
  'domain/money/': 'micro-USDC, legs and their rounding, who is credited',
  'domain/pages/': 'articles and slugs, path patterns, scopes, the catalogue',
  'domain/payment/': 'the state machine of a payment, its judgement, batches, gas, guards',
  'domain/pricing/': 'what a page costs: price versions, quotes, terms',
  'domain/receipts/': 'receipts of x402, did documents, the public record of a payment',
  'domain/reports/': 'windows, series, which payout of a split pays which leg',
  'domain/rsl/': 'terms in RSL 1.0: license.xml, lines for robots.txt',
  'domain/rules/': 'price rules: which one applies, the page classes they form',
  'domain/signIn/': 'messages a wallet signs in with, and their nonces',
  'domain/webhook/': 'events, endpoints, signatures, retries',
  'domain/webbotauth/': 'what a signature says about the agent that sent a request',
  'domain/x402/': 'the payment a buyer sends: payload, authorization, why one fails',
  'db/': 'storage: migrations, entities, the SQL of hot paths and reports',
  'db/anomalies/': 'figures that anomaly rules evaluate, rules, mails',
  'db/budget/': 'budgets of accounts, what was spent, alerts',
  'db/credentials/': 'keys, accounts, owners, sessions, pepper, signing keys',
  'db/entities/': 'each table and view of the ledger, column by column',
  'db/gate/': 'enforcement settings and observations',
  'db/hosts/': 'hosts, their challenges, caps, removal',
  'db/licences/': 'licences, offers, revocation',
  'db/lists/': 'the lists of GraphQL, a page at a time',
  'db/months/': 'months of money that are closed, and payments that come back out of one',
  'db/migrations/': 'the schema: one file an area, then one a step',
  'db/operator/': 'operators’ queries and actions: review, partitions, retention, erasure, the audit log',
  'db/operator/finds/': 'operators’ searches: payments, licences, sites, buyers',
  'db/receipts/': 'rows behind the public record of a payment',
  'db/reconciliation/': 'ledger compared with chain, corrections',
  'db/reports/': 'sums of windows and their rollups',
  'db/reports/audit/': 'sums of observations',
  'db/reports/earnings/': 'sums of crossings and legs, statements, exports',
  'db/settlement/': 'payments: accepted, claimed, signed, decided, watched',
  'db/tenants/': 'tenants, prices, members, the reads behind quotes',
  'db/search/': 'pages of listed sites, by their words',
  'db/usage/': 'what buyers report of their use',
  'db/webhooks/': 'outbox, deliveries, leases, endpoints',
  'contracts/': 'Solidity: the legs split and its router; compiled artifacts are committed',
  'chain/': 'networks, the relayer’s transactions, offers',
  'chain/calls/': 'call data packed by hand, many reads in one call',
  'chain/evidence/': 'what logs prove, sights of a payment',
  'chain/gas/': 'gas limits, fees and their replacement, who bears them',
  'chain/router/': 'splits: their addresses, code, calls and payees',
  'chain/rpc/': 'nodes of a chain, and which one to ask',
  'chain/signature/': 'who signed: keys, contract wallets, the relayer’s signers',
  'adapters/': 'one outside library each',
  'adapters/agents/': 'signatures of requests (RFC 9421) and the keys of their agents',
  'adapters/kms/': 'relayer keys in a key management service',
  'adapters/outbound/': 'requests to addresses that users gave us, DNS, probes of hosts',
  'adapters/pdf/': 'statements as PDF, their fonts',
  'adapters/telemetry/': 'log, metrics, traces',
  'adapters/tokens/': 'JWS, client assertions, OpenID Connect, sealed secrets',
  'services/': 'what the service can do: where rules meet storage',
  'services/accounts/': 'buyers’ accounts and their sign-in',
  'services/agents/': 'which agent signed a request: directories, their keys, the verdict',
  'services/anomalies/': 'sweeps, mails and webhooks of anomalies',
  'services/budget/': 'budgets of accounts: what they allow, what was spent, alerts',
  'services/console/': 'sessions of the console',
  'services/credentials/': 'keys: issued, hashed, cached while valid',
  'services/credits/': 'who wrote a page, from the site’s own API',
  'services/discovery/': 'public documents about a site',
  'services/gate/': 'settings of a gate, its reports, its liveness',
  'services/hosts/': 'verification of hosts',
  'services/licences/': 'licences: priced, bought, held, checked, revoked',
  'services/lists/': 'what GraphQL lists',
  'services/offers/': 'a 402 with its offer and extensions',
  'services/olp/': 'tokens by the Open License Protocol, and the terms that request them',
  'services/operations/': 'what bin/admin does',
  'services/owners/': 'owners: sign-up, tokens, OpenID Connect',
  'services/pacing/': 'rates, turns, heavy work of a site, slices of the event loop, work shared by concurrent callers',
  'services/quotes/': 'quotes, their tokens, and which terms a payment was made for',
  'services/purchases/': 'pages sold without a gate: requested first, relayed, read again',
  'services/receipts/': 'signed receipts, public records',
  'services/rails/': 'how money moves: our relayer, another’s facilitator, none',
  'services/reconciliation/': 'rows compared with the chain',
  'services/reports/': 'earnings, audit, statements, exports',
  'services/retention/': 'deletes what has expired',
  'services/rules/': 'price rules of a site, simulated on past requests',
  'services/settlement/': 'a payment, from the signature to the ledger',
  'services/settlement/accept/': 'accepts or refuses, and waits for the outcome',
  'services/settlement/answer/': 'answers to the caller',
  'services/settlement/batch/': 'chooses, claims, simulates, sends, confirms',
  'services/settlement/relayer/': 'nonces, funds and gas of relayer keys',
  'services/settlement/watch/': 'follows payments that no caller waits for',
  'services/search/': 'pages by their words, with what they cost now',
  'services/site/': 'what an owner changes on a site',
  'services/siwx/': 'reissues a licence to the wallet that bought the page',
  'services/tenants/': 'tenants cached in memory, their networks and members',
  'services/usage/': 'buyers’ reports of use, beside what was sold',
  'services/webhooks/': 'events dispatched, signed, retried',
  'workflows/': 'what lasts longer than a request; deterministic, replayed',
  'activities/': 'the steps of workflows',
  'api/': 'REST under `/_svc/*`',
  'api/console/': 'the console’s page, files and sessions over HTTP',
  'api/examples/': 'examples in the API description',
  'api/mcp/': 'the MCP server: dialects of payment, one file a tool',
  'api/olp/': 'the endpoints of the Open License Protocol',
  'api/receipts/': 'the record of a payment: JSON, signed, a page for people',
  'api/routes/': 'one file an endpoint',
  'api/schemas/': 'bodies and parameters as zod schemas, which also describe them',
  'graphql/': 'the admin surface at `/_svc/graphql`: reports, and what owners change',
  'graphql/buyers/': 'what the owner of a buyer account sees and changes',
  'graphql/limits/': 'what a query may cost, computed before it runs',
  'graphql/mutations/': 'what owners change',
  'graphql/request/': 'a request: its caller and its answer',
  'graphql/schema/': 'building blocks of the schema',
  'graphql/thread/': 'queries run off the thread that quotes and settles',
  'graphql/types/': 'types for reading',
  'console/': 'the page for owners at `/_svc/console`, served as it is written',
  'process/': 'the parts of a running process: configuration, networks, keys, telemetry',
  'process/api/': 'the API process',
  'process/config/': 'variables, and how they are read',
  'bin/': 'commands of the service',
  'bin/admin/': 'commands of the operator',
  'tools/': 'programs of development: checks, tests, mutants, faults, simulator, documents',
  'tools/check/': 'the steps of `npm run check`, and the generated documents',
  'tools/test/': 'which test files run, and what they report',
  'sandbox/': 'everything on one machine: `npm start` and `npm run cluster`',
  'sandbox/cluster/': 'several processes, a proxy, alerts',
  'sandbox/history/': '28 days of sales of the demo site',
  'sandbox/parts/': 'embedded Postgres, Temporal and chain',
  'deploy/': 'settings for containers, Temporal, Prometheus and Grafana',
  'packages/': 'what publishers install: a package for JavaScript, a plugin for WordPress',
  'examples/': 'publishers and a buyer, as newcomers write them',
  'test/':
    'unit, property, contract, simulation, integration, workflow, e2e, fault, mutants, repo; clients, starters and wordpress run apart',
  'bench/': 'figures, each beside a named reference in the same run',
  'docs/': 'pages by reader; `adr/` has the decisions, one page each',
};

/** Layers whose folders stand in the tree one by one. */
const OPENED = /^(domain|db|chain|adapters|services|api|graphql|process|bin|tools|sandbox)\//;
/** Folders inside a concept that are its own matter. */
const CLOSED =
  /^(services\/(rails|reports)|db\/operator|db\/reports|chain\/rpc|process\/config|sandbox\/parts|api\/(mcp|routes|console|schemas)|graphql\/types)\/./;
const START = '<!-- The tree: written by `npm run generate` from tools/check/tree.ts. -->\n```\n';
const END = '\n```\n<!-- End of the tree. -->';

/** Every folder that the tree has to name, with a slash at its end. */
export function shelvesOf(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const folders = path.split('/').slice(0, -1);
    folders.forEach((_, index) => {
      const folder = `${folders.slice(0, index + 1).join('/')}/`;
      const isNamed = index === 0 ? !folder.startsWith('.') : OPENED.test(folder) && !CLOSED.test(folder);
      if (isNamed || SHELVES[folder] !== undefined) found.add(folder);
    });
  }
  return [...found];
}

/** ARCHITECTURE.md with the tree as it is. Throws for a folder without a line and for a line without a folder. */
export function renderArchitecture(): string {
  const present = new Set(shelvesOf(listPaths()));
  const unnamed = [...present].filter((folder) => SHELVES[folder] === undefined);
  const gone = Object.keys(SHELVES).filter((folder) => !present.has(folder));
  const problems = [
    ...unnamed.map((folder) => `${folder} has no line in tools/check/tree.ts`),
    ...gone.map((folder) => `tools/check/tree.ts names ${folder}, which is not there`),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const text = readFileSync(`${ROOT}ARCHITECTURE.md`, 'utf8');
  const [before, rest = ''] = text.split(START);
  const after = rest.slice(rest.indexOf(END) + END.length);
  return `${before}${START}${treeLines().join('\n')}${END}${after}`;
}

/** One line a folder: indented by its depth, its own name, what stands in it. */
function treeLines(): string[] {
  return Object.entries(SHELVES).map(([folder, line]) => {
    const depth = folder.split('/').length - 2;
    const name = `${'  '.repeat(depth)}${folder.split('/').at(-2)}/`;
    return `${name.padEnd(20)} ${line}`;
  });
}
