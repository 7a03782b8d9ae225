import { expect, test } from 'vitest';
import { BUGS } from './bugs.ts';
import { simulate } from './simulate.ts';
import { tryBug } from './trial.ts';

const SCHEDULES = 10_000;
const SEED = 1;

test('ten thousand seeded schedules keep every invariant and reach every transition at every crash point', async () => {
  const run = await simulate({ schedules: SCHEDULES, seed: SEED });
  console.log(`seed ${SEED}, ${run.schedules} schedules; ${run.coverage.summary()}`);
  const replay = run.broken && `${run.broken.broken}; replay: npm run simulate -- --schedules 1 --seed ${run.broken.seed}`;
  expect(replay).toBeNull();
  expect(run.coverage.missing()).toEqual([]);
  expect(run.coverage.unlisted()).toEqual([]);
});

/** Each bug is tried in a Node of its own, two at a time. */
const lanes = [Promise.resolve(), Promise.resolve()];
let turn = 0;
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  turn += 1;
  const lane = turn % lanes.length;
  const result = (lanes[lane] as Promise<void>).then(work);
  lanes[lane] = result.then(
    () => undefined,
    () => undefined,
  );
  return result;
}

test.concurrent.each(BUGS)('the bug $name is caught within 2,000 schedules: $bug', async (bug) => {
  const { broken, schedules } = await inTurn(() => tryBug(bug, { schedules: 2_000, seed: SEED }));
  console.log(`${bug.name}: ${broken ?? 'survived'} (${schedules} schedules)`);
  expect(broken).not.toBeNull();
});
