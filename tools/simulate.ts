import { parseArgs } from 'node:util';
import { simulate } from '../test/simulation/simulate.ts';

/** A whole number from 1 on; anything else ends the program, since a typo must not pass for a proof. */
function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  console.error(`--${name} must be a whole number from 1 on, not "${text}"`);
  process.exit(2);
}

const { values } = parseArgs({
  options: { schedules: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
});
const schedules = wholeNumber('schedules', values.schedules);
const seed = wholeNumber('seed', values.seed);
console.log(`seed ${seed}: schedules ${seed} to ${seed + schedules - 1}`);
const started = performance.now();
const run = await simulate({ schedules, seed });
const seconds = (performance.now() - started) / 1000;
console.log(`${run.schedules} schedules, ${Math.round(run.schedules / seconds)} schedules/s`);
console.log(run.coverage.summary());
for (const cell of run.coverage.missing()) console.log(`  not hit: ${cell}`);
for (const cell of run.coverage.unlisted()) console.log(`  not listed: ${cell}`);
if (run.broken) console.log(`broken: ${run.broken.broken}\nreplay: npm run simulate -- --schedules 1 --seed ${run.broken.seed}`);
if (run.broken || (schedules >= 10_000 && run.coverage.missing().length > 0)) process.exitCode = 1;
