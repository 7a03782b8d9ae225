import { ensureNamespace } from '../platform/temporal/namespace.ts';
import { readNamespaceConfig } from '../process/config.ts';

/** Makes the Temporal namespace with 30 days of retention and the search attributes of workflows, then ends; safe to run at every deployment. */
const { temporalAddress, temporalNamespace } = readNamespaceConfig();
await ensureNamespace(temporalAddress, temporalNamespace);
process.stdout.write(`the namespace ${temporalNamespace} is there\n`);
