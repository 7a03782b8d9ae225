import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SignedSpan, Span } from '../../modules/kernel/time/window.ts';
import { isEmpty, piecesOf, previousWindow, readableWindow, wholeDays } from '../../modules/kernel/time/window.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 21, 11, 0, 0, 7);

const isFirst = (ms: number): boolean => new Date(ms).toISOString().endsWith('-01T00:00:00.000Z');

test('the pieces of a window count each of its moments once and no other, and leave half a day at most, or half an hour, at each end to the rows', () => {
  const moment = fc.oneof(
    fc.integer({ min: 0, max: 9 * DAY }),
    fc.integer({ min: 0, max: 200 }).map((hours) => hours * HOUR),
    fc.integer({ min: 0, max: 900 * DAY }),
    fc
      .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: -2, max: 2 }))
      .map(([month, ms]) => Math.max(0, Date.UTC(1970, month) + ms)),
  );
  fc.assert(
    fc.property(
      moment,
      moment,
      fc.constantFrom('month' as const, 'day' as const),
      fc.constantFrom('day' as const, 'hour' as const),
      (a, b, largest, smallest) => {
        const window = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
        const { months, days, whole, hours, edges } = piecesOf(window, { largest, smallest });
        const all = [...months, ...days, ...hours, ...edges];
        expect(all.some(isEmpty)).toBe(false);
        const borders = [window, ...all].flatMap(({ fromMs, toMs }) => [fromMs, toMs!]);
        for (const at of borders.flatMap((border) => [border - 1, border])) {
          const counted = all.reduce((sum, { fromMs, toMs, sign }) => (fromMs <= at && at < toMs! ? sum + sign : sum), 0);
          expect(counted).toBe(window.fromMs <= at && at < window.toMs ? 1 : 0);
        }
        const countAt = (spans: readonly SignedSpan[], at: number): number =>
          spans.reduce((sum, { fromMs, toMs, sign }) => (fromMs <= at && at < toMs! ? sum + sign : sum), 0);
        for (const at of borders) expect(countAt(whole, at)).toBe(countAt([...months, ...days], at));
        for (const { fromMs, toMs } of months) expect([isFirst(fromMs), isFirst(toMs!)]).toEqual([true, true]);
        for (const { fromMs, toMs } of days) expect([fromMs % DAY, toMs! % DAY]).toEqual([0, 0]);
        const length = (spans: readonly Span[]): number => spans.reduce((sum, { fromMs, toMs }) => sum + toMs! - fromMs, 0);
        for (const { fromMs, toMs } of hours) expect([fromMs % HOUR, toMs! % HOUR]).toEqual([0, 0]);
        expect(length(edges)).toBeLessThanOrEqual(smallest === 'day' ? DAY : HOUR);
        expect(length(hours)).toBeLessThanOrEqual(smallest === 'day' ? 0 : DAY);
        if (largest === 'month') expect(length(days)).toBeLessThanOrEqual(31 * DAY);
        expect(piecesOf(window, { largest: 'day', smallest }).edges).toEqual(edges);
        expect([months.length <= 1, days.length <= 2, hours.length <= 2, edges.length <= 2]).not.toContain(false);
      },
    ),
  );
});

test('a window without an end ends in months without an end, or in days where those are the largest', () => {
  const edges = [{ fromMs: 5 * DAY - HOUR, toMs: 5 * DAY, sign: 1 }];
  const window = { fromMs: 5 * DAY - HOUR, toMs: null };
  expect(piecesOf(window)).toEqual({
    months: [{ fromMs: 0, toMs: null, sign: 1 }],
    days: [{ fromMs: 0, toMs: 5 * DAY, sign: -1 }],
    whole: [{ fromMs: 5 * DAY, toMs: null, sign: 1 }],
    hours: [],
    edges,
  });
  const days = [{ fromMs: 5 * DAY, toMs: null, sign: 1 }];
  expect(piecesOf(window, { largest: 'day' })).toEqual({ months: [], days, whole: days, hours: [], edges });
  expect(piecesOf(window, { largest: 'day', smallest: 'hour' })).toEqual({
    months: [],
    days,
    whole: days,
    hours: edges,
    edges: [],
  });
});

test('a leap year, a year and most of a month are taken apart at the borders of their months, a day late as the day less its rest', () => {
  const [year, next] = [Date.UTC(2024, 0), Date.UTC(2025, 0)];
  const none = { months: [], days: [], whole: [], hours: [], edges: [] };
  const one = { sign: 1 } as const;
  const off = { sign: -1 } as const;
  expect(piecesOf({ fromMs: year, toMs: next })).toEqual({
    ...none,
    months: [{ fromMs: year, toMs: next, ...one }],
    whole: [{ fromMs: year, toMs: next, ...one }],
  });
  const february = { fromMs: Date.UTC(2024, 1), toMs: Date.UTC(2024, 2) };
  const within = { fromMs: february.fromMs + DAY, toMs: february.toMs - HOUR };
  expect(piecesOf(within)).toEqual({
    ...none,
    months: [{ ...february, ...one }],
    days: [{ fromMs: february.fromMs, toMs: within.fromMs, ...off }],
    whole: [{ fromMs: within.fromMs, toMs: february.toMs, ...one }],
    edges: [{ fromMs: within.toMs, toMs: february.toMs, ...off }],
  });
  const week = { fromMs: february.fromMs + 10 * DAY, toMs: february.fromMs + 17 * DAY };
  expect(piecesOf(week)).toEqual({ ...none, days: [{ ...week, ...one }], whole: [{ ...week, ...one }] });
  const noon = { fromMs: week.fromMs + 10 * HOUR, toMs: week.fromMs + 14 * HOUR };
  expect(piecesOf(noon)).toEqual({ ...none, edges: [{ ...noon, ...one }] });
});

test('each plan reads back as far as it says, and the cut is told', () => {
  const days = { free: 7, starter: 30, studio: 400, scale: 1095, enterprise: 2555 } as const;
  for (const [plan, count] of Object.entries(days)) {
    const floor = NOW - count * DAY;
    const read = (fromMs: number | null, toMs: number | null = null) =>
      readableWindow({ fromMs, toMs }, plan as keyof typeof days, NOW);
    expect(read(null)).toEqual({ fromMs: floor, toMs: null, clampedToMs: floor });
    expect(read(floor - 1, NOW)).toEqual({ fromMs: floor, toMs: NOW, clampedToMs: floor });
    expect(read(floor, NOW)).toEqual({ fromMs: floor, toMs: NOW, clampedToMs: null });
    expect(isEmpty(read(0, floor - DAY))).toBe(true);
  }
  expect(readableWindow({ fromMs: 0, toMs: null }, null, NOW).fromMs).toBe(NOW - 7 * DAY);
});

test('the window before has the same length and ends where the window begins', () => {
  expect(previousWindow({ fromMs: NOW - DAY, toMs: null }, 'studio', NOW)).toEqual({
    fromMs: NOW - 2 * DAY,
    toMs: NOW - DAY,
    clampedToMs: null,
  });
  expect(isEmpty(previousWindow(readableWindow({ fromMs: null, toMs: null }, 'free', NOW), 'free', NOW))).toBe(true);
});

test('the window before begins where retention does when that is later, and is empty when the window itself begins there', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40 * DAY }), fc.integer({ min: 0, max: 40 * DAY }), (a, b) => {
      const asked = { fromMs: NOW - Math.max(a, b), toMs: NOW - Math.min(a, b) };
      const window = readableWindow(asked, 'starter', NOW);
      const before = previousWindow(window, 'starter', NOW);
      const floor = NOW - 30 * DAY;
      const whole = { fromMs: window.fromMs - (window.toMs! - window.fromMs), toMs: window.fromMs };
      if (window.clampedToMs !== null) expect(isEmpty(before)).toBe(true);
      else expect(before).toMatchObject({ fromMs: Math.max(whole.fromMs, floor), toMs: whole.toMs });
      expect(before.clampedToMs === null).toBe(whole.fromMs >= floor);
      expect(before.clampedToMs).toBe(readableWindow(whole, 'starter', NOW).clampedToMs);
    }),
  );
});

test('the last days are whole and have no end', () => {
  expect(wholeDays(NOW, 2)).toEqual({ fromMs: Date.UTC(2026, 10, 20), toMs: null });
});
