import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Carrier, RailWord, Sight, Simulation, Spending } from '../../modules/kernel/payment/sight.ts';
import type { EvidenceRef, PaymentFacts } from '../../modules/kernel/payment/state.ts';
import { isSameEvidence, isSettled, newPayment } from '../../modules/kernel/payment/state.ts';
import type { JudgedPayment, Moment, Verdict } from '../../modules/settlement/rules/judge.ts';
import { judge } from '../../modules/settlement/rules/judge.ts';
import type { PaymentEvent } from '../../modules/settlement/rules/machine.ts';
import { decide } from '../../modules/settlement/rules/machine.ts';

const PAY_TO = '0xauthor';
const AMOUNT = 10n;
const block = fc.bigInt(0n, 12n);
const batchId = fc.constantFrom('b1', 'b2');
const ids = fc.constantFrom('transfer-1', 'transfer-2');
const onChain = fc.record({ txHash: fc.constantFrom('0x1', '0x2'), logIndex: fc.nat(1), blockNumber: block });
const transfer: fc.Arbitrary<EvidenceRef> = fc.oneof(
  { weight: 4, arbitrary: onChain },
  { weight: 1, arbitrary: ids.map((txHash) => ({ txHash, logIndex: 0, blockNumber: 0n })) },
);
const reason = fc.constantFrom('insufficient_funds', 'authorization_invalid', 'settlement_failed');
const event: fc.Arbitrary<PaymentEvent> = fc.oneof(
  batchId.map((id) => ({ type: 'claimed', batchId: id }) as const),
  batchId.map((id) => ({ type: 'unsent', batchId: id }) as const),
  fc.record({ type: fc.constant('itemFailed'), batchId, reason }),
  fc.record({ type: fc.constant('refused'), reason }),
  fc.record({ type: fc.constant('evidence'), transfer }),
  fc
    .constantFrom(...(['spentOtherwise', 'unusable', 'reorged', 'safe', 'released', 'superseded', 'lapsed', 'overdue'] as const))
    .map((type) => ({ type })),
);

/** Any facts that events can lead to. */
const facts: fc.Arbitrary<PaymentFacts> = fc
  .tuple(fc.constantFrom('accepted', 'held', 'superseded'), fc.array(event, { maxLength: 6 }))
  .map(([born, events]) => events.reduce((now, one) => decide(now, one).next, newPayment(born)));

const payment: fc.Arbitrary<JudgedPayment> = fc.record({
  facts,
  payTo: fc.constant(PAY_TO),
  amountMicro: fc.constant(AMOUNT),
  validAfter: fc.bigInt(0n, 40n),
  validBefore: fc.bigInt(0n, 60n),
  payerKind: fc.constantFrom('plain', 'contract'),
  acceptedAt: fc.integer({ min: 0, max: 60 }).map((seconds) => new Date(seconds * 1_000)),
});
const spending: fc.Arbitrary<Spending> = fc.oneof(
  fc.record({
    kind: fc.constant('transfer'),
    to: fc.constantFrom(PAY_TO, PAY_TO, '0xother'),
    valueMicro: fc.constantFrom(AMOUNT, AMOUNT, AMOUNT + 1n, AMOUNT - 1n),
    transfer: onChain,
    timeSeconds: fc.bigInt(0n, 60n),
  }),
  fc.record({ kind: fc.constantFrom('cancelled', 'used_without_transfer'), blockNumber: block }),
);
const simulation: fc.Arbitrary<Simulation> = fc.oneof(
  fc.constant({ kind: 'passed' } as const),
  fc.constant({ kind: 'payee_blocked' } as const),
  fc.record({ kind: fc.constant('refused'), reason, raw: fc.constant('raw') }),
);
const carrier: fc.Arbitrary<Carrier> = fc.record({
  batchId,
  size: fc.integer({ min: 1, max: 3 }),
  fate: fc.constantFrom('executed', 'reverted', 'voided', 'overtaken'),
});
const rail: fc.Arbitrary<RailWord> = fc.oneof(
  fc.constant({ kind: 'moving' } as const),
  fc.record({ kind: fc.constantFrom('moved', 'gone'), id: ids }),
  fc.record({ kind: fc.constant('refused'), believed: fc.option(fc.record({ reason, raw: fc.constant('raw') })) }),
);
const use = fc.constantFrom('unused', 'used');
/** Anything a node, or several that disagree, may show: also what cannot be true at once. */
const sight: fc.Arbitrary<Sight> = fc.record({
  head: block,
  nonce: use,
  safe: fc.option(fc.record({ blockNumber: block, timeSeconds: fc.bigInt(0n, 80n), nonce: use })),
  spending: fc.option(spending),
  carrier: fc.option(carrier),
  simulation: fc.option(simulation),
  rail: fc.option(rail, { freq: 1 }),
});
const now: fc.Arbitrary<Moment> = fc.record({
  seconds: fc.integer({ min: 0, max: 900 }),
  blockTimeMs: fc.constantFrom(1, 2_000),
  confirmationsFor: fc.constantFrom(
    () => 1,
    () => 3,
  ),
});
const RUNS = { numRuns: 5_000 };

function eventOf(verdict: Verdict | 'wait'): PaymentEvent | null {
  return verdict === 'wait' ? null : verdict.event;
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}

test('it never throws, changes nothing it is given, and says the same again', () => {
  fc.assert(
    fc.property(payment, fc.option(sight), now, (one, seen, moment) => {
      freeze([one, seen, moment]);
      expect(isDeepStrictEqual(judge(one, seen, moment), judge(one, seen, moment))).toBe(true);
    }),
    RUNS,
  );
});

test('evidence is a transfer to the agreed address of exactly the agreed value with its confirmations, or moved, or an id of the rail', () => {
  fc.assert(
    fc.property(payment, sight, now, (one, seen, moment) => {
      const happened = eventOf(judge(one, seen, moment));
      if (happened?.type !== 'evidence') return;
      const named = happened.transfer;
      if (!named.txHash.startsWith('0x')) {
        expect(seen.rail).toEqual({ kind: 'moved', id: named.txHash });
        return;
      }
      expect(seen.spending).toMatchObject({ kind: 'transfer', to: PAY_TO, valueMicro: AMOUNT, transfer: named });
      const known = one.facts.evidence;
      const isMoved = isSettled(one.facts.state) && (known === null || !isSameEvidence(known, named));
      expect(isMoved || seen.head - named.blockNumber + 1n >= BigInt(moment.confirmationsFor(AMOUNT))).toBe(true);
    }),
    RUNS,
  );
});

test('without a sight only clocks speak', () => {
  fc.assert(
    fc.property(payment, now, (one, moment) => {
      expect([undefined, 'refused', 'lapsed', 'overdue']).toContain(eventOf(judge(one, null, moment))?.type);
    }),
    RUNS,
  );
});

test('a nonce that is used is never taken for unused: nothing expires, is refused, lapses, fails or goes out again', () => {
  fc.assert(
    fc.property(payment, sight, now, (one, seen, moment) => {
      const happened = eventOf(judge(one, { ...seen, nonce: 'used' }, moment))?.type;
      expect(['refused', 'lapsed', 'unsent', 'itemFailed']).not.toContain(happened);
      if (happened !== 'unusable') return;
      const where = seen.spending?.kind === 'transfer' ? seen.spending.transfer.blockNumber : seen.spending?.blockNumber;
      expect(where !== undefined && seen.safe !== null && where <= seen.safe.blockNumber).toBe(true);
    }),
    RUNS,
  );
});

test('a node that is behind the evidence never takes it back', () => {
  fc.assert(
    fc.property(payment, sight, now, (one, seen, moment) => {
      const known = one.facts.evidence;
      fc.pre(known?.txHash.startsWith('0x') === true && isSettled(one.facts.state) && known.blockNumber > 0n);
      const behind = { ...seen, head: seen.head % (known?.blockNumber ?? 1n) };
      expect([undefined, 'evidence', 'safe']).toContain(eventOf(judge(one, behind, moment))?.type);
    }),
    RUNS,
  );
});

test('what is judged applies to the payment once: the machine moves, and the second time it does not', () => {
  fc.assert(
    fc.property(payment, fc.option(sight), now, (one, seen, moment) => {
      const happened = eventOf(judge(one, seen, moment));
      if (!happened) return;
      const { next } = decide(one.facts, happened);
      if (happened.type !== 'unusable' || one.facts.watched) expect(next).not.toBe(one.facts);
      const again = decide(next, happened);
      expect([again.next === next, again.effects]).toEqual([true, []]);
    }),
    RUNS,
  );
});

test('a payer is struck only for bytes of his own batch that were mined, and never where an author is the cause', () => {
  fc.assert(
    fc.property(payment, fc.option(sight), now, (one, seen, moment) => {
      const verdict = judge(one, seen, moment);
      if (verdict === 'wait' || !verdict.strike) return;
      expect(['unsent', 'itemFailed']).toContain(verdict.event.type);
      expect(['executed', 'reverted']).toContain(seen?.carrier?.fate);
      expect(seen?.carrier?.batchId).toBe(one.facts.batchId);
      expect(seen?.simulation?.kind).not.toBe('payee_blocked');
    }),
    RUNS,
  );
});
