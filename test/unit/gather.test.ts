import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { gathered } from '../../platform/pacing/gather.ts';

const place = {};

/** A run that is held until it is let go; `runs` are the items of each, in order. */
function held() {
  const runs: string[][] = [];
  const doors: PromiseWithResolvers<void>[] = [];
  const run = async (_: object, items: readonly string[]): Promise<readonly string[]> => {
    const door = Promise.withResolvers<void>();
    runs.push([...items]);
    doors.push(door);
    await door.promise;
    return items.map((item) => `${item}!`);
  };
  return { runs, doors, run };
}

test('a caller never joins a run that began before it asked', async () => {
  const { runs, doors, run } = held();
  const ask = gathered(run, { limit: 10, concurrency: 1, isOutage: () => false });
  const first = [ask(place, 'a'), ask(place, 'b')];
  await turn();
  const late = ask(place, 'c');
  await turn();
  expect(runs).toEqual([['a', 'b']]);
  doors[0]?.resolve();
  expect(await Promise.all(first)).toEqual(['a!', 'b!']);
  await turn();
  expect(runs).toEqual([['a', 'b'], ['c']]);
  doors[1]?.resolve();
  expect(await late).toBe('c!');
});

test('one that cannot be written fails alone; an outage fails its whole run, and nothing of it is asked again', async () => {
  const runs: number[] = [];
  const run = async (_: object, items: readonly string[]): Promise<readonly string[]> => {
    runs.push(items.length);
    if (items.includes('poison')) throw new Error('poison');
    if (items.includes('away')) throw new Error('away');
    return items;
  };
  const ask = gathered(run, { limit: 10, concurrency: 1, isOutage: (error) => (error as Error).message === 'away' });
  const told = (items: readonly string[]) =>
    Promise.all(items.map((item) => ask(place, item).catch((error: Error) => error.message)));
  expect(await told(['a', 'poison', 'b'])).toEqual(['a', 'poison', 'b']);
  expect(runs.splice(0)).toEqual([3, 1, 1, 1]);
  expect(await told(['a', 'away', 'b'])).toEqual(['away', 'away', 'away']);
  expect(runs).toEqual([3]);
});

test('two that have a text in common never share a run; the rest does not wait for them', async () => {
  const runs: string[][] = [];
  const run = async (_: object, items: readonly string[]): Promise<readonly string[]> => {
    runs.push([...items]);
    return items;
  };
  const ask = gathered(run, { limit: 3, concurrency: 1, isOutage: () => false, apart: (item: string) => [...item] });
  await Promise.all(['a1', 'a2', 'b3', 'c1', 'd4'].map((item) => ask(place, item)));
  expect(runs).toEqual([
    ['a1', 'b3', 'd4'],
    ['a2', 'c1'],
  ]);
});
