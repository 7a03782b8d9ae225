import { expect, test } from 'vitest';
import { LEADING_STATES, SETTLED_STATES } from '../../modules/kernel/payment/state.ts';
import type { Waiting } from '../../modules/settlement/rules/held.ts';
import { nextHeld } from '../../modules/settlement/rules/held.ts';

const held: Waiting = { paymentId: 'b', state: 'held', acceptedAtMs: 1_000, decidedAtMs: null };

function sibling(change: Partial<Waiting>): Waiting {
  return { ...held, paymentId: 'a', ...change };
}

test('a held payment is superseded by a sale that settled after it was accepted, and by no older one', () => {
  for (const state of SETTLED_STATES) {
    expect(nextHeld(held, [sibling({ state, acceptedAtMs: 900, decidedAtMs: 1_000 })])).toEqual({
      kind: 'superseded',
      successorId: 'a',
    });
    expect(nextHeld(held, [sibling({ state, acceptedAtMs: 900, decidedAtMs: 999 })])).toEqual({ kind: 'released' });
  }
});

test('a held payment waits while another of its purchase may be on its way', () => {
  for (const state of LEADING_STATES) expect(nextHeld(held, [sibling({ state })]).kind).toBe('waits');
});

test('of several held payments the oldest is released, by id where two came at the same moment', () => {
  const list = [sibling({ paymentId: 'd', acceptedAtMs: 999 }), held, sibling({ paymentId: 'c' })];
  expect(list.map((one) => nextHeld(one, list).kind)).toEqual(['released', 'waits', 'waits']);
  expect(nextHeld(held, [held, sibling({ paymentId: 'c' })]).kind).toBe('released');
});

test('what failed, expired or was superseded itself keeps nobody waiting', () => {
  const list = (['failed', 'expired', 'superseded'] as const).map((state) => sibling({ state, decidedAtMs: 2_000 }));
  expect(nextHeld(held, list)).toEqual({ kind: 'released' });
});
