import { expect, test } from 'vitest';
import type { Look } from '../../modules/settlement/rules/lookPause.ts';
import { lookPauseMs } from '../../modules/settlement/rules/lookPause.ts';

/** The pauses after looks that came to this, one after the other. */
function pausesOf(looks: readonly Look[]): number[] {
  const pauses: number[] = [];
  for (const [at, look] of looks.entries()) pauses.push(lookPauseMs(look, looks[at - 1] ?? null, pauses.at(-1) ?? 0));
  return pauses;
}
const stuck = (undecided: number, times: number): Look[] => Array.from({ length: times }, () => ({ undecided, isQuick: true }));

test('a mined batch that stays undecided is looked at after pauses that double up to five seconds: sixty looks take more than four minutes', () => {
  const pauses = pausesOf(stuck(3, 60));
  expect(pauses.slice(0, 8)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  expect(pauses.reduce((sum, pauseMs) => sum + pauseMs)).toBeGreaterThan(240_000);
});

test('a look that decided a payment, and one that found the receipt at last, are followed by the shortest pause again', () => {
  expect(pausesOf([...stuck(3, 3), ...stuck(2, 3)])).toEqual([100, 200, 400, 100, 200, 400]);
  const waited = { undecided: 3, isQuick: false };
  expect(pausesOf([waited, waited, ...stuck(3, 2)])).toEqual([100, 100, 100, 200]);
  expect(pausesOf([...stuck(3, 3), waited])).toEqual([100, 200, 400, 100]);
});
