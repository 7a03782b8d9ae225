import fc from 'fast-check';
import { expect, test } from 'vitest';
import { differenceOf } from '../../modules/kernel/access/auditEntry.ts';

const state = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });

/** Puts what differs over a state: members of `before` alone are gone, objects go deep, everything else is replaced. */
function apply(from: unknown, before: unknown, after: unknown): unknown {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject(from) || !isObject(before) || !isObject(after)) return after;
  const kept = Object.entries(from).filter(([name]) => !Object.hasOwn(before, name) && !Object.hasOwn(after, name));
  const changed = Object.keys(after).map((name) => [
    name,
    Object.hasOwn(from, name) ? apply(from[name], before[name], after[name]) : after[name],
  ]);
  return Object.fromEntries([...kept, ...changed]);
}

test('what differs is enough to get from the state before to the state after, and back', () => {
  fc.assert(
    fc.property(state, state, (before, after) => {
      const difference = differenceOf(before, after);
      expect(apply(before, difference.before, difference.after)).toEqual(after);
      expect(apply(after, difference.after, difference.before)).toEqual(before);
    }),
  );
});

test('equal states differ in nothing, and nothing before or after leaves the other side whole', () => {
  fc.assert(
    fc.property(state, (one) => {
      expect(differenceOf(one, structuredClone(one))).toEqual({ before: {}, after: {} });
      expect(differenceOf(null, one)).toEqual({ before: null, after: one });
      expect(differenceOf(one, null)).toEqual({ before: one, after: null });
    }),
  );
});

test('a member that is named like the prototype is a member', () => {
  const after = JSON.parse('{"__proto__": {"polluted": true}}');
  const difference = differenceOf({}, after);
  expect(Object.hasOwn(difference.after as object, '__proto__')).toBe(true);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
