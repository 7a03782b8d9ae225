import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isEmpty, MOST_PIECES, piecesOf, previousWindow, readableWindow, wholeDays } from '../../domain/window.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 21, 11, 0, 0, 7);

const isFirst = (ms: number): boolean => new Date(ms).toISOString().endsWith('-01T00:00:00.000Z');

test('the pieces of a window cover each of its moments once, in whole units, with less than an hour at each end', () => {
  const moment = fc.oneof(
    fc.integer({ min: 0, max: 9 * DAY }),
    fc.integer({ min: 0, max: 200 }).map((hours) => hours * HOUR),
    fc.integer({ min: 0, max: 900 * DAY }),
    fc
      .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: -2, max: 2 }))
      .map(([month, ms]) => Math.max(0, Date.UTC(1970, month) + ms)),
  );
  fc.assert(
    fc.property(moment, moment, (a, b) => {
      const window = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
      const pieces = piecesOf(window);
      const { months, days, hours, edges } = pieces;
      const all = [...months, ...days, ...hours, ...edges].sort((x, y) => x.fromMs - y.fromMs);
      expect(all.some(isEmpty)).toBe(false);
      let at = window.fromMs;
      for (const piece of all) {
        expect(piece.fromMs).toBe(at);
        at = piece.toMs!;
      }
      expect(at).toBe(window.toMs);
      for (const { fromMs, toMs } of months) expect([isFirst(fromMs), isFirst(toMs!)]).toEqual([true, true]);
      for (const { fromMs, toMs } of days) expect([fromMs % DAY, toMs! % DAY]).toEqual([0, 0]);
      for (const { fromMs, toMs } of hours) expect([fromMs % HOUR, toMs! % HOUR]).toEqual([0, 0]);
      for (const { fromMs, toMs } of edges) expect(toMs! - fromMs).toBeLessThan(2 * HOUR);
      expect(hours.every(({ fromMs, toMs }) => toMs! - fromMs < 2 * DAY)).toBe(true);
      expect(days.every(({ fromMs, toMs }) => toMs! - fromMs < 62 * DAY)).toBe(true);
      for (const [kind, most] of Object.entries(MOST_PIECES)) {
        expect(pieces[kind as keyof typeof pieces].length).toBeLessThanOrEqual(most);
      }
    }),
  );
});

test('a window without an end ends in months without an end, or in days where those are the largest', () => {
  const around = [{ fromMs: 5 * DAY - HOUR, toMs: 5 * DAY }];
  const edges = [{ fromMs: 5 * DAY - HOUR - 1, toMs: 5 * DAY - HOUR }];
  const window = { fromMs: 5 * DAY - HOUR - 1, toMs: null };
  expect(piecesOf(window)).toEqual({
    months: [{ fromMs: 31 * DAY, toMs: null }],
    days: [{ fromMs: 5 * DAY, toMs: 31 * DAY }],
    ...{ hours: around, edges },
  });
  expect(piecesOf(window, 'day')).toEqual({
    months: [],
    days: [{ fromMs: 5 * DAY, toMs: null }],
    ...{ hours: around, edges },
  });
});

test('a leap year, a year and a window within one month are taken apart at the borders of their months', () => {
  const [year, next] = [Date.UTC(2024, 0), Date.UTC(2025, 0)];
  const none = { days: [], hours: [], edges: [] };
  expect(piecesOf({ fromMs: year, toMs: next })).toEqual({ months: [{ fromMs: year, toMs: next }], ...none });
  const february = { fromMs: Date.UTC(2024, 1), toMs: Date.UTC(2024, 2) };
  expect(piecesOf(february)).toEqual({ months: [february], ...none });
  const within = { fromMs: february.fromMs + DAY, toMs: february.toMs - DAY };
  expect(piecesOf(within)).toEqual({ months: [], ...none, days: [within] });
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
    ...{ fromMs: NOW - 2 * DAY, toMs: NOW - DAY },
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
