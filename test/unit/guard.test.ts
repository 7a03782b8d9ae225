/** What a payment of a wallet becomes beside others of it for the same page. */
import { expect, test } from 'vitest';
import { guardPurchase } from '../../modules/settlement/rules/guard.ts';

const NOW = { ms: 1_000_000_000, licenceLifeSeconds: 600 };
const lost = {
  paymentId: 'lost',
  state: 'settled',
  amountMicro: 10n,
  settledAtMs: 1,
  licenceExpiresAtSeconds: 2,
  isOwed: true,
} as const;
const onItsWay = {
  paymentId: 'b',
  state: 'broadcast',
  amountMicro: 10n,
  settledAtMs: null,
  licenceExpiresAtSeconds: null,
} as const;

test('who is owed a page gets it, also while another payment of his is undecided', () => {
  const decision = guardPurchase({ kind: 'read', amountMicro: 10n }, [onItsWay, lost], NOW);
  expect(decision).toEqual({ state: 'superseded', successorId: 'lost', repeatsLicence: true, isOwed: true });
});

test('who is owed nothing waits for his payment that is undecided', () => {
  const siblings = [onItsWay, { ...lost, isOwed: false }];
  expect(guardPurchase({ kind: 'read', amountMicro: 10n }, siblings, NOW)).toEqual({ state: 'held' });
});
