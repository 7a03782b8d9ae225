import { expect, test } from 'vitest';
import type { Surroundings, Undecided } from '../../modules/operations/rules/waitsFor.ts';
import { waitOf } from '../../modules/operations/rules/waitsFor.ts';

const around = (changes: Partial<Surroundings> = {}): Surroundings => ({ alerts: new Set(), isPaused: false, ...changes });
const accepted: Undecided = { state: 'accepted', wasLookedAt: false, batch: null };
const batch = {
  kind: 'settle',
  state: 'open',
  relayer: '0xab',
  nonce: '7',
  txHash: `0x${'1'.repeat(64)}`,
  sentSeconds: 12,
} as const;
const sent = (changes: Partial<NonNullable<Undecided['batch']>> = {}): Undecided => ({
  state: 'broadcast',
  wasLookedAt: false,
  batch: { ...batch, ...changes },
});

test.for([
  ['a payment that no worker has taken', accepted, around(), 'a batch'],
  ['one whose relayer keys are all paused', accepted, around({ isPaused: true }), 'a relayer key'],
  ['one whose relayer key lacks coin', accepted, around({ alerts: new Set(['relayer_balance']) }), 'gas'],
  ['one whose key does not sign', accepted, around({ alerts: new Set(['relayer_signer']) }), 'a signature'],
  ['one that a look decided nothing of', { ...accepted, wasLookedAt: true }, around(), 'a second RPC node'],
  ['one behind another', { ...accepted, state: 'held' }, around(), 'the payment ahead of it'],
  ['one that is signed and not sent', sent({ sentSeconds: null }), around(), 'a node that takes its signed bytes'],
  ['one that is sent', sent(), around(), `a block with ${batch.txHash} (nonce 7 of 0xab), sent 12 s ago`],
  ['one that is mined', sent({ state: 'mined' }), around(), 'a look at its transaction'],
  ['one that a facilitator has', sent({ kind: 'facilitator', txHash: null }), around(), 'the facilitator'],
  ['one that is not proven', { ...sent(), state: 'review' }, around(), 'a person'],
] as const satisfies readonly (readonly [string, Undecided, Surroundings, string])[])(
  '%s says what it waits for',
  ([, payment, surroundings, begin]) => {
    const { waitsFor, next } = waitOf(payment, surroundings);
    expect(waitsFor.startsWith(begin), waitsFor).toBe(true);
    expect(next).not.toBe('');
  },
);
