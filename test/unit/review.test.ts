import { expect, test } from 'vitest';
import type { Sight } from '../../modules/kernel/payment/sight.ts';
import { whyReviewStays } from '../../modules/settlement/rules/review.ts';

const transfer = { txHash: '0x1', logIndex: 1, blockNumber: 9n };
const SIGHT: Sight = {
  head: 10n,
  nonce: 'used',
  safe: { blockNumber: 8n, timeSeconds: 9n, nonce: 'used' },
  spending: null,
  carrier: null,
  rail: null,
  simulation: null,
};
const paid: Sight['spending'] = { kind: 'transfer', to: '0xa', valueMicro: 1n, transfer, timeSeconds: 9n };

test.each<[string, Partial<Sight>, RegExp | null]>([
  ['used, and no node shows the log', {}, null],
  ['its rail moves it for ever', { nonce: 'unused', rail: { kind: 'moving' } }, null],
  ['a log shows where it went', { spending: paid }, /the chain shows/],
  ['a log shows where it went, and a rail moves it', { spending: paid, rail: { kind: 'moving' } }, /the chain shows/],
  ['unused', { nonce: 'unused' }, /unused/],
  ['refused by its rail, and unused', { nonce: 'unused', rail: { kind: 'refused', believed: null } }, /unused/],
  ['used after the safe block', { safe: { blockNumber: 8n, timeSeconds: 9n, nonce: 'unused' } }, /no safe block/],
  ['used, and nobody asked the safe block', { safe: null }, /no safe block/],
])('a person may close a review only where the chain cannot tell: %s', (_name, change, why) => {
  const said = whyReviewStays({ ...SIGHT, ...change });
  if (why === null) expect(said).toBeNull();
  else expect(said).toMatch(why);
});
