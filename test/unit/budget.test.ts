import { describe, expect, test } from 'vitest';
import type { Budget } from '../../modules/budgets/rules/decide.ts';
import { decideSpending, spendingState } from '../../modules/budgets/rules/decide.ts';
import { periodOf } from '../../modules/budgets/rules/period.ts';
import { PAYMENT_STATES } from '../../modules/kernel/payment/state.ts';

const BUDGET: Budget = {
  period: 'month',
  totalMicro: 100n,
  hostMicro: 40n,
  pageMicro: 30n,
  approveAboveMicro: 20n,
  isStopped: false,
};
const NOTHING = { totalMicro: 0n, hostMicro: 0n };
const page = (amountMicro: bigint, isApproved = false) => ({ amountMicro, purpose: 'page', isApproved }) as const;

describe('what an account may spend', () => {
  test('an account without a budget may spend anything', () => {
    expect(decideSpending(null, { totalMicro: 10n ** 18n, hostMicro: 0n }, page(10n ** 18n))).toEqual({ kind: 'may' });
  });

  test.each([
    ['a page may cost what a page may cost, and no micro more', page(30n, true), NOTHING, 'may'],
    ['a page may cost what a page may cost, and no micro more', page(31n, true), NOTHING, 'page'],
    ['a licence is no page', { ...page(31n, true), purpose: 'licence' as const }, NOTHING, 'may'],
    ['the total may be spent to the micro', page(10n), { totalMicro: 90n, hostMicro: 0n }, 'may'],
    ['the total may be spent to the micro', page(10n), { totalMicro: 91n, hostMicro: 0n }, 'total'],
    ['a host may get what a host may get', page(10n), { totalMicro: 30n, hostMicro: 30n }, 'may'],
    ['a host may get what a host may get', page(10n), { totalMicro: 31n, hostMicro: 31n }, 'host'],
  ])('%s', (_, ask, spent, outcome) => {
    const decision = decideSpending(BUDGET, spent, ask);
    expect(decision.kind === 'exceeded' ? decision.limit : decision.kind).toBe(outcome);
  });

  test('a stopped account may buy nothing, whatever it has left', () => {
    expect(decideSpending({ ...BUDGET, isStopped: true }, NOTHING, page(1n, true))).toMatchObject({ limit: 'stopped' });
  });

  test('the owner is asked above the limit and not at it, and only about what no limit refuses', () => {
    expect(decideSpending(BUDGET, NOTHING, page(20n))).toEqual({ kind: 'may' });
    expect(decideSpending(BUDGET, NOTHING, page(21n))).toEqual({ kind: 'ask_owner', aboveMicro: 20n });
    expect(decideSpending(BUDGET, NOTHING, page(21n, true))).toEqual({ kind: 'may' });
    expect(decideSpending(BUDGET, { totalMicro: 90n, hostMicro: 0n }, page(21n))).toMatchObject({ limit: 'total' });
  });
});

test('a payment counts until its authorization can move nothing, and for good once it has', () => {
  const outcomes = PAYMENT_STATES.map((state) => [state, spendingState({ state, isWatched: false })]);
  expect(Object.fromEntries(outcomes)).toEqual({
    accepted: 'open',
    held: 'open',
    broadcast: 'open',
    review: 'open',
    settled: 'spent',
    final: 'spent',
    failed: 'released',
    superseded: 'released',
    expired: 'released',
  });
  for (const state of PAYMENT_STATES) expect(spendingState({ state, isWatched: true })).toBe('open');
});

describe('periods are of UTC', () => {
  test.each([
    ['day', '2026-11-22T23:59:59.999Z', '2026-11-22', '2026-11-23'],
    ['day', '2026-11-23T00:00:00.000Z', '2026-11-23', '2026-11-24'],
    ['week', '2026-11-22T23:59:59.999Z', '2026-11-16', '2026-11-23'],
    ['week', '2026-11-23T00:00:00.000Z', '2026-11-23', '2026-11-30'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01'],
    ['month', '2028-02-29T12:00:00.000Z', '2028-02-01', '2028-03-01'],
  ] as const)('the %s of %s begins on %s and ends at %s', (period, at, start, end) => {
    expect(periodOf(period, Date.parse(at))).toEqual({ startMs: Date.parse(start), endMs: Date.parse(end) });
  });
});
