import { expect, test } from 'vitest';
import { IN_FLIGHT_GAS, queueHasRoom } from '../../modules/settlement/rules/queueRoom.ts';

const queue = { open: 0, openGas: 0n, limit: 4 };

test.each([
  ['an empty queue takes anything', queue, true, true],
  ['the last place is kept for newcomers', { ...queue, open: 3, openGas: 1n }, false, true],
  ['a place before the last takes anything', { ...queue, open: 2, openGas: 1n }, true, true],
  ['behind a full block only newcomers are sent', { ...queue, open: 2, openGas: IN_FLIGHT_GAS }, false, true],
  ['a full queue takes nothing', { ...queue, open: 4 }, false, false],
  ['a queue of one place keeps none, or it would never be used', { ...queue, limit: 1 }, true, true],
] as const)('%s', (_, load, forAll, forNewcomers) => {
  expect([queueHasRoom(load, false), queueHasRoom(load, true)]).toEqual([forAll, forNewcomers]);
});
