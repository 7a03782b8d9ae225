import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test, vi } from 'vitest';
import { beginInTurn } from '../../platform/pacing/eventLoop.ts';

function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('of many calls that arrive at once a few begin in each turn of the loop, in their order and each in its own context', async () => {
  const context = new AsyncLocalStorage<number>();
  const begun: number[] = [];
  const turnOf: number[] = [];
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  const arrive = (id: number): void =>
    context.run(id, () =>
      beginInTurn(() => {
        busy(0.4);
        begun.push(context.getStore() as number);
        turnOf.push(turn);
        if (begun.length === 41) resolve();
      }),
    );
  await new Promise((next) => setImmediate(next));
  setImmediate(count);
  for (let id = 0; id < 40; id++) arrive(id);
  // Later than those that wait, though a new turn has time.
  await new Promise((next) => setImmediate(next));
  arrive(40);
  expect(begun.length).toBeLessThan(15);
  await promise;
  isOver = true;
  expect(begun).toEqual(Array.from({ length: 41 }, (_, id) => id));
  const most = Math.max(...[...Map.groupBy(turnOf, (of) => of).values()].map(({ length }) => length));
  expect(most).toBeLessThanOrEqual(6);
});

test('a call that arrives alone begins at once', async () => {
  for (let round = 0; round < 3; round++) {
    // A turn of its own: what the round before began ends ahead of this immediate, however long the machine took for it.
    await new Promise((next) => setImmediate(next));
    let isBegun = false;
    beginInTurn(() => {
      isBegun = true;
    });
    expect(isBegun).toBe(true);
  }
});

test('a thousand calls that wait cost a turn of the loop no more than one', async () => {
  await new Promise((next) => setImmediate(next));
  beginInTurn(() => busy(5)); // the turn is over
  const immediates = vi.spyOn(globalThis, 'setImmediate');
  try {
    let begun = 0;
    const all = new Promise<void>((resolve) => {
      for (let id = 0; id < 1_000; id++) beginInTurn(() => ++begun === 1_000 && resolve());
    });
    expect([begun, immediates.mock.calls.length]).toEqual([0, 1]);
    await all;
  } finally {
    immediates.mockRestore();
  }
});
