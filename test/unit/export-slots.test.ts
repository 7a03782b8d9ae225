import { expect, test } from 'vitest';
import type { ServiceError } from '../../domain/errors.ts';
import { createExportSlots } from '../../services/pacing/exportSlots.ts';

function stage() {
  const slots = createExportSlots(4);
  const codeOf = (error: unknown): string => (error as ServiceError).code;
  /** What gives a file back that has begun, or why there is none. */
  const take = (keyId: string, tenantId: string): (() => void) | string => {
    try {
      const slot = slots.take({ keyId, tenantId });
      slot.begin();
      return slot.giveBack;
    } catch (error) {
      return codeOf(error);
    }
  };
  /** A file that waits: what begins it later, and gives it back where there is no room. */
  const wait = (keyId: string, tenantId: string): (() => string) => {
    const slot = slots.take({ keyId, tenantId });
    return () => {
      try {
        slot.begin();
        return 'begun';
      } catch (error) {
        slot.giveBack();
        return codeOf(error);
      }
    };
  };
  return { take, wait };
}

test('one site holds half of the places at most, whatever keys it has; the others are for others', () => {
  const { take } = stage();
  expect([typeof take('a1', 'a'), typeof take('a2', 'a'), take('a3', 'a')]).toEqual(['function', 'function', 'throttled']);
  expect([typeof take('b1', 'b'), typeof take('c1', 'c')]).toEqual(['function', 'function']);
  expect(take('d1', 'd')).toBe('overloaded');
});

test('a second export of a key is throttled, also where there is no room for anybody', () => {
  const { take } = stage();
  expect([typeof take('a1', 'a'), take('a1', 'a')]).toEqual(['function', 'throttled']);
  for (const site of ['b', 'c', 'd']) take(`${site}1`, site);
  expect([take('a1', 'a'), take('e1', 'e')]).toEqual(['throttled', 'overloaded']);
});

test('files that wait hold no place, but count for their key and their site', () => {
  const { take, wait } = stage();
  for (const key of ['a1', 'a2', 'b1', 'b2']) wait(key, key.slice(0, 1));
  expect([take('a3', 'a'), take('b1', 'b')]).toEqual(['throttled', 'throttled']);
  expect(['c1', 'd1', 'e1', 'f1'].map((key) => typeof take(key, key))).toEqual(Array(4).fill('function'));
});

test('a file whose turn comes when no place is left is told so, and counts no more', () => {
  const { take, wait } = stage();
  const begin = wait('a1', 'a');
  const [giveBack] = ['c1', 'd1', 'e1', 'f1'].map((key) => take(key, key));
  expect(begin()).toBe('overloaded');
  (giveBack as () => void)();
  expect(typeof take('a1', 'a')).toBe('function');
});

test('a place that is given back twice is given back once', () => {
  const { take } = stage();
  const giveBack = take('a1', 'a') as () => void;
  giveBack();
  expect(typeof take('a1', 'a')).toBe('function');
  giveBack();
  expect(take('a1', 'a')).toBe('throttled');
});
