import type { Carrier } from '../../../modules/kernel/payment/sight.ts';
import type { Case } from './cases.ts';
import {
  at,
  BATCH,
  BLOCKED,
  BROKE,
  carrierOf,
  MOVING,
  PASSED,
  PROOF,
  paid,
  paymentIn,
  safeAt,
  sightOf,
  spent,
} from './samples.ts';

const now = at(900);
const sent = paymentIn('broadcast');
const wallet = paymentIn('broadcast', { payerKind: 'contract' });
const again = paymentIn('broadcast', { payerKind: 'contract', facts: { attempts: 1 } });
const unsent = { event: { type: 'unsent', batchId: BATCH } } as const;
const failed = (reason: 'insufficient_funds' | 'settlement_failed') =>
  ({ event: { type: 'itemFailed', batchId: BATCH, reason } }) as const;
const broke = { rawReason: 'balance_too_low', sentence: 'the payer does not hold enough of the asset' };
const blocked = { rawReason: 'payee_blocked', sentence: 'an author of this page cannot receive payments right now' };
const fates: readonly Carrier['fate'][] = ['executed', 'reverted', 'voided', 'overtaken'];
const refusedBy = (believed: { reason: 'settlement_failed'; raw: string } | null) =>
  ({ rail: { kind: 'refused', believed } }) as const;
const RAIL = refusedBy({ reason: 'settlement_failed', raw: 'rail_refused' });

/** Payments that were sent: our bytes are mined and moved nothing, a rail refuses, nobody answers. */
export const SENT_CASES: readonly Case[] = [
  ...(['voided', 'overtaken'] as const).flatMap((fate): Case[] => [
    {
      name: `sent, its bytes were ${fate}: it goes out again`,
      payment: sent,
      now,
      sight: sightOf({ carrier: carrierOf({ fate }) }),
      verdict: unsent,
    },
    {
      name: `sent, its bytes were ${fate} and its payer is broke: what never ran fails nobody`,
      payment: sent,
      now,
      sight: sightOf({ carrier: carrierOf({ fate }), simulation: BROKE }),
      verdict: unsent,
    },
    {
      name: `sent by a wallet, its bytes were ${fate}: no gas was spent for it`,
      payment: again,
      now,
      sight: sightOf({ carrier: carrierOf({ fate }), simulation: PASSED }),
      verdict: unsent,
    },
  ]),
  ...(['executed', 'reverted'] as const).flatMap((fate): Case[] => [
    {
      name: `sent, its bytes ${fate}, nobody simulated: wait`,
      payment: sent,
      now,
      sight: sightOf({ carrier: carrierOf({ fate }) }),
      verdict: 'wait',
    },
    {
      name: `sent, its bytes ${fate}, its payer is broke: failed, and gas was spent for nothing`,
      payment: sent,
      now,
      sight: sightOf({ carrier: carrierOf({ fate }), simulation: BROKE }),
      verdict: { ...failed('insufficient_funds'), ...broke, strike: true },
    },
    {
      name: `sent, its bytes ${fate}, an author is blocked: failed, which is not the payer's fault`,
      payment: sent,
      now,
      sight: sightOf({ carrier: carrierOf({ fate }), simulation: BLOCKED }),
      verdict: { ...failed('settlement_failed'), ...blocked },
    },
    {
      name: `sent with others, their bytes ${fate}, its payer is broke: failed`,
      payment: sent,
      now,
      sight: sightOf({ carrier: carrierOf({ fate, size: 9 }), simulation: BROKE }),
      verdict: { ...failed('insufficient_funds'), ...broke, strike: true },
    },
  ]),
  {
    name: 'sent, its bytes were executed and it would pass now: its money had left, it goes out again',
    payment: sent,
    now,
    sight: sightOf({ carrier: carrierOf(), simulation: PASSED }),
    verdict: { ...unsent, strike: true },
  },
  {
    name: 'sent before, its bytes were executed and it would pass now: again, as often as the machine lets it',
    now,
    payment: paymentIn('broadcast', { facts: { attempts: 3 } }),
    sight: sightOf({ carrier: carrierOf({ size: 4 }), simulation: PASSED }),
    verdict: { ...unsent, strike: true },
  },
  {
    name: 'sent with one other, their bytes reverted: in smaller parts',
    payment: sent,
    now,
    sight: sightOf({ carrier: carrierOf({ fate: 'reverted', size: 2 }), simulation: PASSED }),
    verdict: unsent,
  },
  {
    name: 'sent by a wallet with one other, their bytes reverted: in smaller parts, nobody is struck',
    payment: again,
    now,
    sight: sightOf({ carrier: carrierOf({ fate: 'reverted', size: 2 }), simulation: PASSED }),
    verdict: unsent,
  },
  {
    name: 'sent alone, its bytes reverted though it would pass now: the revert is its own',
    payment: sent,
    now,
    sight: sightOf({ carrier: carrierOf({ fate: 'reverted' }), simulation: PASSED }),
    verdict: {
      ...failed('settlement_failed'),
      rawReason: 'reverted_alone',
      sentence: 'the token refuses this transfer',
      strike: true,
    },
  },
  {
    name: 'sent by a wallet of code that said yes and failed: believed once',
    payment: wallet,
    now,
    sight: sightOf({ carrier: carrierOf(), simulation: PASSED }),
    verdict: { ...unsent, strike: true },
  },
  {
    name: 'sent by a wallet of code that said yes and failed twice: failed',
    payment: again,
    now,
    sight: sightOf({ carrier: carrierOf(), simulation: PASSED }),
    verdict: {
      ...failed('settlement_failed'),
      rawReason: 'contract_payer_failed',
      sentence: 'the token does not accept this authorization',
      strike: true,
    },
  },
  ...faultCases(),
  ...fates.flatMap((fate): Case[] => [
    {
      name: `sent, the bytes of another batch ${fate}: that says nothing`,
      payment: sent,
      now,
      verdict: 'wait',
      sight: sightOf({ carrier: carrierOf({ batchId: 'batch-0', fate }), simulation: BROKE }),
    },
    {
      name: `under review, its bytes ${fate}: a person looks`,
      payment: paymentIn('review'),
      now,
      verdict: 'wait',
      sight: sightOf({ carrier: carrierOf({ fate }), simulation: BROKE }),
    },
    {
      name: `failed, its bytes ${fate}: nothing new`,
      payment: paymentIn('failed'),
      now,
      verdict: 'wait',
      sight: sightOf({ carrier: carrierOf({ fate }), simulation: BROKE }),
    },
    {
      name: `sent, its bytes ${fate} and its transfer is there: it settles`,
      payment: sent,
      now,
      sight: spent(paid(), { carrier: carrierOf({ fate }), simulation: BROKE }),
      verdict: { event: { type: 'evidence', transfer: PROOF }, timeSeconds: 898n },
    },
    {
      name: `sent, its bytes ${fate}, its nonce used and no log says how: wait`,
      payment: sent,
      now,
      verdict: 'wait',
      sight: spent(null, { carrier: carrierOf({ fate }), simulation: PASSED }),
    },
    {
      name: `taken back by a reorganisation without bytes of ours, another batch ${fate}: wait`,
      now,
      verdict: 'wait',
      payment: paymentIn('broadcast', { facts: { batchId: null } }),
      sight: sightOf({ carrier: carrierOf({ fate }), simulation: BROKE }),
    },
  ]),
  {
    name: 'sent, its bytes were executed, over at the safe block: it is over, nobody is struck',
    payment: sent,
    now: at(1_100),
    sight: sightOf({ carrier: carrierOf(), simulation: BROKE, ...safeAt(90n, { timeSeconds: 1_001n }) }),
    verdict: {
      event: { type: 'unusable' },
      rawReason: 'payment_expired',
      sentence: 'the authorization expired before it was executed',
    },
  },
  {
    name: 'sent, its bytes were executed, overdue, nobody simulated: wait',
    payment: sent,
    now: at(9_000),
    sight: sightOf({ carrier: carrierOf() }),
    verdict: 'wait',
  },
  { name: 'sent, a second before it is overdue: wait', payment: sent, now: at(1_600), sight: sightOf(), verdict: 'wait' },
  {
    name: 'sent, overdue: a person looks',
    payment: sent,
    now: at(1_601),
    sight: sightOf(),
    verdict: { event: { type: 'overdue' } },
  },
  {
    name: 'sent, no node answers, overdue: a person looks',
    payment: sent,
    now: at(1_601),
    sight: null,
    verdict: { event: { type: 'overdue' } },
  },
  {
    name: 'under review, long over by our clock: a person is told once',
    payment: paymentIn('review'),
    now: at(9_000),
    sight: null,
    verdict: 'wait',
  },
  { name: 'failed, long over by our clock: wait', payment: paymentIn('failed'), now: at(9_000), sight: null, verdict: 'wait' },
  ...railCases(),
];

/** Whose fault it is that an item failed. */
function faultCases(): Case[] {
  const refusedFor = (reason: 'settlement_failed' | 'authorization_invalid') =>
    sightOf({ carrier: carrierOf(), simulation: { kind: 'refused', reason, raw: 'why' } });
  const told = {
    settlement_failed: 'the token refuses this transfer',
    authorization_invalid: 'the token does not accept this authorization',
  } as const;
  const verdict = (reason: keyof typeof told) =>
    ({ event: { type: 'itemFailed', batchId: BATCH, reason }, rawReason: 'why', sentence: told[reason] }) as const;
  const paused = { sight: refusedFor('settlement_failed'), verdict: verdict('settlement_failed') } as const;
  const invalid = { sight: refusedFor('authorization_invalid'), verdict: verdict('authorization_invalid') } as const;
  return [
    { name: 'sent, the token refuses transfers: failed, which is not the payer’s fault', payment: sent, now, ...paused },
    {
      name: 'sent by a wallet of code, an author is blocked: failed, nobody is struck',
      payment: wallet,
      now,
      sight: sightOf({ carrier: carrierOf(), simulation: BLOCKED }),
      verdict: { ...failed('settlement_failed'), ...blocked },
    },
    { name: 'sent by a wallet of code, which chooses what it reverts with: struck', payment: wallet, now, ...struck(paused) },
    { name: 'sent, refused a second before its time is over: struck', payment: sent, now: at(999), ...struck(invalid) },
    { name: 'sent, its time ran out on the way: failed, nobody is struck', payment: sent, now: at(1_000), ...invalid },
    {
      name: 'sent by a wallet of code, its time ran out on the way: struck',
      payment: wallet,
      now: at(1_000),
      ...struck(invalid),
    },
  ];
}

function struck<T extends { readonly verdict: object }>(one: T) {
  return { ...one, verdict: { ...one.verdict, strike: true } } as T;
}

/** A rail refuses what the nonce shows unused. */
function railCases(): Case[] {
  const sentence = 'the facilitator of this network refuses the payment';
  const believed = { ...failed('settlement_failed'), rawReason: 'rail_refused', sentence };
  return [
    {
      name: 'handed to a rail that refuses and is believed: failed',
      payment: sent,
      now,
      verdict: believed,
      sight: sightOf({ simulation: PASSED, ...RAIL }),
    },
    {
      name: 'handed to a rail that refuses, its payer is broke: the chain names the reason',
      payment: sent,
      now,
      sight: sightOf({ simulation: BROKE, ...RAIL }),
      verdict: { ...failed('insufficient_funds'), ...broke },
    },
    {
      name: 'handed to a rail that refuses and is not believed, its payer is broke: failed',
      payment: sent,
      now,
      sight: sightOf({ simulation: BROKE, ...refusedBy(null) }),
      verdict: { ...failed('insufficient_funds'), ...broke },
    },
    {
      name: 'handed to a rail that refuses, an author is blocked: failed',
      payment: sent,
      now,
      sight: sightOf({ simulation: BLOCKED, ...RAIL }),
      verdict: { ...failed('settlement_failed'), ...blocked },
    },
    {
      name: 'handed to a rail that refuses and is not believed: wait',
      payment: sent,
      now,
      verdict: 'wait',
      sight: sightOf({ simulation: PASSED, ...refusedBy(null) }),
    },
    {
      name: 'handed to a rail that refuses and is not believed, overdue: a person looks',
      payment: sent,
      now: at(1_601),
      sight: sightOf({ simulation: PASSED, ...refusedBy(null) }),
      verdict: { event: { type: 'overdue' } },
    },
    { name: 'handed to a rail that refuses, nobody simulated: wait', payment: sent, now, verdict: 'wait', sight: sightOf(RAIL) },
    {
      name: 'handed to a rail that refuses, nobody simulated, overdue: a person looks',
      payment: sent,
      now: at(1_601),
      sight: sightOf(RAIL),
      verdict: { event: { type: 'overdue' } },
    },
    {
      name: 'handed to a rail that refuses and is believed, overdue: failed, nobody needs to look',
      payment: sent,
      now: at(1_601),
      sight: sightOf({ simulation: PASSED, ...RAIL }),
      verdict: believed,
    },
    {
      name: 'handed to a rail that refuses, though bytes of ours were executed: our bytes count',
      payment: sent,
      now,
      sight: sightOf({ carrier: carrierOf(), simulation: PASSED, ...RAIL }),
      verdict: { ...unsent, strike: true },
    },
    {
      name: 'handed to a rail that moves it, and would be refused by the chain: wait',
      payment: sent,
      now,
      verdict: 'wait',
      sight: sightOf({ simulation: BROKE, rail: MOVING }),
    },
    {
      name: 'sent without a batch, a rail refuses: wait',
      now,
      verdict: 'wait',
      payment: paymentIn('broadcast', { facts: { batchId: null } }),
      sight: sightOf({ simulation: PASSED, ...RAIL }),
    },
    ...(['review', 'failed', 'held'] as const).map(
      (state): Case => ({
        name: `${state}, a rail refuses: that says nothing`,
        now,
        verdict: 'wait',
        payment: paymentIn(state, { facts: { batchId: BATCH } }),
        sight: sightOf({ simulation: BROKE, ...RAIL }),
      }),
    ),
  ];
}
