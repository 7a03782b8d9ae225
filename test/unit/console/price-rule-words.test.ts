import { expect, test } from 'vitest';
import type { Rule } from '../../../console/screens/rules/words.ts';
import { NEW_RULE, placeOf, ruleOf, ruleText, standingOf, typedOf, withRule } from '../../../console/screens/rules/words.ts';

/** Price rules as people read and type them; what may be set is the API's to say. */

const rule: Rule = {
  id: 'r',
  path: null,
  kind: null,
  operators: [],
  categories: [],
  terms: [],
  from: null,
  until: null,
  effect: 'PRICE',
  priceUsdc: '0.050000',
};

test.each([
  [rule, 'Every article: Every agent, $0.05'],
  [{ ...rule, path: '/n/*', kind: 'READ', effect: 'FREE', priceUsdc: null } as const, '/n/*, reads alone: Every agent, free'],
  [
    { ...rule, operators: ['a.example', 'b.example'], categories: ['TRAIN'], terms: ['ai-train'] },
    'Every article: Verified agents of a.example or b.example, and these only as agents for training that asks for ai-train, $0.05',
  ],
])('%j is said as it is meant', (one, text) => {
  expect(ruleText(one)).toBe(text);
});

test('what is typed comes back as it was stored, days as midnights here', () => {
  const stored = { ...rule, path: '/n/', operators: ['a.example'], from: new Date(2026, 10, 1).getTime(), priceUsdc: '0.05' };
  expect(ruleOf(typedOf(stored))).toEqual(stored);
  expect(ruleOf({ ...NEW_RULE, id: ' r ', price: '0,05' })).toEqual({ ...rule, priceUsdc: '0.05' });
  expect(() => ruleOf({ ...NEW_RULE, from: 'soon' })).toThrow('Write a day as 2026-12-31.');
});

test('a refusal of the list belongs to the one rule that is edited, or to no field', () => {
  expect(['rules.2.path', 'rules.2.price', 'rules.2', 'rules.20.path', 'rules', null].map((one) => placeOf(one, 2))).toEqual([
    'path',
    'priceUsdc',
    null,
    null,
    null,
    null,
  ]);
});

test('a rule takes the place of the one it changes, also under another name, or comes last', () => {
  const list = [rule, { ...rule, id: 's' }];
  expect(withRule(list, 'r', { ...rule, id: 't' }).map(({ id }) => id)).toEqual(['t', 's']);
  expect(withRule(list, null, { ...rule, id: 't' }).map(({ id }) => id)).toEqual(['r', 's', 't']);
});

test('a rule is to come, in force or over, to the millisecond', () => {
  const one = { from: 10, until: 20 };
  expect([9, 10, 19, 20].map((now) => standingOf(one, now))).toEqual(['to come', 'in force', 'in force', 'over']);
});
