import type { PaymentState } from '../../../modules/kernel/payment/state.ts';
import type { Case } from './cases.ts';
import { at, DEAR, GONE, MOVED, MOVING, PROOF, paid, paymentIn, RAIL_PROOF, safeAt, sightOf, spent } from './samples.ts';

const now = at(900);
const UNDECIDED: readonly PaymentState[] = ['accepted', 'held', 'broadcast', 'review'];
const DECIDED: readonly PaymentState[] = ['failed', 'superseded', 'expired'];
const settles = { event: { type: 'evidence', transfer: PROOF }, timeSeconds: 898n } as const;
const sentence = 'the authorization was used or cancelled elsewhere';
const elsewhere = { kind: 'cancelled', blockNumber: 99n } as const;
const dear = (state: PaymentState) => paymentIn(state, { amountMicro: DEAR });
const dearPaid = (blockNumber: bigint) => paid({ valueMicro: DEAR, transfer: { ...PROOF, blockNumber } });
const broadcast = paymentIn('broadcast');

/** Payments that are not settled, and a nonce that is used, or money that a rail moves. */
export const SPENT_CASES: readonly Case[] = [
  {
    name: 'sent, cancelled at the safe block, and another node shows something else: wait',
    payment: broadcast,
    now,
    sight: spent(elsewhere, { doubt: 'disputed', ...safeAt(100n) }),
    verdict: 'wait',
  },
  {
    name: 'sent, paid at the safe block, and another node shows something else: wait',
    payment: broadcast,
    now,
    sight: spent(paid(), { doubt: 'disputed', ...safeAt(100n) }),
    verdict: 'wait',
  },
  {
    name: 'sent, nodes contradict each other long after its time: a person looks',
    payment: broadcast,
    now: at(1_601),
    sight: spent(elsewhere, { doubt: 'disputed', ...safeAt(100n) }),
    verdict: { event: { type: 'overdue' } },
  },
  {
    name: 'sent, cancelled by the word of one node, nobody knows what is safe: wait',
    payment: broadcast,
    now,
    sight: spent(elsewhere, { doubt: 'unconfirmed' }),
    verdict: 'wait',
  },
  {
    name: 'sent, cancelled by the word of one node, above the safe block: wait',
    payment: broadcast,
    now,
    sight: spent(elsewhere, { doubt: 'unconfirmed', ...safeAt(98n) }),
    verdict: 'wait',
  },
  ...[99n, 100n].map(
    (block): Case => ({
      name: `sent, cancelled by the word of one node, the safe block is ${block}: it is decided`,
      payment: broadcast,
      now,
      sight: spent(elsewhere, { doubt: 'unconfirmed', ...safeAt(block) }),
      verdict: { event: { type: 'unusable' }, rawReason: 'authorization_cancelled', sentence },
    }),
  ),
  {
    name: 'sent, paid by the word of one node, at the safe block: it settles',
    payment: broadcast,
    now,
    sight: spent(paid(), { doubt: 'unconfirmed', ...safeAt(99n) }),
    verdict: settles,
  },
  ...[...UNDECIDED, ...DECIDED].flatMap((state): Case[] => [
    { name: `${state}, paid as agreed: it settles`, payment: paymentIn(state), now, sight: spent(paid()), verdict: settles },
    {
      name: `${state}, paid, long over and below the safe block: it settles`,
      payment: paymentIn(state),
      now: at(9_000),
      sight: spent(paid(), safeAt(100n, { timeSeconds: 8_900n, nonce: 'used' })),
      verdict: settles,
    },
    {
      name: `${state}, paid in the newest block where two are asked for: wait`,
      payment: dear(state),
      now,
      sight: spent(dearPaid(100n)),
      verdict: 'wait',
    },
    {
      name: `${state}, nonce used and no log says how: wait`,
      payment: paymentIn(state),
      now,
      sight: spent(null),
      verdict: 'wait',
    },
  ]),
  {
    name: 'paid, two blocks are asked for and two stand: it settles',
    payment: dear('broadcast'),
    now,
    sight: spent(dearPaid(99n)),
    verdict: settles,
  },
  {
    name: 'paid in the newest block where one is asked for: it settles',
    payment: broadcast,
    now,
    sight: spent(paid({ transfer: { ...PROOF, blockNumber: 100n } })),
    verdict: { event: { type: 'evidence', transfer: { ...PROOF, blockNumber: 100n } }, timeSeconds: 898n },
  },
  {
    name: 'paid above the head of the node that answered: wait',
    payment: broadcast,
    now,
    verdict: 'wait',
    sight: spent(paid({ transfer: { ...PROOF, blockNumber: 101n } })),
  },
  {
    name: 'paid, not deep enough, long overdue: wait',
    payment: dear('broadcast'),
    now: at(9_000),
    sight: spent(dearPaid(100n)),
    verdict: 'wait',
  },
  {
    name: 'paid, and a rail says it moves it too: the chain decides',
    payment: broadcast,
    now,
    sight: spent(paid(), { rail: MOVING }),
    verdict: settles,
  },
  ...UNDECIDED.flatMap((state): Case[] => [
    {
      name: `${state}, paid to another address: spent otherwise`,
      payment: paymentIn(state),
      now,
      sight: spent(paid({ to: '0xother' }), safeAt(98n)),
      verdict: { event: { type: 'spentOtherwise' }, rawReason: 'authorization_used_otherwise', sentence },
    },
    {
      name: `${state}, paid to another address, at the safe block: unusable`,
      payment: paymentIn(state),
      now,
      sight: spent(paid({ to: '0xother' }), safeAt(99n)),
      verdict: { event: { type: 'unusable' }, rawReason: 'authorization_used_otherwise', sentence },
    },
    {
      name: `${state}, cancelled: spent otherwise`,
      payment: paymentIn(state),
      now,
      sight: spent({ kind: 'cancelled', blockNumber: 99n }),
      verdict: { event: { type: 'spentOtherwise' }, rawReason: 'authorization_cancelled', sentence },
    },
    {
      name: `${state}, cancelled below the safe block: unusable`,
      payment: paymentIn(state),
      now,
      sight: spent({ kind: 'cancelled', blockNumber: 97n }, safeAt(98n)),
      verdict: { event: { type: 'unusable' }, rawReason: 'authorization_cancelled', sentence },
    },
  ]),
  ...DECIDED.flatMap((state): Case[] => [
    {
      name: `${state}, cancelled above the safe block: watched on`,
      payment: paymentIn(state),
      now,
      sight: spent({ kind: 'cancelled', blockNumber: 99n }, safeAt(98n)),
      verdict: 'wait',
    },
    {
      name: `${state}, cancelled, nobody asked for the safe block: watched on`,
      payment: paymentIn(state),
      now,
      sight: spent({ kind: 'cancelled', blockNumber: 99n }),
      verdict: 'wait',
    },
    {
      name: `${state}, cancelled at the safe block: unusable, and nobody is told again`,
      payment: paymentIn(state),
      now,
      sight: spent({ kind: 'cancelled', blockNumber: 98n }, safeAt(98n)),
      verdict: { event: { type: 'unusable' } },
    },
    {
      name: `${state}, another value at the safe block: unusable`,
      payment: paymentIn(state),
      now,
      sight: spent(paid({ valueMicro: 1_001n }), safeAt(99n)),
      verdict: { event: { type: 'unusable' } },
    },
  ]),
  {
    name: 'sent, another value: spent otherwise',
    payment: broadcast,
    now,
    sight: spent(paid({ valueMicro: 999n })),
    verdict: { event: { type: 'spentOtherwise' }, rawReason: 'authorization_used_otherwise', sentence },
  },
  {
    name: 'sent, used without a transfer: spent otherwise',
    payment: broadcast,
    now,
    sight: spent({ kind: 'used_without_transfer', blockNumber: 99n }),
    verdict: { event: { type: 'spentOtherwise' }, rawReason: 'authorization_used_without_transfer', sentence },
  },
  {
    name: 'accepted, cancelled, too late to send: it is the cancellation that counts',
    payment: paymentIn('accepted'),
    now: at(999),
    sight: spent({ kind: 'cancelled', blockNumber: 99n }),
    verdict: { event: { type: 'spentOtherwise' }, rawReason: 'authorization_cancelled', sentence },
  },
  {
    name: 'sent, nonce used, no log, overdue to the second: wait',
    payment: broadcast,
    now: at(1_600),
    sight: spent(null),
    verdict: 'wait',
  },
  {
    name: 'sent, nonce used, no log, overdue: a person looks',
    payment: broadcast,
    now: at(1_601),
    sight: spent(null),
    verdict: { event: { type: 'overdue' } },
  },
  {
    name: 'sent, nonce used and unused at the safe block past its time: never unusable',
    payment: broadcast,
    now: at(1_100),
    sight: spent(null, safeAt(90n, { timeSeconds: 1_050n })),
    verdict: 'wait',
  },
  {
    name: 'accepted, nonce used, no log, too late to send: wait',
    payment: paymentIn('accepted'),
    now: at(999),
    sight: spent(null),
    verdict: 'wait',
  },
  ...[...UNDECIDED, ...DECIDED].map(
    (state): Case => ({
      name: `${state}, a rail moved it under its id: it settles`,
      payment: paymentIn(state),
      now,
      sight: sightOf({ rail: MOVED }),
      verdict: { event: { type: 'evidence', transfer: RAIL_PROOF }, timeSeconds: 900n },
    }),
  ),
  {
    name: 'sent, a rail moved it and the nonce was cancelled: it settles',
    payment: broadcast,
    now,
    sight: spent({ kind: 'cancelled', blockNumber: 99n }, { rail: MOVED }),
    verdict: { event: { type: 'evidence', transfer: RAIL_PROOF }, timeSeconds: 900n },
  },
  {
    name: 'sent, a rail is moving it and the nonce was cancelled: wait',
    payment: broadcast,
    now,
    sight: spent({ kind: 'cancelled', blockNumber: 99n }, { rail: MOVING, ...safeAt(99n) }),
    verdict: 'wait',
  },
  {
    name: 'sent, a rail is moving it, its time is over at the safe block: wait',
    payment: broadcast,
    now: at(1_100),
    sight: sightOf({ rail: MOVING, ...safeAt(90n, { timeSeconds: 1_050n }) }),
    verdict: 'wait',
  },
  {
    name: 'sent, a rail is moving it, overdue: a person looks',
    payment: broadcast,
    now: at(1_601),
    sight: sightOf({ rail: MOVING }),
    verdict: { event: { type: 'overdue' } },
  },
  {
    name: 'under review, a rail is moving it: wait',
    payment: paymentIn('review'),
    now: at(9_000),
    sight: sightOf({ rail: MOVING }),
    verdict: 'wait',
  },
  {
    name: 'sent, an id of the rail is gone: the nonce decides, and it is unused',
    payment: broadcast,
    now,
    sight: sightOf({ rail: GONE }),
    verdict: 'wait',
  },
];
