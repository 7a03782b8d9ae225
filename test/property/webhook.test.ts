import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ATTEMPT_DELAYS_MS, delayBefore } from '../../modules/kernel/time/attempts.ts';
import { buildDeliveryId } from '../../modules/webhooks/rules/deliveryId.ts';
import { BUCKETS, bucketsOfShard } from '../../modules/webhooks/rules/endpoint.ts';
import type { UnannouncedCrossing } from '../../modules/webhooks/rules/event.ts';
import { buildSettlementData, MAX_EVENT_BYTES, splitByBytes } from '../../modules/webhooks/rules/event.ts';
import { parseRetryAfter } from '../../modules/webhooks/rules/retrySchedule.ts';
import { isOver, openWindow, sleepBeforeNextClose } from '../../modules/webhooks/rules/window.ts';

const leg = fc.record({
  ordinal: fc.nat(50),
  toAddress: fc.constantFrom('0xa', '0xb', '0xc'),
  amountMicro: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
  role: fc.constantFrom('author' as const, 'coauthor' as const, 'platform' as const),
  authorId: fc.option(fc.string(), { nil: null }),
});
const crossing: fc.Arbitrary<UnannouncedCrossing> = fc.record({
  crossingId: fc.uuid(),
  paymentId: fc.uuid(),
  reverses: fc.option(fc.constant('0x1'), { nil: null }),
  kind: fc.constantFrom('read' as const, 'citation' as const),
  isCorrection: fc.boolean(),
  settlementRef: fc.option(fc.constantFrom('0x1', '0x2'), { nil: null }),
  settlementRefKind: fc.constant('transferId' as const),
  legs: fc.array(leg, { maxLength: 6 }),
});

test('gross is the sum of the legs, each leg appears once, and the formatted amount says the same', () => {
  fc.assert(
    fc.property(fc.array(crossing, { maxLength: 20 }), (crossings) => {
      const place = { tenantId: 't', host: 'h.example', window: { toMs: 1, spanMs: 1 } };
      const { detailed, summary } = buildSettlementData(place, crossings);
      const expected = crossings.flatMap(({ legs }) => legs).reduce((sum, { amountMicro }) => sum + amountMicro, 0n);
      expect(BigInt(detailed.gross.microUsdc)).toBe(expected);
      expect(detailed.legs.reduce((sum, { amountMicro }) => sum + amountMicro, 0)).toBe(detailed.gross.microUsdc);
      expect(Math.round(Number(detailed.gross.usdc) * 1e6)).toBe(detailed.gross.microUsdc);
      const net = crossings.reduce((sum, { isCorrection, legs }) => sum + (isCorrection ? -legs.length : legs.length), 0);
      expect(summary.announced).toBe(Math.max(0, net));
      expect(new Set(detailed.settlementRefs).size).toBe(detailed.settlementRefs.length);
    }),
  );
});

test('no event is larger than its bytes, however many authors and sales there are, and each crossing is in one event', () => {
  const authors = Array.from({ length: 50 }, (_, ordinal) => ({
    ordinal,
    toAddress: `0x${'a'.repeat(40)}`,
    amountMicro: 1_000_000n,
    role: 'coauthor' as const,
    authorId: 'é'.repeat(64),
  }));
  const crossings = Array.from({ length: 1_000 }, (_, n) => ({
    crossingId: `${n}`,
    paymentId: '00000000-0000-7000-8000-000000000000',
    reverses: null,
    kind: 'citation' as const,
    isCorrection: false,
    settlementRef: `0x${n.toString(16).padStart(64, '0')}`,
    settlementRefKind: 'txHash' as const,
    legs: authors,
  }));
  const parts = splitByBytes(crossings);
  expect(parts.flat()).toEqual(crossings);
  const place = { tenantId: crossings[0]?.paymentId ?? '', host: 'h'.repeat(253), window: { toMs: 1e15, spanMs: 1e9 } };
  for (const part of parts) {
    const { detailed } = buildSettlementData(place, part);
    expect(Buffer.byteLength(JSON.stringify(detailed))).toBeLessThanOrEqual(MAX_EVENT_BYTES);
  }
});

test('a wait stays within ten percent of the schedule and never below the floor of at most ten hours', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.nat(100_000_000),
      (attempt, jitter, floorMs) => {
        const base = ATTEMPT_DELAYS_MS[attempt - 1] as number;
        const wait = delayBefore(attempt, jitter, 0) as number;
        expect(wait).toBeGreaterThanOrEqual(Math.round(base * 0.9));
        expect(wait).toBeLessThanOrEqual(Math.round(base * 1.1));
        const floored = delayBefore(attempt, jitter, floorMs) as number;
        expect(floored).toBe(Math.max(wait, Math.min(floorMs, 36_000_000)));
      },
    ),
  );
});

test('whatever a receiver says in Retry-After, the wait is a finite number of milliseconds', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), (text, now) => {
      const wait = parseRetryAfter(text, now);
      expect(Number.isFinite(wait) && wait >= 0).toBe(true);
    }),
  );
});

test('every bucket belongs to exactly one shard, however many there are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: BUCKETS }), (shards) => {
      const owners = new Array<number>(BUCKETS).fill(0);
      for (let shard = 0; shard < shards; shard++) {
        const { from, to } = bucketsOfShard(shard, shards);
        for (let bucket = from; bucket < to; bucket++) owners[bucket] = (owners[bucket] ?? 0) + 1;
      }
      expect(owners.every((count) => count === 1)).toBe(true);
    }),
  );
});

test('after the sleep some window is over, or a whole span has passed', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(10_000), { maxLength: 5 }), fc.integer({ min: 1, max: 1_000 }), (oldest, spanMs) => {
      const now = 5_000;
      const open = oldest.map((at) => openWindow(Math.min(at, now), null, spanMs)).filter((window) => !isOver(window, now));
      const wake =
        now +
        sleepBeforeNextClose(
          open.map(({ toMs }) => toMs),
          now,
          spanMs,
        );
      expect(wake).toBeLessThanOrEqual(now + spanMs);
      if (open.length > 0) expect(open.some((window) => isOver(window, wake))).toBe(true);
    }),
  );
});

test('delivery ids are 30 characters and sort as their times do', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31), fc.nat(2 ** 31), fc.uint8Array({ minLength: 10, maxLength: 10 }), (a, b, random) => {
      const [first, second] = [buildDeliveryId(a, random), buildDeliveryId(b, random)];
      expect(first).toMatch(/^dlv_[0-9A-HJKMNP-TV-Z]{26}$/);
      if (a !== b) expect(first < second).toBe(a < b);
    }),
  );
});
