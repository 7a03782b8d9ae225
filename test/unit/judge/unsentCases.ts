import type { PaymentState } from '../../../modules/kernel/payment/state.ts';
import type { Case } from './cases.ts';
import { at, BLOCKED, BROKE, carrierOf, PASSED, paymentIn, safeAt, sightOf } from './samples.ts';

const now = at(900);
const accepted = paymentIn('accepted');
const held = paymentIn('held');
const over = (timeSeconds: bigint) => sightOf(safeAt(90n, { timeSeconds }));
const expired = {
  event: { type: 'unusable' },
  rawReason: 'payment_expired',
  sentence: 'the authorization expired before it was executed',
} as const;
const tooLate = {
  event: { type: 'refused', reason: 'settlement_failed' },
  rawReason: 'expired_waiting',
  sentence: 'the payment waited here until its authorization ended; nothing was sent',
} as const;
/** The buyer's: he signed for too short a time, or it was sent in vain. */
const cutFine = {
  event: { type: 'refused', reason: 'authorization_invalid' },
  rawReason: 'invalid_exact_evm_payload_authorization_valid_before',
  sentence: 'the authorization expires too soon to be settled; check your clock',
} as const;
const takenIn = (seconds: number) => ({ acceptedAt: new Date(seconds * 1_000) });
/** Our delay, whichever clock shows it first: no mistake of the buyer's. */
const waited = { ...tooLate, event: { type: 'unusable', reason: 'settlement_failed' } } as const;
const UNDECIDED: readonly PaymentState[] = ['accepted', 'held', 'broadcast', 'review'];
const DECIDED: readonly PaymentState[] = ['failed', 'superseded', 'expired'];

/** Payments that nothing has left the process for, and times that run out. */
export const UNSENT_CASES: readonly Case[] = [
  ...[...UNDECIDED, ...DECIDED].map(
    (state): Case => ({
      name: `${state}, nonce unused, in time: wait`,
      payment: paymentIn(state),
      now,
      sight: sightOf(),
      verdict: 'wait',
    }),
  ),
  ...[...UNDECIDED, ...DECIDED].map(
    (state): Case => ({
      name: `${state}, no node answers, in time: wait`,
      payment: paymentIn(state),
      now,
      sight: null,
      verdict: 'wait',
    }),
  ),
  ...UNDECIDED.flatMap((state): Case[] => [
    {
      name: `${state}, unused at a safe block past its time: unusable`,
      payment: paymentIn(state),
      now: at(1_100),
      sight: over(1_001n),
      verdict: state === 'accepted' ? waited : expired,
    },
  ]),
  ...DECIDED.flatMap((state): Case[] => [
    {
      name: `${state}, unused at a safe block past its time: unusable, and nobody is told again`,
      payment: paymentIn(state),
      now: at(1_100),
      sight: over(1_001n),
      verdict: { event: { type: 'unusable' } },
    },
    {
      name: `${state}, unused at a safe block of its last second: watched on`,
      payment: paymentIn(state),
      now: at(1_100),
      sight: over(1_000n),
      verdict: 'wait',
    },
  ]),
  {
    name: 'failed, used at the safe block, though unused at the head: watched on',
    payment: paymentIn('failed'),
    now: at(1_100),
    sight: sightOf(safeAt(90n, { timeSeconds: 1_050n, nonce: 'used' })),
    verdict: 'wait',
  },
  {
    name: 'failed, over by our clock, nobody asked for the safe block: watched on',
    payment: paymentIn('failed'),
    now: at(9_000),
    sight: sightOf(),
    verdict: 'wait',
  },
  {
    name: 'sent, over at the safe block and overdue: it is over',
    payment: paymentIn('broadcast'),
    now: at(9_000),
    sight: over(8_000n),
    verdict: expired,
  },
  {
    name: 'accepted, ten seconds left for 6 and two blocks: wait',
    payment: accepted,
    now: at(990),
    sight: sightOf(),
    verdict: 'wait',
  },
  { name: 'accepted, nine seconds left: refused', payment: accepted, now: at(991), sight: sightOf(), verdict: tooLate },
  {
    name: 'accepted half a minute ago, nine seconds left: it waited for us',
    payment: paymentIn('accepted', takenIn(961)),
    now: at(991),
    sight: null,
    verdict: tooLate,
  },
  {
    name: 'accepted half a minute ago, nine seconds left, behind its own payer’s: not our delay',
    payment: paymentIn('accepted', { ...takenIn(961), isBehindOwn: true }),
    now: at(991),
    sight: null,
    verdict: {
      ...cutFine,
      rawReason: 'expired_behind_own',
      sentence: 'the payment waited behind others of its payer until its authorization ended; nothing was sent',
    },
  },
  {
    name: 'accepted half a minute ago, unused at a safe block past its time, behind its own payer’s: the buyer hears that it expired',
    payment: paymentIn('accepted', { ...takenIn(961), isBehindOwn: true }),
    now: at(1_100),
    sight: over(1_001n),
    verdict: expired,
  },
  {
    name: 'accepted, valid from the next second, behind its own payer’s: its clock is what it is refused for',
    payment: paymentIn('accepted', { validAfter: 901n, isBehindOwn: true }),
    now,
    sight: null,
    verdict: {
      event: { type: 'refused', reason: 'authorization_invalid' },
      rawReason: 'invalid_exact_evm_payload_authorization_valid_after',
      sentence: 'the authorization is not valid yet; check your clock',
    },
  },
  {
    name: 'accepted within the last half a minute, nine seconds left: signed for too short a time',
    payment: paymentIn('accepted', { acceptedAt: new Date(961_001) }),
    now: at(991),
    sight: null,
    verdict: cutFine,
  },
  {
    name: 'accepted again after it was sent in vain, nine seconds left: nobody says that it was not sent',
    payment: paymentIn('accepted', { facts: { attempts: 1 } }),
    now: at(991),
    sight: sightOf(),
    verdict: cutFine,
  },
  {
    name: 'accepted within the last half a minute, unused at a safe block past its time: the buyer hears that it expired',
    payment: paymentIn('accepted', takenIn(1_071)),
    now: at(1_100),
    sight: over(1_001n),
    verdict: expired,
  },
  {
    name: 'accepted again after it was sent in vain, unused at a safe block past its time: it expired',
    payment: paymentIn('accepted', { facts: { attempts: 1 } }),
    now: at(1_100),
    sight: over(1_001n),
    verdict: expired,
  },
  {
    name: 'accepted, nine seconds left, no node answers: refused',
    payment: accepted,
    now: at(991),
    sight: null,
    verdict: tooLate,
  },
  {
    name: 'accepted, nine seconds left, its simulation passes: refused',
    payment: accepted,
    now: at(991),
    sight: sightOf({ simulation: PASSED }),
    verdict: tooLate,
  },
  {
    name: 'accepted, nine seconds left, its payer is broke: its time is what it is refused for',
    payment: accepted,
    now: at(991),
    sight: sightOf({ simulation: BROKE }),
    verdict: tooLate,
  },
  {
    name: 'accepted, valid from the next second: refused',
    now,
    sight: sightOf(),
    payment: paymentIn('accepted', { validAfter: 901n }),
    verdict: {
      event: { type: 'refused', reason: 'authorization_invalid' },
      rawReason: 'invalid_exact_evm_payload_authorization_valid_after',
      sentence: 'the authorization is not valid yet; check your clock',
    },
  },
  { name: 'held, ten seconds left: wait', payment: held, now: at(990), sight: sightOf(), verdict: 'wait' },
  {
    name: 'held, nine seconds left: it lapses',
    payment: held,
    now: at(991),
    sight: sightOf(),
    verdict: { event: { type: 'lapsed' } },
  },
  {
    name: 'held, nine seconds left, no node answers: it lapses',
    payment: held,
    now: at(991),
    sight: null,
    verdict: { event: { type: 'lapsed' } },
  },
  ...(['broadcast', 'review', 'failed', 'superseded', 'expired'] as const).map(
    (state): Case => ({
      name: `${state}, nine seconds left: what was sent or decided is not refused`,
      payment: paymentIn(state),
      now: at(991),
      sight: sightOf(),
      verdict: 'wait',
    }),
  ),
  {
    name: 'accepted, its simulation passes: wait, it may be sent',
    payment: accepted,
    now,
    sight: sightOf({ simulation: PASSED }),
    verdict: 'wait',
  },
  {
    name: 'accepted, its payer is broke: refused',
    payment: accepted,
    now,
    sight: sightOf({ simulation: BROKE }),
    verdict: {
      event: { type: 'refused', reason: 'insufficient_funds' },
      rawReason: 'balance_too_low',
      sentence: 'the payer does not hold enough of the asset',
    },
  },
  ...(
    [
      ['authorization_invalid', 'the token does not accept this authorization'],
      ['malformed_payment', 'the payment cannot be read'],
      ['network_unsupported', 'the asset or network is not supported'],
      ['settlement_failed', 'the token refuses this transfer'],
    ] as const
  ).map(
    ([reason, sentence]): Case => ({
      name: `accepted, its simulation says ${reason}: refused in these words`,
      payment: accepted,
      now,
      sight: sightOf({ simulation: { kind: 'refused', reason, raw: 'as the token said' } }),
      verdict: { event: { type: 'refused', reason }, rawReason: 'as the token said', sentence },
    }),
  ),
  {
    name: 'accepted, an author is blocked: refused',
    payment: accepted,
    now,
    sight: sightOf({ simulation: BLOCKED }),
    verdict: {
      event: { type: 'refused', reason: 'settlement_failed' },
      rawReason: 'payee_blocked',
      sentence: 'an author of this page cannot receive payments right now',
    },
  },
  ...(['held', 'broadcast', 'review', 'failed', 'superseded', 'expired'] as const).map(
    (state): Case => ({
      name: `${state}, its payer is broke: that says nothing`,
      payment: paymentIn(state),
      now,
      sight: sightOf({ simulation: BROKE }),
      verdict: 'wait',
    }),
  ),
  {
    name: 'accepted again after a revert, its old batch is mined: wait, it may be sent',
    now,
    payment: paymentIn('accepted', { facts: { attempts: 1 } }),
    sight: sightOf({ carrier: carrierOf({ fate: 'reverted' }), simulation: PASSED }),
    verdict: 'wait',
  },
  {
    name: 'accepted, long over by our clock: refused, never overdue',
    payment: accepted,
    now: at(9_000),
    sight: null,
    verdict: tooLate,
  },
];
