import { expect, test } from 'vitest';
import type { PlayFigures } from '../play/judge.ts';
import { judgePlay, quantile } from '../play/judge.ts';

const buyer = { address: '0xb', startMicro: 100_000n, balanceMicro: 98_000n, chargedMicro: [1_000n, 0n, 1_000n] };
const author = { address: '0xa', gotMicro: 2_000n, legsMicro: 2_000n };
const WELL: PlayFigures = { buyers: [buyer], authors: [author], unserved: [], settledTwice: [], exceptions: [], defects: 0 };

test('a play in which everybody paid what he was told, and every author got his legs, is well', () => {
  expect(judgePlay(WELL)).toEqual([]);
});

test.for<readonly [string, Partial<PlayFigures>, RegExp]>([
  [
    'a buyer who paid a micro more than he was told',
    { buyers: [{ ...buyer, balanceMicro: 97_999n }] },
    /paid 2001 micro and was told 2000/,
  ],
  [
    'a buyer who was told a sale that the chain does not show',
    { buyers: [{ ...buyer, balanceMicro: 99_000n }] },
    /paid 1000 micro/,
  ],
  ['an author who got less than the legs say', { authors: [{ ...author, gotMicro: 1_999n }] }, /the legs say 2000/],
  ['a buyer who was refused', { unserved: ['402 insufficient_funds'] }, /was not served: 402/],
  ['an authorization that settled twice', { settledTwice: ['0xb 0x1'] }, /more than once: 0xb 0x1/],
  ['a leg that the chain does not show', { exceptions: ['leg of solo'] }, /differ: leg of solo/],
  ['an answer with status 500', { defects: 3 }, /3 answers with status 500/],
  ['a play in which nobody bought', { buyers: [{ ...buyer, balanceMicro: 100_000n, chargedMicro: [] }] }, /nothing is proven/],
])('%s is said, and nothing else', ([, changes, said]) => {
  const wrong = judgePlay({ ...WELL, ...changes });
  expect(wrong).toHaveLength(1);
  expect(wrong[0]).toMatch(said);
});

test('quantiles are values of the list; of none it is 0', () => {
  expect([quantile([3, 1, 2], 0.5), quantile([1, 2, 3, 4], 0.95), quantile([], 0.5)]).toEqual([2, 4, 0]);
});
