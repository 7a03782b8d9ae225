import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fate, Replayed, Said, SeenRequests, Tally } from '../../modules/pricing/rules/replay.ts';
import { replay } from '../../modules/pricing/rules/replay.ts';

/** Requests asked again by other rules: every one is counted once on both sides, and every figure is exact. */

const FATES: readonly Fate[] = ['paid', 'missed', 'refused', 'free'];
const aSaid: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ kind: fc.constant('price' as const), micro: fc.bigInt(0n, 10n ** 15n), ruleId: fc.constantFrom(null, 'a', 'b') }),
  fc.record({ kind: fc.constantFrom('free' as const, 'refuse' as const), ruleId: fc.constantFrom('a', 'c') }),
);
const aRequest = fc.record({
  host: fc.constantFrom('one.example', 'two.example'),
  path: fc.constantFrom('/a', '/b', '/c'),
  agent: fc.constantFrom('gptbot', 'other'),
  was: fc.constantFrom(...FATES),
  isTurnedAway: fc.boolean(),
  hits: fc.integer({ min: 1, max: 1_000_000 }),
  micro: fc.bigInt(0n, 10n ** 15n),
  said: aSaid,
});

const requestsOf = ({ paid, missed, refused, free }: Tally): number => paid + missed + refused + free;
const sum = <T>(all: readonly T[], of: (one: T) => bigint): bigint => all.reduce((total, one) => total + of(one), 0n);

test('each request is one of four on both sides, and pages and agents add up to all of them, to the micro', () => {
  fc.assert(
    fc.property(fc.array(aRequest), (seen) => {
      const all = replay(seen, ({ said }) => said);
      const hits = seen.reduce((total, one) => total + one.hits, 0);
      const groupings: readonly (readonly Replayed[])[] = [[all], all.pages, all.agents];
      for (const groups of groupings) {
        for (const side of ['was', 'byRules'] as const) {
          expect(groups.reduce((total, one) => total + requestsOf(one[side]), 0)).toBe(hits);
          for (const money of ['earnedMicro', 'missedMicro'] as const)
            expect(sum(groups, (one) => one[side][money])).toBe(all[side][money]);
        }
      }
      const priced = (was: (fate: Fate) => boolean) =>
        sum(seen, (one) =>
          was(one.was) && !one.isTurnedAway && one.said.kind === 'price' ? BigInt(one.hits) * one.said.micro : 0n,
        );
      expect(all.byRules.earnedMicro).toBe(priced((fate) => fate === 'paid'));
      expect(all.byRules.missedMicro).toBe(priced((fate) => fate !== 'paid'));
      expect(all.was.earnedMicro).toBe(sum(seen, (one) => (one.was === 'paid' ? one.micro : 0n)));
      expect(all.was.missedMicro).toBe(sum(seen, (one) => (one.was === 'missed' ? one.micro : 0n)));
      const decided = seen.filter(({ isTurnedAway }) => !isTurnedAway);
      expect(new Set(all.rules.map(({ ruleId }) => ruleId))).toEqual(new Set(decided.map(({ said }) => said.ruleId)));
    }),
  );
});

const one = (was: Fate, more: Partial<SeenRequests> = {}): SeenRequests => ({
  host: 'h.example',
  path: '/a',
  agent: 'gptbot',
  was,
  isTurnedAway: false,
  hits: 3,
  micro: 6_000n,
  ...more,
});
const NONE: Tally = { paid: 0, missed: 0, refused: 0, free: 0, earnedMicro: 0n, missedMicro: 0n };
const price: Said = { kind: 'price', micro: 5_000n, ruleId: 'r' };

test.each([
  ['who paid pays the new price', one('paid'), price, { paid: 3, earnedMicro: 15_000n }],
  ['who did not pay is missed at the new price', one('missed'), price, { missed: 3, missedMicro: 15_000n }],
  ['who read free and is asked a price is missed', one('free', { micro: 0n }), price, { missed: 3, missedMicro: 15_000n }],
  ['whom a rule of then refused is asked the price and missed', one('refused'), price, { missed: 3, missedMicro: 15_000n }],
  ['whom the crawler policy turns away stays refused', one('refused', { isTurnedAway: true }), price, { refused: 3 }],
  ['who is refused earns and misses nothing', one('paid'), { kind: 'refuse', ruleId: 'r' } as const, { refused: 3 }],
  ['what is free earns and misses nothing', one('paid'), { kind: 'free', ruleId: 'r' } as const, { free: 3 }],
])('%s', (_what, request, said, then) => {
  expect(replay([request], () => said).byRules).toEqual({ ...NONE, ...then });
});

test('groups whose earnings change most come first', () => {
  const seen = [
    one('paid', { path: '/same', hits: 2, micro: 10_000n }),
    one('paid', { path: '/less', micro: 90_000n }),
    one('missed', { path: '/none' }),
  ];
  expect(replay(seen, () => price).pages.map(({ path }) => path)).toEqual(['/less', '/none', '/same']);
});
