/**
 * `npm run mutants [-- --quick] [--touched] [--no-baseline] [ids…]`: puts each named bug into a copy of the working tree, one at a time, and
 * runs the test that must notice it. `--quick` keeps to bugs whose tests need nothing but Node; `--touched` to those in files that were changed since
 * main, or, on main itself, within a day, for three minutes, and says how many it leaves out; `--no-baseline` takes it as known that the
 * tests pass without a bug. Status 0 only if every bug was noticed and every search text was found once.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stopOnSignals } from '../sandbox/parts/signals.ts';
import { MUTANTS } from '../test/mutants/list.ts';
import type { Mutant } from '../test/mutants/mutant.ts';
import { isCheap, problemsOf } from '../test/mutants/mutant.ts';
import type { Workshop } from '../test/mutants/workshop.ts';
import { openWorkshop } from '../test/mutants/workshop.ts';
import { touchedFiles } from './test/tiers.ts';

/** How long `--touched` takes up: a bug takes a second to a minute. */
const TOUCHED_MS = 3 * 60_000;
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    touched: { type: 'boolean', default: false },
    'no-baseline': { type: 'boolean', default: false },
  },
});

const unknown = positionals.filter((id) => !MUTANTS.some((mutant) => mutant.id === id));
const touched = values.touched ? touchedFiles() : [];
const wanted = MUTANTS.filter(
  (mutant) =>
    (positionals.length === 0 || positionals.includes(mutant.id)) &&
    (!values.quick || isCheap(mutant)) &&
    (!values.touched || mutant.edits.some(({ file }) => touched.includes(file))),
);
/** Cheap ones first, where there may be no time for all. */
const chosen = values.touched ? wanted.toSorted((a, b) => Number(isCheap(b)) - Number(isCheap(a))) : wanted;
const problems = [
  ...unknown.map((id) => `${id}: there is no bug of that name`),
  ...chosen.flatMap((mutant) => problemsOf(mutant, (file) => readFileSync(join(ROOT, file), 'utf8'))),
];
for (const problem of problems) console.log(problem);
if (values.touched && chosen.length === 0) {
  console.log('no bug is in a file that was changed');
  process.exit(0);
}
if (problems.length > 0 || chosen.length === 0) process.exit(1);

const workshop = await openWorkshop(ROOT);
for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
stopOnSignals(() => workshop.close(), 130);
const started = performance.now();
const survivors: string[] = [];
const passing = new Map<string, boolean>();
let tried = 0;
for (const mutant of chosen) {
  const began = performance.now();
  if (values.touched && began - started > TOUCHED_MS) break;
  tried += 1;
  const outcome = await outcomeOf(workshop, mutant);
  if (outcome !== 'caught') survivors.push(mutant.id);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${outcome.padEnd(9)} ${mutant.id.padEnd(30)} rule ${String(mutant.rule).padStart(2)} ${seconds.padStart(6)} s  ${mutant.test.file}: ${mutant.test.name}`,
  );
}
await workshop.close();
if (tried < chosen.length) console.log(`NOT RUN: ${chosen.length - tried} more bugs in files that were changed`);
const minutes = ((performance.now() - started) / 60_000).toFixed(1);
console.log(
  `${tried - survivors.length} of ${tried} bugs caught in ${minutes} minutes${survivors.length > 0 ? `; not caught: ${survivors.join(', ')}` : ''}`,
);
process.exit(survivors.length === 0 ? 0 : 1);

/** Caught: its test passes without it and fails with it. `not well`: the test fails anyway; `no test`: none of that name ran. */
async function outcomeOf(shop: Workshop, mutant: Mutant): Promise<'caught' | 'survived' | 'not well' | 'no test'> {
  const key = `${mutant.test.file} ${mutant.test.name}`;
  if (!values['no-baseline'] && !passing.has(key)) {
    passing.set(key, (await shop.run(mutant.test)) === 'passed');
    for (const line of shop.said()) console.log(`          without the bug: ${line}`);
  }
  if (passing.get(key) === false) return 'not well';
  const verdict = await shop.runWith(mutant);
  if (verdict === 'missing') return 'no test';
  return verdict === 'failed' ? 'caught' : 'survived';
}
