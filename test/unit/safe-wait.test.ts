import { expect, test } from 'vitest';
import { blindWaitMs, safeWaitMs } from '../../modules/settlement/rules/finality.ts';

test('a batch waits until the safe block should have come to it, a quarter of the usual distance at least, ten minutes at most', () => {
  const base = { latest: 1_100n, safe: 1_020n, blockTimeMs: 2_000 };
  expect(safeWaitMs(1_100n, base)).toBe(160_000);
  expect(safeWaitMs(1_060n, base)).toBe(80_000);
  expect(safeWaitMs(1_025n, base)).toBe(40_000);
  expect(safeWaitMs(1_000n, base)).toBe(40_000);
  expect(safeWaitMs(5n, { latest: 5n, safe: 5n, blockTimeMs: 50 })).toBe(1_000);
  expect(safeWaitMs(10_000n, { latest: 10_000n, safe: 0n, blockTimeMs: 12_000 })).toBe(600_000);
});

test('while no node tells the safe block a batch waits a quarter of its age, a minute at least, ten at most', () => {
  const minute = 60_000;
  expect([0, 4 * minute, 20 * minute, 40 * minute, 6_000 * minute].map(blindWaitMs)).toEqual(
    [1, 1, 5, 10, 10].map((minutes) => minutes * minute),
  );
});
