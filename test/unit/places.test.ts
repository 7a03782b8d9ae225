import { expect, test } from 'vitest';
import { hasPlace, IN_FLIGHT_GAS } from '../../domain/payment/places.ts';

const lane = { open: 0, openGas: 0n, limit: 4 };

test.each([
  ['an empty lane takes anything', lane, true, true],
  ['the last place is kept for newcomers', { ...lane, open: 3, openGas: 1n }, false, true],
  ['a place before the last takes anything', { ...lane, open: 2, openGas: 1n }, true, true],
  ['behind a full block only newcomers are sent', { ...lane, open: 2, openGas: IN_FLIGHT_GAS }, false, true],
  ['a full lane takes nothing', { ...lane, open: 4 }, false, false],
  ['a lane of one place keeps none, or it would never be used', { ...lane, limit: 1 }, true, true],
] as const)('%s', (_, load, forAll, forNewcomers) => {
  expect([hasPlace(load, false), hasPlace(load, true)]).toEqual([forAll, forNewcomers]);
});
