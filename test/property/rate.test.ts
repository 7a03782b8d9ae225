import fc from 'fast-check';
import { expect, test } from 'vitest';
import { giveBack, spend } from '../../modules/kernel/rate.ts';

/** What the sums may miss by. */
const SLACK_S = 0.001;

const rates = fc.record({ perSecond: fc.integer({ min: 1, max: 5_000 }), burst: fc.integer({ min: 1, max: 20_000 }) });
const calls = fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 2_000 }), cost: fc.integer({ min: 0, max: 25 }) }), {
  minLength: 1,
  maxLength: 200,
});

test('in any stretch of time no more points are let through than a full bucket holds and what fills it meanwhile', () => {
  fc.assert(
    fc.property(rates, calls, (rate, asked) => {
      let [nowMs, fullAtMs] = [0, Number.NEGATIVE_INFINITY];
      const passed: { atMs: number; cost: number }[] = [];
      for (const { afterMs, cost } of asked) {
        nowMs += afterMs;
        const spent = spend(fullAtMs, cost, rate, nowMs);
        if (spent.waitMs === 0) passed.push({ atMs: nowMs, cost: Math.min(cost, rate.burst) });
        ({ fullAtMs } = spent);
      }
      for (const [index, { atMs: fromMs }] of passed.entries()) {
        let points = 0;
        for (const { atMs, cost } of passed.slice(index)) {
          points += cost;
          expect(points).toBeLessThanOrEqual(rate.burst + ((atMs - fromMs) / 1_000) * rate.perSecond + SLACK_S * rate.perSecond);
        }
      }
    }),
  );
});

test('a refused call takes nothing, and after the time it was told to wait the same call is let through', () => {
  fc.assert(
    fc.property(rates, calls, (rate, asked) => {
      let fullAtMs = Number.NEGATIVE_INFINITY;
      for (const { cost } of asked) {
        const spent = spend(fullAtMs, cost, rate, 0);
        if (spent.waitMs > 0) {
          expect(spent.fullAtMs).toBe(fullAtMs);
          expect(spend(fullAtMs, cost, rate, spent.waitMs).waitMs).toBe(0);
        }
        ({ fullAtMs } = spent);
      }
    }),
  );
});

test('a caller who was quiet for as long as a bucket takes to fill is let through, whatever the call costs', () => {
  fc.assert(
    fc.property(rates, calls, fc.integer({ min: 0, max: 1_000 }), (rate, asked, cost) => {
      let fullAtMs = Number.NEGATIVE_INFINITY;
      for (const one of asked) ({ fullAtMs } = spend(fullAtMs, one.cost, rate, 0));
      expect(spend(fullAtMs, cost, rate, (rate.burst / rate.perSecond) * 1_000).waitMs).toBe(0);
    }),
  );
});

test('points given back may be spent again, and no more than those', () => {
  const rate = { perSecond: 10, burst: 10 };
  let { fullAtMs } = spend(Number.NEGATIVE_INFINITY, 10, rate, 0);
  fullAtMs = giveBack(fullAtMs, 4, rate);
  ({ fullAtMs } = spend(fullAtMs, 4, rate, 0));
  expect(spend(fullAtMs, 1, rate, 0).waitMs).toBe(100);
});
