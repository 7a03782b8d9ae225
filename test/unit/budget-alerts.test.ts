import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alertBody, THRESHOLDS, thresholdsCrossed } from '../../modules/budgets/rules/alert.ts';

test('a threshold is crossed by the micro that reaches it, once, and not by what is released and spent again below it', () => {
  const crossed = (beforeMicro: bigint, spentMicro: bigint) => thresholdsCrossed({ limitMicro: 1_000n, beforeMicro, spentMicro });
  expect(crossed(0n, 499n)).toEqual([]);
  expect(crossed(499n, 500n)).toEqual([50]);
  expect(crossed(500n, 799n)).toEqual([]);
  expect(crossed(799n, 800n)).toEqual([80]);
  expect(crossed(999n, 1_000n)).toEqual([100]);
  expect(crossed(0n, 1_000n)).toEqual([50, 80, 100]);
  expect(crossed(900n, 100n)).toEqual([]);
  expect(thresholdsCrossed({ limitMicro: 0n, beforeMicro: 0n, spentMicro: 5n })).toEqual([]);
});

test('however spending grows up to its limit, each threshold is crossed exactly once', () => {
  const steps = fc.array(fc.bigInt({ min: 1n, max: 10n ** 12n }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(steps, (amounts) => {
      const limitMicro = amounts.reduce((sum, one) => sum + one, 0n);
      let spent = 0n;
      const crossed = amounts.flatMap((amount) => {
        const beforeMicro = spent;
        spent += amount;
        return thresholdsCrossed({ limitMicro, beforeMicro, spentMicro: spent });
      });
      expect(crossed).toEqual(THRESHOLDS);
    }),
  );
});

test('the bytes of an alert say whose budget, which part of it, and until when', () => {
  const alert = {
    ...({ accountId: 'a', eventId: 'evt_1', period: 'day', percent: 80, spentMicro: 801n, limitMicro: 1_000n } as const),
    periodStart: new Date(0),
    periodEnd: new Date(86_400_000),
    at: new Date(5),
  };
  expect(JSON.parse(alertBody(alert))).toEqual({
    id: 'evt_1',
    eventId: 'evt_1',
    type: 'budget.alert',
    createdAt: 5,
    data: {
      account: 'a',
      percent: 80,
      period: 'day',
      periodStartsAt: 0,
      periodEndsAt: 86_400_000,
      spentMicro: 801,
      limitMicro: 1_000,
    },
  });
  expect(alertBody(alert)).toBe(alertBody({ ...alert }));
});
