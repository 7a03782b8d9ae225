import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { PAYMENT_STATES } from '../../modules/kernel/payment/state.ts';
import { isUnexplained, judge } from '../../modules/settlement/rules/judge.ts';
import { CASES } from './judge/cases.ts';
import { at } from './judge/samples.ts';
import { UNEXPLAINED_CASES } from './judge/unexplainedCases.ts';

test.each(CASES)('$name', ({ payment, sight, now, verdict }) => {
  const judged = judge(payment, sight, now);
  expect(judged).toEqual(verdict);
  expect(isDeepStrictEqual(judged, verdict)).toBe(true);
});

test.each(UNEXPLAINED_CASES)('unexplained or not: $name', ({ payment, sight, unexplained }) => {
  expect(isUnexplained(payment, sight)).toBe(unexplained);
  if (unexplained) expect(judge(payment, sight, at(900))).toBe('wait');
});

test('the table names each situation once and knows every state', () => {
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
  expect(new Set(CASES.map(({ payment }) => payment.facts.state))).toEqual(new Set(PAYMENT_STATES));
});
