/**
 * `npm run bench [-- --quick] [--rows <n>] [--keep-records <folder>] [ids…]`: runs the benches one after another and writes their figures
 * to `bench/results.json` and
 * `bench/README.md`; a run of some ids replaces only those. `--quick` writes nothing and only shows that they run, and so does `--rows`,
 * by which the console is measured over fewer records than ten million. With
 * `--keep-records` the rows of reports, which take a quarter of an hour to load, are kept in a folder and used again. Ends with
 * status 1 if a bench threw; a target that was not reached is a finding, not an error.
 */
import { parseArgs } from 'node:util';
import { stopOnSignals } from '../sandbox/parts/signals.ts';
import { BENCHES } from './all.ts';
import type { Bench, BenchOptions } from './harness/bench.ts';
import type { Cpu } from './harness/cpu.ts';
import { ownCpu } from './harness/cpu.ts';
import type { Figure, MissingFigure } from './harness/figure.ts';
import { describeCommit, describeMachine } from './harness/machine.ts';
import { stopBenchParts } from './harness/parts.ts';
import type { BenchResult } from './harness/results.ts';
import { keepResults } from './harness/results.ts';

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, rows: { type: 'string' }, 'keep-records': { type: 'string' } },
  allowPositionals: true,
});
const options: BenchOptions = {
  quick: values.quick,
  rows: values.rows === undefined ? null : Number(values.rows),
  keptRecords: values['keep-records'] ?? null,
  log: (line) => console.log(`  ${line}`),
};
const unknown = positionals.filter((id) => !BENCHES.some((bench) => bench.id === id));
if (options.rows !== null && !(Number.isSafeInteger(options.rows) && options.rows >= 20_000)) {
  console.error('--rows is a whole number from 20000 on.');
  process.exit(2);
}
if (unknown.length > 0) {
  console.error(`No such bench: ${unknown.join(', ')}. There are: ${BENCHES.map(({ id }) => id).join(', ')}.`);
  process.exit(2);
}

stopOnSignals(stopBenchParts, 130);
// The end of a part that is waited for keeps nothing alive by itself.
setInterval(() => undefined, 60_000);
const results: BenchResult[] = [];
let failed = 0;
try {
  for (const bench of BENCHES) if (positionals.length === 0 || positionals.includes(bench.id)) results.push(await measure(bench));
} finally {
  await stopBenchParts();
}
if (!values.quick && options.rows === null) keepResults(results, BENCHES);
console.log(`${results.length - failed} benches ran, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function measure(bench: Bench): Promise<BenchResult> {
  const startedAt = performance.now();
  const figures = await run(bench);
  console.log(`${bench.id} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  for (const figure of figures) console.log(`  ${sentence(figure)}`);
  const { id, title } = bench;
  return { id, title, measuredAt: new Date().toISOString(), commit: describeCommit(), machine: describeMachine(), figures };
}

async function run(bench: Bench): Promise<readonly (Figure | MissingFigure)[]> {
  try {
    return await bench.run(options);
  } catch (error) {
    failed += 1;
    console.error(error instanceof Error ? error.stack : String(error));
    return [{ id: bench.id, what: bench.title, missing: `it could not run: ${error instanceof Error ? error.message : error}` }];
  }
}

function sentence(figure: Figure | MissingFigure): string {
  if ('missing' in figure) return `${figure.id}: missing: ${figure.missing}`;
  const { id, ours, reference, unit, ratio, spread, target, reached, cpu } = figure;
  const range = `${spread[0].toFixed(3)}–${spread[1].toFixed(3)}`;
  const verdict =
    target === null ? '' : `, target ${target}: ${reached === null ? 'not judged' : reached ? 'reached' : 'not reached'}`;
  const times = figure.cpuRatio
    ? `; operations a CPU second × ${figure.cpuRatio.withoutChainAndClient.toFixed(2)} without chain and client, ` +
      `× ${figure.cpuRatio.withChainAndClient.toFixed(2)} with them`
    : '';
  const took = cpu ? `; CPU ${cpuText(cpu.ours)}${cpu.reference ? ` beside ${cpuText(cpu.reference)}` : ''}` : '';
  return `${id}: ${ours.toFixed(2)} beside ${reference.toFixed(2)} ${unit}, ratio ${ratio.toFixed(3)} (${range})${verdict}${took}${times}`;
}

function cpuText(cpu: Cpu): string {
  const parts = Object.entries(cpu).map(([kind, ms]) => `${kind} ${ms.toFixed(3)}`);
  return `${ownCpu(cpu).toFixed(3)} ms (${parts.join(', ')})`;
}
