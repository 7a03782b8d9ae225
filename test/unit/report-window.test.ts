import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isEmpty, piecesOf, previousWindow, readableWindow, wholeDays } from '../../domain/window.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 21, 11, 0, 0, 7);

test('the pieces of a window cover each of its moments once, in whole units, with less than an hour at each end', () => {
  const moment = fc.oneof(
    fc.integer({ min: 0, max: 9 * DAY }),
    fc.integer({ min: 0, max: 200 }).map((hours) => hours * HOUR),
  );
  fc.assert(
    fc.property(moment, moment, (a, b) => {
      const window = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
      const { days, hours, edges } = piecesOf(window);
      const all = [...days, ...hours, ...edges].sort((x, y) => x.fromMs - y.fromMs);
      expect(all.some(isEmpty)).toBe(false);
      let at = window.fromMs;
      for (const piece of all) {
        expect(piece.fromMs).toBe(at);
        at = piece.toMs!;
      }
      expect(at).toBe(window.toMs);
      for (const { fromMs, toMs } of days) expect([fromMs % DAY, toMs! % DAY]).toEqual([0, 0]);
      for (const { fromMs, toMs } of hours) expect([fromMs % HOUR, toMs! % HOUR]).toEqual([0, 0]);
      for (const { fromMs, toMs } of edges) expect(toMs! - fromMs).toBeLessThan(2 * HOUR);
      expect(hours.every(({ fromMs, toMs }) => toMs! - fromMs < 2 * DAY)).toBe(true);
    }),
  );
});

test('a window without an end ends in days without an end', () => {
  const { days, hours, edges } = piecesOf({ fromMs: 5 * DAY - HOUR - 1, toMs: null });
  expect(days).toEqual([{ fromMs: 5 * DAY, toMs: null }]);
  expect(hours).toEqual([{ fromMs: 5 * DAY - HOUR, toMs: 5 * DAY }]);
  expect(edges).toEqual([{ fromMs: 5 * DAY - HOUR - 1, toMs: 5 * DAY - HOUR }]);
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

test('the last days are whole and have no end', () => {
  expect(wholeDays(NOW, 2)).toEqual({ fromMs: Date.UTC(2026, 10, 20), toMs: null });
});
