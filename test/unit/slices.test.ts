import { expect, test } from 'vitest';
import { inSlices } from '../../platform/pacing/slices.ts';

/** So many steps of a millisecond each; notes when it was its turn. */
function* work(name: string, steps: number, log: string[]): Generator<void, string> {
  for (let step = 0; step < steps; step++) {
    if (log.at(-1) !== name) log.push(name);
    const until = performance.now() + 1;
    while (performance.now() < until);
    yield;
  }
  return name;
}

test('between slices of a millisecond everything else goes on, and several pieces of work take turns', async () => {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const log: string[] = [];
  const done = await Promise.all([inSlices(work('one', 60, log)), inSlices(work('two', 60, log))]);
  isOver = true;
  expect(done).toEqual(['one', 'two']);
  // Each slice is of one step, two at most: a step may end just before its millisecond is over.
  expect(turns).toBeGreaterThanOrEqual(60);
  expect(log.length).toBeGreaterThanOrEqual(50);
});

test('what one piece throws is its own, and the others go on', async () => {
  function* failing(): Generator<void, never> {
    yield;
    throw new Error('broken');
  }
  const log: string[] = [];
  const [broken, fine] = await Promise.allSettled([inSlices(failing()), inSlices(work('fine', 3, log))]);
  expect([broken.status, fine.status]).toEqual(['rejected', 'fulfilled']);
});
