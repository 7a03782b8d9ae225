/** Slow test files, and the code whose change makes them worth their time before a commit. */
export interface SlowFiles {
  /** Paths from the root of the repository. */
  readonly protects: RegExp;
  readonly files: readonly string[];
}

/** All that decides, sends, reads back and writes down a payment. */
const MONEY =
  /^(modules\/(kernel\/(payment|money|licence|x402)|settlement|licences|budgets|rollups|reconciliation|storefront|operations\/store\/months)|db|activities|workflows|platform\/(chain|kms)|contracts|process\/(settlement|relayerKeys|networks))\b/;

/**
 * What `npm test` leaves to `npm run test:all`, unless the code was changed that it protects. Nothing in here is less true than the rest: it kills
 * processes, waits for leases and timers, drives a browser through every screen, builds, or tries thousands of cases, and what it shows seldom changes
 * with code elsewhere.
 */
export const SLOW: readonly SlowFiles[] = [
  {
    protects: MONEY,
    files: [
      'test/fault/burn.test.ts',
      'test/fault/crash.test.ts',
      'test/fault/facilitator-crash.test.ts',
      'test/fault/facilitator.test.ts',
      'test/fault/failover.test.ts',
      'test/fault/fair.test.ts',
      'test/fault/finality.test.ts',
      'test/fault/former-primary.test.ts',
      'test/fault/gas.test.ts',
      'test/fault/licence-crash.test.ts',
      'test/fault/limits.test.ts',
      'test/fault/node-answers.test.ts',
      'test/fault/node.test.ts',
      'test/fault/processes.test.ts',
      'test/fault/read-only.test.ts',
      'test/fault/refusal.test.ts',
      'test/fault/refused-by-one.test.ts',
      'test/fault/relayer-queue.test.ts',
      'test/fault/restore.test.ts',
      'test/fault/second-source.test.ts',
      'test/fault/woken.test.ts',
      'test/integration/facilitator.test.ts',
      'test/integration/simulation-sql.test.ts',
      'test/workflow/operator-finds.test.ts',
    ],
  },
  {
    protects: /^(modules\/kernel\/payment|test\/simulation)\//,
    files: ['test/simulation/thorough.test.ts'],
  },
  {
    protects: /^(test\/mutants\/|tools\/mutants\.ts)/,
    files: ['test/repo/bugs.test.ts'],
  },
  {
    protects: /^contracts\//,
    files: ['test/contract/foundry.test.ts'],
  },
  {
    protects: /^(modules\/webhooks|activities\/(webhooks|beating)|workflows|platform\/(outbound|temporal)|db)\b/,
    files: [
      'test/e2e/webhook-sale.test.ts',
      'test/fault/webhook-receivers.test.ts',
      'test/workflow/schedules.test.ts',
      'test/workflow/upgrade.test.ts',
      'test/workflow/webhook-delivery.test.ts',
      'test/workflow/webhook-outages.test.ts',
      'test/workflow/webhook-recovery.test.ts',
      'test/workflow/webhook-retries.test.ts',
      'test/workflow/webhook-windows.test.ts',
    ],
  },
  {
    protects: /^(modules\/(budgets|mail|webhooks)|activities\/(messages|beating)|workflows\/sendMessages)\b/,
    files: ['test/workflow/budget-alerts.test.ts'],
  },
  {
    protects: /^(modules\/hosts|activities\/(hosts|beating)|workflows\/verifyHost|platform\/outbound|process\/hosts)\b/,
    files: ['test/e2e/host-restart.test.ts', 'test/workflow/host-verification.test.ts'],
  },
  {
    protects: /^(console|api\/console|graphql)\//,
    files: [
      'test/e2e/console-figures.test.ts',
      'test/e2e/console-forms.test.ts',
      'test/e2e/console-keyboard.test.ts',
      'test/e2e/console-rules.test.ts',
      'test/e2e/console-setup.test.ts',
      'test/e2e/console-site.test.ts',
      'test/e2e/console-waiting.test.ts',
      'test/e2e/console.test.ts',
    ],
  },
  {
    protects: /^(packages\/agent|api\/mcp|modules\/discovery|docs\/agent-tool\.md)\b/,
    files: [
      'test/e2e/agent-docs.test.ts',
      'test/e2e/agent-hostile.test.ts',
      'test/e2e/agent-stdio.test.ts',
      'test/e2e/agent-tasks.test.ts',
      'test/e2e/agent.test.ts',
      'test/repo/agent-package.test.ts',
    ],
  },
  {
    protects: /^(modules\/(kernel\/x402|quotes|storefront)|platform\/chain|packages\/publisher)\//,
    files: ['test/e2e/networks.test.ts', 'test/e2e/stock-buyers.test.ts'],
  },
  {
    protects: /^(packages\/(python|publisher\/src)\/|test\/support\/(aside|publisher)-rows\.ts$)/,
    files: ['test/e2e/python-gate.test.ts', 'test/unit/python-package.test.ts'],
  },
  {
    protects: /^(modules\/(storefront|discovery)|platform\/outbound)\//,
    files: ['test/integration/relay.test.ts'],
  },
  {
    protects: /^(openapi\.json$|api\/(routes|schemas)\/)/,
    files: ['test/e2e/openapi-schemathesis.test.ts'],
  },
  {
    protects: /^(bin\/(api|worker)\.ts|process|api\/(app|handler|router|everyAnswer)\.ts|platform\/(telemetry|pacing))\b/,
    files: [
      'test/e2e/drain.test.ts',
      'test/e2e/telemetry.test.ts',
      'test/fault/absent-at-start.test.ts',
      'test/integration/api-process.test.ts',
    ],
  },
  {
    protects: /^(modules\/reports|platform\/(pdf|csv))\b/,
    files: ['test/integration/export-copy.test.ts', 'test/integration/report-pdf.test.ts'],
  },
  {
    protects: /^db\/(migrate|migrations|migrator)\b/,
    files: ['test/integration/upgrade.test.ts'],
  },
  {
    protects: /^(docs\/(discovery|price-rules|being-found|receipts|licences)\.md$|examples\/)/,
    files: ['test/e2e/buyer-docs.test.ts'],
  },
  {
    protects: /^(docs\/going-live\.md|bin\/(migrate|namespace|roles|secrets|admin)|deploy\/postgres)\b/,
    files: ['test/e2e/going-live.test.ts'],
  },
  {
    protects: /^(sandbox\/(?!cluster)|bin\/(sandbox\.ts|bootstrap\.mjs)|README\.md|docs\/integrating-publisher\.md)/,
    files: [
      'test/e2e/sandbox.test.ts',
      'test/integration/history.test.ts',
      'test/integration/ports.test.ts',
      'test/unit/get-temporal.test.ts',
    ],
  },
  {
    protects: /^(deploy\/(postgres|temporal)|sandbox\/cluster|bin\/cluster\.ts)\b/,
    files: ['test/fault/cluster.test.ts', 'test/fault/drill.test.ts', 'test/integration/backup.test.ts'],
  },
  {
    protects: /^(Dockerfile|\.dockerignore|docker-compose\.yml|deploy\/image\/)/,
    files: ['test/e2e/image.test.ts'],
  },
];
