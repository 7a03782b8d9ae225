/**
 * Who may import whom, as errors. Imports that only carry types count too: the parser (swc) sees `import type` like any other
 * import, so a layer cannot lean on another one's shapes either. The one type-only bridge, workflows → activities, is held by
 * tools/check/layers.ts, which asks that those imports say `import type`; the workflow bundle check holds it a second time. Cycles are
 * Biome's to find (noImportCycles), which does tell types from values: two files may know each other's types.
 */

const SURFACES = ['api', 'graphql', 'activities'];

/** Everything of ours that is a layer; what a rule does not name stays forbidden. */
const LAYERS =
  '^(activities|api|bench|bin|console|contracts|db|examples|graphql|modules|packages|platform|process|sandbox|test|tools|workflows)/';

/** The modules in the only order in which they may import one another: each knows those before it. */
export const MODULES = [
  'kernel',
  'paging',
  'mail',
  'pricing',
  'tenants',
  'identity',
  'hosts',
  'webhooks',
  'budgets',
  'quotes',
  'rollups',
  'gate',
  'licences',
  'settlement',
  'receipts',
  'discovery',
  'reports',
  'anomalies',
  'reconciliation',
  'storefront',
  'operations',
];
const PURE = '^modules/(kernel|[^/]+/rules)/';

/** A rule: files of `layer` import, of our own code, only the paths that match `allowed`. */
function layer(name, from, allowed, comment) {
  return { name: `layer-${name}`, severity: 'error', comment, from: { path: from }, to: { path: LAYERS, pathNot: allowed } };
}

/** A rule: a module knows none of those after it. */
function order(module, index) {
  const later = MODULES.slice(index + 1).join('|');
  return {
    name: `module-${module}`,
    severity: 'error',
    comment: 'A module knows the modules before it.',
    from: { path: `^modules/${module}/` },
    to: { path: `^modules/(${later})/` },
  };
}

/** A rule: the package may be imported only from paths that match `home`; the edges that assemble things are always free. */
function packageHome(name, packages, home) {
  return {
    name: `package-${name}`,
    severity: 'error',
    comment: `${name} is known to one place only, so that it can be replaced there.`,
    from: { pathNot: `^(${home}|bin|process|tools|sandbox|test|bench|examples|contracts)/` },
    to: { path: `node_modules/(${packages})(/|$)` },
  };
}

export default {
  forbidden: [
    {
      name: 'rules-are-pure',
      severity: 'error',
      comment: 'Rules decide from their arguments: no package, no node: module, nothing that stores or asks.',
      from: { path: PURE },
      to: { pathNot: PURE },
    },
    ...MODULES.slice(0, -1).map(order),
    layer('db', '^db/', `^db/|${PURE}`, 'The ledger itself: entities, migrations, the connection.'),
    layer(
      'platform',
      '^platform/',
      '^(platform|contracts|modules/kernel)/',
      'A part of the platform knows the chain, a library or a key service, and the kernel.',
    ),
    layer('store', '^modules/[^/]+/store/', `^(db|modules/[^/]+/store)/|${PURE}`, 'Storage knows tables and rules.'),
    layer(
      'use',
      '^modules/[^/]+/use/',
      '^(modules|db|platform)/|^workflows/contract\\.ts$',
      'Where rules meet storage: what callers may do.',
    ),
    ...SURFACES.map((surface) =>
      layer(
        surface,
        `^${surface}/`,
        `^(${surface}|modules/[^/]+/use|platform/pacing)/|^platform/(compressed|tokens/pepper)[.]ts$|^db/outage[.]ts$|${PURE}`,
        'A surface unpacks, calls a use of a module, maps the failure.',
      ),
    ),
    layer('workflows', '^workflows/', `^(workflows|activities)/|${PURE}`, 'Deterministic code: rules, and types of activities.'),
    {
      name: 'workflows-packages',
      severity: 'error',
      comment: 'A workflow that reads a clock, a socket or a library cannot be replayed.',
      from: { path: '^workflows/' },
      to: { path: 'node_modules/', pathNot: 'node_modules/@temporalio/workflow/' },
    },
    {
      name: 'workflows-builtins',
      severity: 'error',
      comment: 'A workflow that reads a clock, a socket or a library cannot be replayed.',
      from: { path: '^workflows/' },
      to: { dependencyTypes: ['core'] },
    },
    layer('console', '^console/', '^console/', 'What runs in the browser knows the API by its documents alone.'),
    {
      name: 'console-packages',
      severity: 'error',
      comment: 'The page is at most 100 KB on the wire: Preact and htm, and nothing of Node.',
      from: { path: '^console/' },
      to: { pathNot: '^console/|node_modules/(preact|htm)/' },
    },
    layer('contracts', '^contracts/', '^contracts/', 'The contract build stands alone.'),
    layer(
      'examples',
      '^examples/',
      '^(examples|packages)/',
      'An example is what a newcomer would write: packages and node: only.',
    ),
    {
      name: 'entry-points-are-not-imported',
      severity: 'error',
      comment: 'process, bin and sandbox assemble the rest; nothing leans on them.',
      from: { pathNot: '^(bin|process|tools|sandbox|test|bench|vitest\\.)' },
      to: { path: '^(bin|process|tools|sandbox|bench)/' },
    },
    {
      name: 'tests-are-not-imported',
      severity: 'error',
      from: { pathNot: '^(test|bench|tools/|bin/cluster\\.ts$|vitest\\.)' },
      to: { path: '^test/' },
    },
    packageHome('storage', 'pg|pg-cursor|pg-copy-streams|kysely', 'db|modules/[^/]+/store'),
    packageHome('entities', '@mikro-orm', 'db'),
    {
      name: 'entity-manager',
      severity: 'error',
      comment:
        'It writes values into the text of statements and prepares none: for commands of an operator and tests (ADR 0082).',
      from: { pathNot: '^(modules/operations/store/finds|test)/' },
      to: { path: '^db/orm[.]ts$' },
    },
    packageHome('chain-client', 'viem|secp256k1', 'platform/chain|packages/agent'),
    packageHome('outgoing-http', 'undici', 'platform'),
    packageHome('key-services', '@aws-sdk|google-auth-library', 'platform'),
    packageHome('rest', 'express|zod-openapi', 'api'),
    packageHome('browser', 'preact|htm', 'console'),
    packageHome('graphql', 'graphql|graphql-yoga|@pothos', 'graphql'),
    packageHome('temporal-worker', '@temporalio/worker', 'activities'),
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A file nobody imports and nobody starts is dead.',
      from: {
        orphan: true,
        pathNot: '^(bin|tools|test|bench|examples|packages/[^/]+/src|contracts|db/migrations)/|^[^/]+$|\\.mjs$',
      },
      to: {},
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'Every import leads to a file, a declared package or a node: module.',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared-packages',
      severity: 'error',
      comment: 'What we import stands in package.json.',
      from: { pathNot: '^tools/check/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'run-time-packages',
      severity: 'error',
      comment: 'What the deployed service imports is a dependency, not a devDependency.',
      from: { path: '^(activities|api|console|db|graphql|modules|platform|process|workflows)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm'], pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    // Hono, Next and miniflare are installed by test/starters/run.ts alone, the clients of others by test/clients/run.ts, into folders of their own.
    exclude: {
      path: '(^|/)(\\.sandbox|\\.test|coverage)(/|$)|^contracts/artifacts/|^packages/[^/]+/dist/|^(examples/(astro|fastify|hono|next|sveltekit)|test/starters/(sites|added)|test/clients/buyers)/|^test/starters/workerd',
    },
    moduleSystems: ['es6'],
    combinedDependencies: false,
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['settlement-source', 'node', 'import', 'default'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
