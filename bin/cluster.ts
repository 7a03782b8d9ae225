/**
 * `npm run cluster [-- --exit] [-- --fresh] [-- --play[=act,act]]`: the topology of docker-compose.yml without containers, on embedded
 * Postgres and a Temporal server built by `go install`, with one purchase played on screen (docs/runbook.md). `--play` breaks everything,
 * or these acts, while buyers buy, and ends with status 1 unless buyers, ledger and chain agree.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClusterTopology } from '../sandbox/cluster/topology.ts';
import type { SandboxOptions } from '../sandbox/options.ts';
import { readOptions } from '../sandbox/options.ts';
import { createPrinter } from '../sandbox/print.ts';
import { runSandbox } from '../sandbox/program.ts';
import type { Act } from '../test/play/acts.ts';
import { chooseActs } from '../test/play/acts.ts';
import { preparePlay } from '../test/play/play.ts';

let options: SandboxOptions;
let acts: readonly Act[] | null = null;
try {
  const [asked] = process.argv.filter((one) => one === '--play' || one.startsWith('--play='));
  if (asked !== undefined) acts = chooseActs(asked.slice('--play='.length));
  const args = process.argv.slice(2).filter((one) => one !== asked);
  options = readOptions(args, process.env, fileURLToPath(new URL('..', import.meta.url)), '.cluster');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
const printer = createPrinter(process.stdout, process.stderr);
const topology = createClusterTopology(join(options.folder, 'logs'));
const play = acts === null ? null : preparePlay(topology, options, acts, printer);
runSandbox(options, printer, play?.topology ?? topology, play?.run).then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
