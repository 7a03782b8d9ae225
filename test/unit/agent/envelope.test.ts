/** The envelope of the buyer's tool: what it allows, how its file is read, when its periods begin. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideSpending } from '../../../modules/budgets/rules/decide.ts';
import { PERIODS, periodOf } from '../../../modules/budgets/rules/period.ts';
import { decide } from '../../../packages/agent/src/envelope/decide.ts';
import type { Envelope } from '../../../packages/agent/src/envelope/envelope.ts';
import { DEFAULT_ENVELOPE, parseEnvelope, periodAt } from '../../../packages/agent/src/envelope/envelope.ts';
import { microOfUsdc, usdcOf } from '../../../packages/agent/src/money.ts';

const envelope = (more: Partial<Envelope> = {}): Envelope => ({
  period: 'day',
  totalMicro: 10_000n,
  hostMicro: null,
  pageMicro: null,
  approveAboveMicro: null,
  stop: false,
  ...more,
});
const ask = (amountMicro: bigint, maxMicro: bigint | null = null, isApproved = false) => ({
  host: 'a.example',
  amountMicro,
  maxMicro,
  isApproved,
});
const limitOf = (verdict: ReturnType<typeof decide>) => (verdict.may ? null : verdict.limit);

describe('what may be bought', () => {
  test.each([
    ['the total is reached to the micro', envelope(), { totalMicro: 9_000n, hostMicro: 0n }, ask(1_000n), null],
    ['the total would be exceeded by one micro', envelope(), { totalMicro: 9_001n, hostMicro: 0n }, ask(1_000n), 'total'],
    [
      'the host would be exceeded by one micro',
      envelope({ hostMicro: 5_000n }),
      { totalMicro: 4_001n, hostMicro: 4_001n },
      ask(1_000n),
      'host',
    ],
    [
      'of two limits that are in the way the whole is told before its host, as the service tells it',
      envelope({ hostMicro: 5_000n }),
      { totalMicro: 9_999n, hostMicro: 4_999n },
      ask(1_000n),
      'total',
    ],
    [
      'the page costs one micro more than one may',
      envelope({ pageMicro: 999n }),
      { totalMicro: 0n, hostMicro: 0n },
      ask(1_000n),
      'page',
    ],
    ['whoever asks allows one micro less', envelope(), { totalMicro: 0n, hostMicro: 0n }, ask(1_000n, 999n), 'max'],
    ['it says stop', envelope({ stop: true }), { totalMicro: 0n, hostMicro: 0n }, ask(1n), 'stopped'],
    [
      'a person has to say yes',
      envelope({ approveAboveMicro: 999n }),
      { totalMicro: 0n, hostMicro: 0n },
      ask(1_000n),
      'approval',
    ],
    [
      'a person said yes',
      envelope({ approveAboveMicro: 999n }),
      { totalMicro: 0n, hostMicro: 0n },
      ask(1_000n, null, true),
      null,
    ],
    ['a yes is no more money', envelope(), { totalMicro: 10_000n, hostMicro: 0n }, ask(1n, null, true), 'total'],
  ] as const)('%s', (_what, given, spent, asked, limit) => {
    expect(limitOf(decide(given, spent, asked))).toBe(limit);
  });

  test('whatever is asked in whatever order, what was allowed never exceeds a limit', () => {
    const amounts = fc.array(fc.record({ amount: fc.bigInt(1n, 3_000n), host: fc.constantFrom('a', 'b') }), { maxLength: 40 });
    fc.assert(
      fc.property(amounts, fc.bigInt(0n, 20_000n), fc.bigInt(0n, 9_000n), (asked, totalMicro, hostMicro) => {
        const spent = { a: 0n, b: 0n };
        for (const { amount, host } of asked) {
          const so = { totalMicro: spent.a + spent.b, hostMicro: spent[host] };
          const one = { host, amountMicro: amount, maxMicro: null, isApproved: false };
          if (decide(envelope({ totalMicro, hostMicro }), so, one).may) spent[host] += amount;
        }
        return spent.a + spent.b <= totalMicro && spent.a <= hostMicro && spent.b <= hostMicro;
      }),
    );
  });
});

describe('the file', () => {
  test('is read in USDC, and limits that are not there do not hold', () => {
    expect(parseEnvelope('{"period":"week","total":"5","perHost":"1.5","perPage":"0.000001","approveAbove":"0.05"}')).toEqual({
      period: 'week',
      totalMicro: 5_000_000n,
      hostMicro: 1_500_000n,
      pageMicro: 1n,
      approveAboveMicro: 50_000n,
      stop: false,
    });
    expect(parseEnvelope('{"total":"1"}')).toEqual({ ...DEFAULT_ENVELOPE, pageMicro: null });
  });

  test.each([
    ['no JSON', 'total: 5', 'it is no JSON'],
    ['a number, which would be rounded', '{"total":5}', /total/],
    ['a misspelt limit, which would not hold', '{"total":"5","perhost":"1"}', /perhost/],
    ['no total', '{}', /total/],
    ['seven places', '{"total":"0.0000001"}', /six places/],
    ['less than nothing', '{"total":"-1"}', /six places/],
    ['a period of its own', '{"total":"1","period":"year"}', /period/],
  ])('with %s is refused by a sentence', (_what, text, says) => {
    const read = parseEnvelope(text);
    expect(read).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
  });
});

test('periods are of UTC, weeks begin on Monday, and the moment of midnight is in the next one', () => {
  const span = (period: Envelope['period'], at: string) => {
    const { fromMs, untilMs } = periodAt(period, Date.parse(at));
    return [new Date(fromMs).toISOString().slice(0, 10), new Date(untilMs).toISOString().slice(0, 10)];
  };
  expect(span('day', '2026-11-22T23:59:59.999Z')).toEqual(['2026-11-22', '2026-11-23']);
  expect(span('day', '2026-11-23T00:00:00Z')).toEqual(['2026-11-23', '2026-11-24']);
  expect(span('week', '2026-11-22T23:59:59.999Z')).toEqual(['2026-11-16', '2026-11-23']);
  expect(span('week', '2026-11-23T00:00:00Z')).toEqual(['2026-11-23', '2026-11-30']);
  expect(span('month', '2026-12-31T23:59:59.999Z')).toEqual(['2026-12-01', '2027-01-01']);
});

test('a decimal of micro-USDC is read back as it was', () => {
  fc.assert(fc.property(fc.bigInt(0n, 10n ** 17n), (micro) => microOfUsdc(usdcOf(micro)) === micro));
});

const anAmount = fc.bigInt({ min: 0n, max: 30n });
const aLimit = fc.option(anAmount);

test('an envelope lets through what a budget of the service with the same limits lets through, in the same periods', () => {
  const limits = fc.record({ totalMicro: anAmount, hostMicro: aLimit, pageMicro: aLimit, approveAboveMicro: aLimit });
  const asked = fc.record({ amountMicro: anAmount, isApproved: fc.boolean() });
  const before = fc.record({ totalMicro: anAmount, hostMicro: anAmount });
  fc.assert(
    fc.property(limits, fc.boolean(), asked, before, (limit, stop, ask, spent) => {
      const ours = decide(envelope({ ...limit, stop }), spent, { ...ask, host: 'a.example', maxMicro: null });
      const budget = { ...limit, period: 'day', isStopped: stop } as const;
      expect(ours.may).toBe(decideSpending(budget, spent, { ...ask, purpose: 'page' }).kind === 'may');
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...PERIODS), fc.integer({ min: 0, max: 4_102_444_800_000 }), (period, atMs) => {
      const { startMs, endMs } = periodOf(period, atMs);
      expect(periodAt(period, atMs)).toEqual({ fromMs: startMs, untilMs: endMs });
    }),
  );
});
