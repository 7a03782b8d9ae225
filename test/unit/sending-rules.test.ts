import { expect, test } from 'vitest';
import { isStillChosen, newPayment } from '../../modules/kernel/payment/state.ts';
import { fateOf, isOvertaken } from '../../modules/settlement/rules/carrier.ts';
import { wasUsedBefore } from '../../modules/settlement/rules/firstLook.ts';
import { resendFrom } from '../../modules/settlement/rules/resend.ts';
import { verdictsOf } from '../../modules/settlement/rules/verdicts.ts';
import { at, PAY_TO, PROOF, paid, paymentIn, sightOf, spent } from './judge/samples.ts';

test('a nonce that was used before its row is refused; one that is unused, or of a test key, is not', () => {
  expect(wasUsedBefore({ used: true })).toBe(true);
  expect(wasUsedBefore({ used: false })).toBe(false);
  expect(wasUsedBefore(null)).toBe(false);
});

test('mined bytes were executed, reverted, or voided by what replaced them, whether or not that reverted', () => {
  expect(fateOf('settle', 'success')).toBe('executed');
  expect(fateOf('flush', 'success')).toBe('executed');
  expect(fateOf('settle', 'reverted')).toBe('reverted');
  expect(fateOf('void', 'success')).toBe('voided');
  expect(fateOf('void', 'reverted')).toBe('voided');
});

test('bytes are overtaken only when the safe count is past their nonce: at their nonce, they are the next to be mined', () => {
  expect([4n, 5n, 6n].map((safeCount) => isOvertaken(5n, safeCount))).toEqual([false, false, true]);
});

test('a batch goes out by itself where the node knows what is before it, else from the first unmined nonce on', () => {
  const open = { nonce: 5n, state: 'open' } as const;
  expect(resendFrom(open, { latest: 3n, pending: 5n })).toBe(5n);
  expect(resendFrom(open, { latest: 3n, pending: 6n })).toBe(5n);
  expect(resendFrom(open, { latest: 3n, pending: 4n })).toBe(3n);
  expect(resendFrom(open, { latest: 6n, pending: 6n })).toBe(5n);
});

test('a batch that is done goes out again only when the chain has lost its nonce', () => {
  for (const state of ['mined', 'safe'] as const) {
    expect(resendFrom({ nonce: 5n, state }, { latest: 6n, pending: 6n })).toBeNull();
    expect(resendFrom({ nonce: 5n, state }, { latest: 5n, pending: 5n })).toBe(5n);
    expect(resendFrom({ nonce: 5n, state }, { latest: 4n, pending: 4n })).toBe(4n);
  }
});

test('what is taken back is judged again of the same sight, and settles by the transaction that pays it now', () => {
  const final = paymentIn('final');
  const elsewhere = { txHash: '0x02', logIndex: 3, blockNumber: 98n };
  expect(verdictsOf(final, spent(paid({ transfer: elsewhere })), at(900))).toEqual([
    { event: { type: 'reorged', transfer: PROOF } },
    { event: { type: 'evidence', transfer: elsewhere }, timeSeconds: 898n },
  ]);
  expect(verdictsOf(final, sightOf(), at(900))).toEqual([{ event: { type: 'reorged', transfer: PROOF } }]);
  expect(verdictsOf(paymentIn('accepted'), sightOf(), at(900))).toEqual([]);
  expect(verdictsOf(paymentIn('broadcast', { payTo: PAY_TO }), spent(paid()), at(900))).toHaveLength(1);
});

test('what was chosen is claimed only as it was chosen: not after it went out in vain, or with another batch, and never unchosen', () => {
  const now = { ...newPayment('accepted'), attempts: 1 };
  const mode = 'live' as const;
  expect(isStillChosen({ mode, facts: now }, { facts: { attempts: 1 } })).toBe(true);
  expect(isStillChosen({ mode, facts: { ...now, attempts: 2 } }, { facts: { attempts: 1 } })).toBe(false);
  expect(isStillChosen({ mode, facts: { ...now, state: 'broadcast' } }, { facts: { attempts: 1 } })).toBe(false);
  expect(isStillChosen({ mode, facts: newPayment('accepted') }, undefined)).toBe(false);
});
