import { ensureNamespace } from '../platform/temporal/namespace.ts';
import { readNamespaceConfig } from '../process/config.ts';
import { runCommand } from '../process/run.ts';
import { temporalServerOf } from '../process/temporal.ts';

/**
 * Makes the Temporal namespace with 30 days of retention and the search attributes of workflows, then ends; safe to run at every deployment.
 * Waits a minute for a Temporal that is starting.
 */
await runCommand(async () => {
  const config = readNamespaceConfig();
  const { temporalNamespace } = config;
  await ensureNamespace(temporalServerOf(config), temporalNamespace);
  process.stdout.write(`the namespace ${temporalNamespace} is there\n`);
});
