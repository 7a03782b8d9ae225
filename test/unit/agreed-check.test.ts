import { expect, test } from 'vitest';
import type { FailureReason } from '../../modules/kernel/errors.ts';
import type { Prechecked, PrecheckOutcome } from '../../platform/chain/precheck.ts';
import { agreedCheck, isAgreedCheck } from '../../platform/chain/precheck.ts';

/** What one node answers about a payment. */
const answer = (outcome: PrecheckOutcome): Prechecked => ({
  ...{ paymentId: 'payment', payerKind: 'plain', blockNumber: 7n, balance: 0n },
  nonceUsed: outcome.kind === 'nonce_used',
  outcome,
});
const refusedFor = (reason: FailureReason): Prechecked => answer({ kind: 'refused', reason, raw: `raw ${reason}` });
const [short, invalid] = [refusedFor('insufficient_funds'), refusedFor('authorization_invalid')];
const [passed, used] = [answer({ kind: 'passed' }), answer({ kind: 'nonce_used' })];
/** What all answers come to, the first one's included. */
const agreed = (first: Prechecked, ...others: readonly Prechecked[]) => agreedCheck(first, [first, ...others]).outcome;

test('a used nonce and a refusal are not two refusals, in whatever order the URLs stand: the evidence is looked for', () => {
  expect(agreed(short, used)).toEqual({ kind: 'nonce_used' });
  expect(agreed(used, short)).toEqual({ kind: 'nonce_used' });
  expect(agreed(short, used, short)).toEqual({ kind: 'nonce_used' });
  expect(agreedCheck(used, [short, short]).outcome).toEqual({ kind: 'nonce_used' });
});

test('what one node takes is sent against a single refusal or a single used nonce, not against two of either', () => {
  expect(agreed(short, passed)).toEqual({ kind: 'passed' });
  expect(agreed(used, passed)).toEqual({ kind: 'passed' });
  expect(agreed(used, used, passed)).toEqual({ kind: 'nonce_used' });
  expect(agreed(short, short, passed)).toEqual(short.outcome);
});

test('a payment is refused for the reason that two nodes give, and for a general one where each gives another, whichever URL stands first', () => {
  expect(agreed(invalid, short, short)).toEqual(short.outcome);
  expect(agreed(short, short, invalid)).toEqual(short.outcome);
  expect(agreed(invalid, short)).toMatchObject({ kind: 'refused', reason: 'settlement_failed' });
  expect(agreed(short, invalid)).toEqual(agreed(invalid, short));
});

test('a refusal that no second node confirms or contradicts decides nothing', () => {
  expect(agreed(short)).toEqual({ kind: 'unconfirmed' });
  expect(agreedCheck(short, []).outcome).toEqual({ kind: 'unconfirmed' });
  expect(agreedCheck(used, []).outcome).toEqual({ kind: 'nonce_used' });
});

test('nodes that are silent are waited for until two take a payment or two call its nonce used; two refusals wait for a used nonce', () => {
  expect([isAgreedCheck([passed, passed]), isAgreedCheck([used, used])]).toEqual([true, true]);
  expect([isAgreedCheck([short, short]), isAgreedCheck([short, passed]), isAgreedCheck([used])]).toEqual([false, false, false]);
});
