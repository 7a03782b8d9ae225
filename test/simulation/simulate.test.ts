import { expect, test } from 'vitest';
import { BUGS } from './bugs.ts';
import { simulate } from './simulate.ts';
import { tryBug } from './trial.ts';

const SCHEDULES = 1_000;
const SEED = 1;

test('a thousand seeded schedules keep every invariant', async () => {
  const { broken } = await simulate({ schedules: SCHEDULES, seed: SEED });
  expect(broken && `${broken.broken}; replay: npm run simulate -- --schedules 1 --seed ${broken.seed}`).toBeNull();
});

test('the same seed makes the same schedule, step for step', async () => {
  const [first, second] = [await simulate({ schedules: 50, seed: 77 }), await simulate({ schedules: 50, seed: 77 })];
  expect([...second.coverage.hits]).toEqual([...first.coverage.hits]);
});

test('the simulator runs on a copy of the service’s own rules, and finds nothing in them', async () => {
  expect(await tryBug(null, { schedules: 50, seed: SEED })).toEqual({ schedules: 50, broken: null });
  expect(BUGS.length).toBeGreaterThanOrEqual(16);
});
