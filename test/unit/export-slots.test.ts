import { expect, test } from 'vitest';
import type { ServiceError } from '../../domain/errors.ts';
import { createExportSlots } from '../../services/reports/exportSlots.ts';

function stage() {
  const slots = createExportSlots(4);
  const take = (keyId: string, tenantId: string, isDrawn = false): (() => void) | string => {
    try {
      return slots.take({ keyId, tenantId }, { isDrawn });
    } catch (error) {
      return (error as ServiceError).code;
    }
  };
  return take;
}

test('one site holds half of the places at most, whatever keys it has; the others are for others', () => {
  const take = stage();
  expect([typeof take('a1', 'a'), typeof take('a2', 'a'), take('a3', 'a')]).toEqual(['function', 'function', 'throttled']);
  expect([typeof take('b1', 'b'), typeof take('c1', 'c')]).toEqual(['function', 'function']);
  expect(take('d1', 'd')).toBe('overloaded');
});

test('a second export of a key is throttled, also where there is no room for anybody', () => {
  const take = stage();
  expect([typeof take('a1', 'a'), take('a1', 'a')]).toEqual(['function', 'throttled']);
  for (const site of ['b', 'c', 'd']) take(`${site}1`, site);
  expect([take('a1', 'a'), take('e1', 'e')]).toEqual(['throttled', 'overloaded']);
});

test('a site has one document drawn at a time, whatever keys it has, and a file beside it', () => {
  const take = stage();
  const giveBack = take('a1', 'a', true) as () => void;
  expect([take('a2', 'a', true), typeof take('b1', 'b', true), typeof take('a3', 'a')]).toEqual([
    'throttled',
    'function',
    'function',
  ]);
  giveBack();
  expect(typeof take('a2', 'a', true)).toBe('function');
});

test('a place that is given back twice is given back once', () => {
  const take = stage();
  const giveBack = take('a1', 'a') as () => void;
  giveBack();
  expect(typeof take('a1', 'a')).toBe('function');
  giveBack();
  expect(take('a1', 'a')).toBe('throttled');
});
