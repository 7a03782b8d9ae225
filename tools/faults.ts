/**
 * `npm run faults [-- --seed n] [numbers…]`: runs the tests of each fault of `test/fault/list.ts`, one after another in an order drawn from
 * the seed, which is printed. Status 0 only if every one passed within its time.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stopOnSignals } from '../sandbox/parts/signals.ts';
import { FAULTS } from '../test/fault/list.ts';
import { Random } from '../test/simulation/random.ts';
import { openNamedTests } from '../test/support/named-tests.ts';

/** What one test may take, without the parts that its file starts. */
const LONGEST_SECONDS = 20;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { seed: { type: 'string' } } });
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const numbers = positionals.map(Number);
const missing = numbers.filter((id) => !FAULTS.some((fault) => fault.id === id));
if (missing.length > 0 || !Number.isSafeInteger(seed)) {
  console.log(missing.length > 0 ? `there is no fault ${missing.join(', ')}` : 'the seed is a whole number');
  process.exit(1);
}
const chosen = FAULTS.filter((fault) => numbers.length === 0 || numbers.includes(fault.id));
console.log(`seed ${seed}, ${chosen.length} faults`);
const tests = await openNamedTests(fileURLToPath(new URL('../', import.meta.url)));
for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
stopOnSignals(() => tests.close(), 130);
const failed: number[] = [];
for (const { id, fault, tests: named } of new Random(seed).shuffle(chosen)) {
  for (const test of named) {
    const verdict = await tests.run(test);
    const seconds = tests.tookMs() / 1000;
    const isSurvived = verdict === 'passed' && seconds <= LONGEST_SECONDS;
    if (!isSurvived && !failed.includes(id)) failed.push(id);
    const word = verdict === 'passed' && !isSurvived ? 'too slow' : verdict;
    console.log(`${word.padEnd(8)} fault ${String(id).padStart(2)} ${seconds.toFixed(1).padStart(6)} s  ${fault}: ${test.name}`);
    for (const line of tests.said()) console.log(`         ${line}`);
  }
}
await tests.close();
console.log(
  `${chosen.length - failed.length} of ${chosen.length} faults survived${failed.length > 0 ? `; not ${failed.join(', ')}; seed ${seed}` : ''}`,
);
process.exit(failed.length === 0 ? 0 : 1);
