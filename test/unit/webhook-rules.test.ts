import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { delayBefore } from '../../modules/kernel/time/attempts.ts';
import { buildDeliveryId } from '../../modules/webhooks/rules/deliveryId.ts';
import { wantsEvent } from '../../modules/webhooks/rules/endpoint.ts';
import type { UnannouncedCrossing } from '../../modules/webhooks/rules/event.ts';
import { buildSettlementData, settlementEventKey, settlementRefKind } from '../../modules/webhooks/rules/event.ts';
import type { Receiver } from '../../modules/webhooks/rules/retrying.ts';
import { outcomeOf } from '../../modules/webhooks/rules/retrying.ts';
import type { AttemptResult } from '../../modules/webhooks/rules/retrySchedule.ts';
import { judgeAttempt, parseRetryAfter } from '../../modules/webhooks/rules/retrySchedule.ts';
import { isOver, openWindow, sleepBeforeNextClose } from '../../modules/webhooks/rules/window.ts';
import { signHeaders, signingKeyOf } from '../../modules/webhooks/use/sign.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';

const HASH = `0x${'ab'.repeat(32)}`;

function crossing(change: Partial<UnannouncedCrossing> = {}): UnannouncedCrossing {
  return {
    crossingId: 'c1',
    paymentId: 'p1',
    reverses: null,
    kind: 'citation',
    isCorrection: false,
    settlementRef: HASH,
    settlementRefKind: 'txHash',
    legs: [
      { ordinal: 0, toAddress: '0xa', amountMicro: 3_000n, role: 'author', authorId: 'ann' },
      { ordinal: 1, toAddress: '0xb', amountMicro: 2_000n, role: 'coauthor', authorId: null },
    ],
    ...change,
  };
}

function result(change: Partial<AttemptResult>): AttemptResult {
  return { status: null, reason: null, retryAfter: null, startedAtMs: 0, durationMs: 1, responseStart: '', ...change };
}

test('a window opens with the oldest unannounced crossing and is over a span later', () => {
  const window = openWindow(1_000, null, 300);
  expect(window).toEqual({ toMs: 1_300, spanMs: 300 });
  expect(isOver(window, 1_299)).toBe(false);
  expect(isOver(window, 1_300)).toBe(true);
});

test('a crossing that is older than the last closed window waits for a whole window more', () => {
  expect(openWindow(1_000, 1_300, 300)).toEqual({ toMs: 1_600, spanMs: 300 });
});

test('the closing workflow sleeps until the first open window ends, at most a span', () => {
  expect(sleepBeforeNextClose([], 1_000, 300)).toBe(300);
  expect(sleepBeforeNextClose([1_200, 1_100], 1_000, 300)).toBe(100);
  expect(sleepBeforeNextClose([900], 1_000, 300)).toBe(0);
});

test('the detailed data of an event adds up its legs, counts citations net of those taken back, and says which transaction a leg takes back', () => {
  const place = { tenantId: 't', host: 'alpha.example', window: { toMs: 9, spanMs: 2 } };
  const correction = crossing({
    crossingId: 'c3',
    isCorrection: true,
    reverses: HASH,
    settlementRef: null,
    settlementRefKind: 'none',
    legs: [{ ordinal: 0, toAddress: '0xa', amountMicro: -1_500n, role: 'author', authorId: 'ann' }],
  });
  const paid = [
    { toAddress: '0xa', amountMicro: 3_000, role: 'author', authorId: 'ann' },
    { toAddress: '0xb', amountMicro: 2_000, role: 'coauthor' },
  ].map((leg) => ({ ...leg, settlementRef: HASH, settlementRefKind: 'txHash', receiptId: 'p1' }));
  const { detailed, summary } = buildSettlementData(place, [
    crossing(),
    crossing({ crossingId: 'c2', kind: 'read' }),
    correction,
  ]);
  expect(detailed).toEqual({
    tenant: 't',
    host: 'alpha.example',
    window: { toMs: 9, spanMs: 2 },
    citations: { settled: 0 },
    gross: { microUsdc: 8_500, usdc: '0.008500' },
    legs: [
      ...paid,
      ...paid,
      {
        toAddress: '0xa',
        amountMicro: -1_500,
        role: 'author',
        authorId: 'ann',
        settlementRef: null,
        settlementRefKind: 'none',
        receiptId: 'p1',
        reverses: HASH,
      },
    ],
    settlementRefs: [HASH],
  });
  expect(summary).toEqual({ tenant: 't', announced: 3 });
});

test('an event key depends on place, window and members, not on their order', () => {
  const place = { tenantId: 't', host: 'h.example', window: { toMs: 1, spanMs: 1 } };
  const key = settlementEventKey(place, [{ crossingId: 'a' }, { crossingId: 'b' }]);
  expect(settlementEventKey(place, [{ crossingId: 'b' }, { crossingId: 'a' }])).toBe(key);
  expect(settlementEventKey({ ...place, host: 'i.example' }, [{ crossingId: 'a' }, { crossingId: 'b' }])).not.toBe(key);
  expect(settlementEventKey(place, [{ crossingId: 'a' }])).not.toBe(key);
});

test('a settlement reference names its kind by its form, and test-mode output is always mock', () => {
  expect(settlementRefKind(HASH, 'live')).toBe('txHash');
  expect(settlementRefKind('fac_123', 'live')).toBe('transferId');
  expect(settlementRefKind(HASH, 'mock')).toBe('mock');
  expect(settlementRefKind(null, 'live')).toBe('none');
});

test('an endpoint gets events of its types and hosts', () => {
  const all = { eventTypes: ['settlement.completed'], hostFilter: null } as const;
  const one = { ...all, hostFilter: ['a.example'] };
  expect(wantsEvent(all, { type: 'settlement.completed', host: 'b.example' })).toBe(true);
  expect(wantsEvent(one, { type: 'settlement.completed', host: 'b.example' })).toBe(false);
  expect(wantsEvent(one, { type: 'settlement.completed', host: 'a.example' })).toBe(true);
  expect(wantsEvent(all, { type: 'anomaly.detected', host: null })).toBe(false);
});

test('the schedule is 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, and then nothing', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => delayBefore(attempt, 0.5, 0));
  expect(waits).toEqual([0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000, null]);
});

test.each([
  [{ status: 200 }, { kind: 'delivered' }],
  [{ status: 204 }, { kind: 'delivered' }],
  [{ status: 302 }, { kind: 'retry', reason: 'redirect', delayMs: 5_000 }],
  [{ status: 404 }, { kind: 'retry', reason: 'status_404', delayMs: 5_000 }],
  [
    { status: 500, retryAfter: '60' },
    { kind: 'retry', reason: 'status_500', delayMs: 5_000 },
  ],
  [
    { status: 429, retryAfter: '60' },
    { kind: 'retry', reason: 'status_429', delayMs: 60_000 },
  ],
  [
    { status: 503, retryAfter: '1' },
    { kind: 'retry', reason: 'status_503', delayMs: 5_000 },
  ],
  [
    { status: 503, retryAfter: '999999' },
    { kind: 'retry', reason: 'status_503', delayMs: 36_000_000 },
  ],
  [{ reason: 'timeout' }, { kind: 'retry', reason: 'timeout', delayMs: 5_000 }],
  [{ status: 410 }, { kind: 'failed', reason: 'status_410', isGone: true, counts: true }],
  [{ reason: 'blocked_address' }, { kind: 'failed', reason: 'blocked_address', isGone: false, counts: false }],
  [{ reason: 'endpoint_disabled' }, { kind: 'failed', reason: 'endpoint_disabled', isGone: false, counts: false }],
] as const)('a first attempt that came to %j means %j', (came, verdict) => {
  expect(judgeAttempt(1, result(came), 0.5)).toEqual(verdict);
});

test('a failed eighth attempt exhausts the delivery', () => {
  expect(judgeAttempt(8, result({ status: 500 }), 0.5)).toEqual({ kind: 'exhausted', reason: 'status_500' });
});

test('Retry-After is read as seconds or as an HTTP date, and anything else as nothing', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(parseRetryAfter('120', now)).toBe(120_000);
  expect(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
  expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  for (const text of ['', '-5', '1.5', 'soon', 'NaN', '2026']) expect(parseRetryAfter(text, now)).toBeLessThanOrEqual(2_026_000);
  expect(parseRetryAfter('soon', now)).toBe(0);
  expect(parseRetryAfter(null, now)).toBe(0);
});

const DOWN: Receiver = {
  enabled: true,
  cools: false,
  probeInMs: null,
  pausedMs: null,
  failuresInRow: 3,
  deliveries: 2,
  dueInMs: 4_000,
  attempt: 3,
  reason: 'status_500',
};

test('a receiver that does not answer is looked at when its next attempt or probe is due, whichever comes first', () => {
  expect(outcomeOf(DOWN, 0)).toMatchObject({ state: 'retrying', next: '3', waitMs: 4_000, reason: 'status_500' });
  const cools = { ...DOWN, cools: true, probeInMs: 9_000 };
  expect(outcomeOf(cools, 2)).toMatchObject({ state: 'cooling', next: '3', waitMs: 4_000, probes: 2 });
  expect(outcomeOf({ ...cools, probeInMs: 3_000 }, 2)).toMatchObject({ next: 'probe', waitMs: 3_000 });
  expect(outcomeOf({ ...cools, deliveries: 0, dueInMs: null }, 2)).toMatchObject({ next: 'probe', waitMs: 9_000 });
});

test('an attempt that is overdue, because no slot was free, is looked at again after a second', () => {
  expect(outcomeOf({ ...DOWN, dueInMs: -60_000 }, 0)).toMatchObject({ waitMs: 1_000 });
});

test('a paused receiver is looked at when its pause ends, however much is due', () => {
  expect(outcomeOf({ ...DOWN, dueInMs: -1, pausedMs: 60_000 }, 0)).toMatchObject({ state: 'paused', next: null, waitMs: 60_000 });
});

test('with nothing to try again a receiver is recovered, disabled, or nothing waits', () => {
  const none = { ...DOWN, deliveries: 0, dueInMs: null };
  expect(outcomeOf({ ...none, failuresInRow: 0 }, 1)).toEqual({ kind: 'ended', why: 'recovered' });
  expect(outcomeOf(none, 1)).toEqual({ kind: 'ended', why: 'nothing_waits' });
  expect(outcomeOf({ ...none, enabled: false }, 1)).toEqual({ kind: 'ended', why: 'disabled' });
});

test('a delivery id is dlv_ and a ULID that sorts by time', () => {
  expect(buildDeliveryId(0, new Uint8Array(10))).toBe(`dlv_${'0'.repeat(26)}`);
  expect(buildDeliveryId(2 ** 48 - 1, new Uint8Array(10).fill(255))).toBe(`dlv_7${'Z'.repeat(25)}`);
  // The example of the ULID specification's time part: 1469918176385 is 01ARYZ6S41.
  expect(buildDeliveryId(1_469_918_176_385, new Uint8Array(10)).slice(4, 14)).toBe('01ARYZ6S41');
  expect(() => buildDeliveryId(0, new Uint8Array(9))).toThrow(RangeError);
  expect(() => buildDeliveryId(-1, new Uint8Array(10))).toThrow(RangeError);
});

test('signatures are those a receiver computes, two of each while a secret is rotated', () => {
  const secrets = [`whsec_${Buffer.from('new-secret-of-24-bytes!!').toString('base64')}`, 'whsec_b2xkLXNlY3JldA=='];
  const headers = signHeaders('dlv_1', '{"a":1}', secrets.map(signingKeyOf), 1_700_000_000);
  const own = secrets.map((secret) =>
    createHmac('sha256', Buffer.from(secret, 'utf8')).update('1700000000.{"a":1}').digest('hex'),
  );
  expect(headers['svc-signature']).toBe(`t=1700000000,v1=${own[0]},v1=${own[1]}`);
  const standard = secrets.map((secret) =>
    createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update('dlv_1.1700000000.{"a":1}')
      .digest('base64'),
  );
  expect(headers['webhook-signature']).toBe(`v1,${standard[0]} v1,${standard[1]}`);
  expect(headers['webhook-id']).toBe('dlv_1');
  expect(headers['webhook-timestamp']).toBe('1700000000');
});

test('the Standard Webhooks signature equals the vector of its reference implementation', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = signHeaders('msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}', [signingKeyOf(secret)], 1_614_265_330);
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('a sealed secret opens with its key and context only, and two seals differ', () => {
  const box = createSecretBox(Buffer.alloc(32, 1));
  const sealed = box.seal('whsec_x', 'row 1');
  expect(box.open(sealed, 'row 1')).toBe('whsec_x');
  expect(box.seal('whsec_x', 'row 1').equals(sealed)).toBe(false);
  expect(sealed.includes('whsec_x')).toBe(false);
  expect(() => box.open(sealed, 'row 2')).toThrow();
  expect(() => createSecretBox(Buffer.alloc(32, 2)).open(sealed, 'row 1')).toThrow();
  for (let place = 0; place < sealed.length; place++) {
    const changed = Buffer.from(sealed);
    changed[place] = (changed[place] ?? 0) ^ 1;
    expect(() => box.open(changed, 'row 1')).toThrow();
  }
  expect(() => box.open(sealed.subarray(0, 20), 'row 1')).toThrow();
  expect(() => createSecretBox(Buffer.alloc(31))).toThrow(RangeError);
});
