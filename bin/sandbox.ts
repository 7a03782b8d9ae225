/** `npm start [-- --exit] [-- --fresh]`: the service on embedded parts, with one purchase played on screen. */
import { fileURLToPath } from 'node:url';
import type { SandboxOptions } from '../sandbox/options.ts';
import { readOptions } from '../sandbox/options.ts';
import { createPrinter } from '../sandbox/print.ts';
import { runSandbox } from '../sandbox/program.ts';

let options: SandboxOptions;
try {
  options = readOptions(process.argv.slice(2), process.env, fileURLToPath(new URL('..', import.meta.url)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
const printer = createPrinter(process.stdout, process.stderr);
runSandbox(options, printer).then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
