/**
 * `npm run cluster [-- --exit] [-- --fresh]`: the topology of docker-compose.yml without containers, on embedded Postgres and a
 * Temporal server built by `go install`, with one purchase played on screen (docs/operations.md).
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClusterTopology } from '../sandbox/cluster/topology.ts';
import type { SandboxOptions } from '../sandbox/options.ts';
import { readOptions } from '../sandbox/options.ts';
import { createPrinter } from '../sandbox/print.ts';
import { runSandbox } from '../sandbox/program.ts';

let options: SandboxOptions;
try {
  options = readOptions(process.argv.slice(2), process.env, fileURLToPath(new URL('..', import.meta.url)), '.cluster');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
const printer = createPrinter((text) => process.stdout.write(text));
runSandbox(options, printer, createClusterTopology(join(options.folder, 'logs'))).then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
