import { expect, test } from 'vitest';
import { isFinalTogether } from '../../modules/settlement/rules/finality.ts';

const proven = (paymentId: string, blockNumber = 7n) => ({ paymentId, evidence: { txHash: '0x01', logIndex: 1, blockNumber } });

test('a batch is final when each payment that is settled in it was judged safe by the evidence it has, and not one less', () => {
  const settled = [proven('a'), proven('b')];
  expect(isFinalTogether(false, settled, [proven('b'), proven('a'), proven('of another batch')])).toBe(true);
  expect(isFinalTogether(true, settled, [proven('a')])).toBe(false);
  expect(isFinalTogether(true, settled, [])).toBe(false);
});

test('evidence that moved since it was judged, or is gone, keeps the batch open', () => {
  expect(isFinalTogether(true, [proven('a', 8n)], [proven('a', 7n)])).toBe(false);
  expect(isFinalTogether(true, [{ paymentId: 'a', evidence: null }], [proven('a')])).toBe(false);
  expect(isFinalTogether(true, [proven('a')], [{ paymentId: 'a', evidence: null }])).toBe(false);
  expect(isFinalTogether(true, [{ paymentId: 'a', evidence: null }], [{ paymentId: 'a', evidence: null }])).toBe(false);
});

test('a batch in which nothing is settled is final once it is over, and not while its payments may still settle', () => {
  expect(isFinalTogether(true, [], [proven('a')])).toBe(true);
  expect(isFinalTogether(false, [], [proven('a')])).toBe(false);
});
