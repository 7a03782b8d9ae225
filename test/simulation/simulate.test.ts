import { expect, test } from 'vitest';
import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';

const SCHEDULES = 10_000;
const SEED = 1;

test('ten thousand seeded schedules keep every invariant and reach every transition at every crash point', async () => {
  const run = await simulate({ schedules: SCHEDULES, seed: SEED });
  console.log(`seed ${SEED}, ${run.schedules} schedules; ${run.coverage.summary()}`);
  const replay = run.broken && `${run.broken.broken}; replay: node bin/simulate.ts --schedules 1 --seed ${run.broken.seed}`;
  expect(replay).toBeNull();
  expect(run.coverage.missing()).toEqual([]);
  expect(run.coverage.unlisted()).toEqual([]);
}, 300_000);

test('the same seed makes the same schedule, step for step', async () => {
  const [first, second] = [await simulate({ schedules: 50, seed: 77 }), await simulate({ schedules: 50, seed: 77 })];
  expect([...second.coverage.hits]).toEqual([...first.coverage.hits]);
});

test.each(MUTANTS)(
  'the bug %s is caught within 2,000 schedules',
  async (mutant) => {
    const run = await simulate({ schedules: 2000, seed: SEED, mutant });
    expect(run.broken).not.toBeNull();
  },
  60_000,
);
