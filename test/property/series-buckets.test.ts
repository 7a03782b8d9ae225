import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_BUCKETS, mostBuckets, SERIES_UNITS } from '../../modules/kernel/time/series.ts';
import { bordersWithin } from '../../platform/calendar.ts';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
  'America/St_Johns',
  'Asia/Tehran',
];
const FROM = Date.UTC(2005, 0, 1);
const TO = Date.UTC(2030, 0, 1);
const YEAR_MS = 366 * 86_400_000;

test('no window has more buckets than it is priced at, in any zone and by any unit', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: FROM, max: TO }),
      fc.oneof(fc.integer({ min: 0, max: 40 * 86_400_000 }), fc.integer({ min: 0, max: 3 * YEAR_MS })),
      fc.constantFrom(...ZONES),
      fc.constantFrom(...SERIES_UNITS),
      (fromMs, lengthMs, zone, unit) => {
        const borders = bordersWithin({ fromMs, toMs: fromMs + lengthMs }, unit, zone, MAX_BUCKETS - 1);
        if (borders !== null) expect(borders.length + 1).toBeLessThanOrEqual(mostBuckets(lengthMs, unit));
      },
    ),
    { numRuns: 3_000 },
  );
  expect(mostBuckets(null, 'month')).toBe(MAX_BUCKETS);
});
