import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EvidenceRef, PaymentFacts } from '../../modules/kernel/payment/state.ts';
import {
  ANSWERED_STATES,
  decisionTime,
  isClaimable,
  isSettled,
  isUndecided,
  LEADING_STATES,
  LOOSE_STATES,
  MAX_ATTEMPTS,
  newPayment,
  OPEN_STATES,
  PAYMENT_STATES,
  UNDECIDED_STATES,
} from '../../modules/kernel/payment/state.ts';
import type { PaymentEvent } from '../../modules/settlement/rules/machine.ts';
import { decide } from '../../modules/settlement/rules/machine.ts';
import { TRANSITIONS } from '../simulation/coverage.ts';

const transfer: EvidenceRef = { txHash: '0x01', logIndex: 1, blockNumber: 7n };
const moved: EvidenceRef = { ...transfer, blockNumber: 9n };
const other: EvidenceRef = { txHash: '0x02', logIndex: 4, blockNumber: 8n };
const EVENTS: readonly PaymentEvent[] = [
  { type: 'claimed', batchId: 'b1' },
  { type: 'refused', reason: 'insufficient_funds' },
  { type: 'unsent', batchId: 'b1' },
  { type: 'itemFailed', batchId: 'b1', reason: 'insufficient_funds' },
  { type: 'evidence', transfer },
  { type: 'evidence', transfer: moved },
  { type: 'evidence', transfer: other },
  { type: 'evidence', transfer: moved, from: transfer },
  { type: 'spentOtherwise' },
  { type: 'unusable' },
  { type: 'reorged', transfer },
  { type: 'reorged', transfer: other },
  { type: 'safe', transfer },
  { type: 'safe', transfer: other },
  { type: 'released' },
  { type: 'superseded' },
  { type: 'lapsed' },
  { type: 'overdue' },
  { type: 'contradicted' },
];

function run(facts: PaymentFacts, ...events: readonly PaymentEvent[]): PaymentFacts {
  return events.reduce((now, event) => decide(now, event).next, facts);
}

function effectsOf(facts: PaymentFacts, event: PaymentEvent): string[] {
  return decide(facts, event).effects.map((effect) => effect.type);
}

const accepted = newPayment('accepted');
const broadcast = run(accepted, { type: 'claimed', batchId: 'b1' });
const settled = run(broadcast, { type: 'evidence', transfer });

/** Every set of facts that events can lead to, up to one attempt too many. */
function reachable(): PaymentFacts[] {
  const seen = new Map<string, PaymentFacts>();
  const todo = [accepted, newPayment('held'), newPayment('superseded')];
  for (let facts = todo.pop(); facts; facts = todo.pop()) {
    const key = JSON.stringify(facts, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    if (seen.has(key) || facts.attempts > MAX_ATTEMPTS) continue;
    seen.set(key, facts);
    for (const event of EVENTS) todo.push(decide(facts, event).next);
  }
  return [...seen.values()];
}

test('the simulator lists exactly the transitions that change something in the machine', () => {
  const found = new Set<string>();
  for (const facts of reachable()) {
    for (const event of EVENTS) if (decide(facts, event).next !== facts) found.add(`${event.type}:${facts.state}`);
  }
  const listed = TRANSITIONS.flatMap(([event, states]) => states.map((state) => `${event}:${state}`));
  expect([...found].sort()).toEqual([...listed].sort());
});

test('every state is reached', () => {
  expect(new Set(reachable().map((facts) => facts.state))).toEqual(new Set(PAYMENT_STATES));
});

test('an event delivered twice in a row changes nothing the second time', () => {
  for (const facts of reachable()) {
    for (const event of EVENTS) {
      const once = decide(facts, event).next;
      if (once === facts || event.type === 'unusable') continue;
      const twice = decide(once, event);
      expect([event.type, facts.state, twice.next === once, twice.effects]).toEqual([event.type, facts.state, true, []]);
    }
  }
});

test('crossings, observations and transfer claims net to what the state says, whatever comes in whatever order', () => {
  const start = fc.constantFrom<PaymentFacts>(accepted, newPayment('held'), newPayment('superseded'));
  fc.assert(
    fc.property(start, fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 }), (first, events) => {
      let facts = first;
      const net = { crossing: 0, paid: 0, failed: 0, claims: 0 };
      for (const event of events) {
        const { next, effects } = decide(facts, event);
        for (const effect of effects) {
          if (effect.type === 'recordCrossing') net.crossing += 1;
          if (effect.type === 'correctCrossing') net.crossing -= 1;
          if (effect.type === 'observePaid') net.paid += 1;
          if (effect.type === 'correctPaid') net.paid -= 1;
          if (effect.type === 'observeFailed') net.failed += 1;
          if (effect.type === 'correctFailed') net.failed -= 1;
          if (effect.type === 'claimTransfer') net.claims += 1;
          if (effect.type === 'unclaimTransfer') net.claims -= 1;
        }
        facts = next;
        const recorded = facts.recorded ? 1 : 0;
        const failed = facts.state === 'failed' ? 1 : 0;
        expect(net).toEqual({ crossing: recorded, paid: recorded, failed, claims: isSettled(facts.state) ? 1 : 0 });
        if (isSettled(facts.state)) expect(facts).toMatchObject({ recorded: true, reason: null });
        expect(facts.state === 'failed').toBe(facts.reason !== null);
        expect(facts.failureObserved).toBe(facts.state === 'failed');
      }
    }),
    { numRuns: 2000 },
  );
});

test('a payment becomes settled by evidence only', () => {
  for (const facts of reachable()) {
    for (const event of EVENTS) {
      const { next } = decide(facts, event);
      if (!isSettled(facts.state) && isSettled(next.state)) expect(event.type).toBe('evidence');
    }
  }
});

test('late evidence moves a failed payment to settled, takes its failure back and records it', () => {
  const failed = run(broadcast, { type: 'itemFailed', batchId: 'b1', reason: 'insufficient_funds' });
  expect(failed).toMatchObject({ state: 'failed', watched: true });
  const event = { type: 'evidence', transfer } as const;
  expect(effectsOf(failed, event)).toEqual(['claimTransfer', 'recordCrossing', 'observePaid', 'correctFailed', 'supersedeHeld']);
});

test('a payment whose authorization was spent otherwise is watched until that block is safe', () => {
  const failed = run(broadcast, { type: 'spentOtherwise' });
  expect(failed).toMatchObject({ state: 'failed', reason: 'authorization_invalid', watched: true });
  expect(run(failed, { type: 'spentOtherwise' })).toBe(failed);
  expect(run(failed, { type: 'unusable' }).watched).toBe(false);
});

test('a held payment whose authorization is spent otherwise or unusable expires without a failure or a release', () => {
  for (const type of ['spentOtherwise', 'unusable'] as const) {
    expect(run(newPayment('held'), { type }).state).toBe('expired');
    expect(effectsOf(newPayment('held'), { type })).toEqual([]);
  }
});

test('a reorg sends the same bytes again and keeps the crossing until the chain decides', () => {
  expect(effectsOf(settled, { type: 'reorged', transfer })).toEqual(['unclaimTransfer', 'resend']);
  expect(run(settled, { type: 'reorged', transfer })).toMatchObject({ state: 'broadcast', batchId: 'b1', recorded: true });
});

test('a reorg of a payment that somebody else sent does not send it: what was held is never sent', () => {
  const frontRun = run(newPayment('held'), { type: 'evidence', transfer });
  expect(effectsOf(frontRun, { type: 'reorged', transfer })).toEqual(['unclaimTransfer']);
  const waiting = run(frontRun, { type: 'reorged', transfer });
  expect(waiting).toMatchObject({ state: 'broadcast', batchId: null });
  expect(run(waiting, { type: 'claimed', batchId: 'b2' })).toBe(waiting);
});

test('a reorg of an accepted payment that somebody else sent makes it go out: its page was given', () => {
  const frontRun = run(accepted, { type: 'evidence', transfer });
  expect(effectsOf(frontRun, { type: 'reorged', transfer })).toEqual(['unclaimTransfer']);
  const again = run(frontRun, { type: 'reorged', transfer });
  expect(again).toMatchObject({ state: 'accepted', batchId: null, recorded: true });
  expect(run(again, { type: 'claimed', batchId: 'b2' }).state).toBe('broadcast');
  expect(effectsOf(again, { type: 'refused', reason: 'authorization_invalid' })).toContain('correctCrossing');
});

test('a payment that was released from behind another one goes out after a reorg, one that was decided against does not', () => {
  const released = run(run(newPayment('held'), { type: 'released' }), { type: 'evidence', transfer });
  expect(run(released, { type: 'reorged', transfer }).state).toBe('accepted');
  const failed = run(run(accepted, { type: 'refused', reason: 'insufficient_funds' }), { type: 'evidence', transfer });
  expect(run(failed, { type: 'reorged', transfer }).state).toBe('broadcast');
});

test('a reorg below the safe block corrects the crossing and alerts', () => {
  const final = run(settled, { type: 'safe', transfer });
  const effects = effectsOf(final, { type: 'reorged', transfer });
  expect(effects).toEqual(['unclaimTransfer', 'correctCrossing', 'correctPaid', 'alert', 'resend']);
});

test('evidence that moved to another block is claimed anew, and what was read of the old one does not touch it', () => {
  const again = run(settled, { type: 'evidence', transfer: moved });
  expect(again.evidence).toEqual(moved);
  expect(effectsOf(settled, { type: 'evidence', transfer: moved })).toEqual(['unclaimTransfer', 'claimTransfer']);
  expect(run(again, { type: 'safe', transfer })).toBe(again);
  expect(run(again, { type: 'reorged', transfer })).toBe(again);
});

test('bytes mined in vain five times fail the payment; those of another batch say nothing', () => {
  let facts = accepted;
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
    facts = run(facts, { type: 'claimed', batchId: `b${attempt}` }, { type: 'unsent', batchId: `b${attempt}` });
    expect(facts).toMatchObject({ state: 'accepted', attempts: attempt, batchId: null });
  }
  facts = run(facts, { type: 'claimed', batchId: 'last' });
  expect(run(facts, { type: 'unsent', batchId: 'b1' })).toBe(facts);
  expect(run(facts, { type: 'itemFailed', batchId: 'b1', reason: 'insufficient_funds' })).toBe(facts);
  expect(run(facts, { type: 'unsent', batchId: 'last' })).toMatchObject({ state: 'failed', reason: 'settlement_failed' });
});

test('evidence that moved follows only while the evidence it moved from stands: what a reorg took back is proven anew, depth and all', () => {
  const event = { type: 'evidence', transfer: moved, from: transfer } as const;
  expect(run(settled, event).evidence).toEqual(moved);
  const back = run(settled, { type: 'reorged', transfer });
  expect(run(back, event)).toEqual(back);
  expect(run(run(settled, { type: 'evidence', transfer: other, from: transfer }), event).evidence).toEqual(other);
});

test('a decision keeps its time when it becomes final or its evidence moves, and loses it when a reorg takes it back', () => {
  expect(decisionTime('broadcast', 'settled')).toBe('now');
  expect(decisionTime('settled', 'final')).toBe('kept');
  expect(decisionTime('final', 'settled')).toBe('kept');
  expect(decisionTime('final', 'broadcast')).toBe('none');
  for (const before of ['failed', 'superseded', 'expired'] as const) expect(decisionTime(before, 'settled')).toBe('now');
  for (const state of PAYMENT_STATES) expect(decisionTime(state, state)).toBe(isUndecided(state) ? 'none' : 'kept');
});

test('every state is undecided, settled, or closed, and what leads is undecided', () => {
  for (const state of PAYMENT_STATES) {
    const closed = ['failed', 'superseded', 'expired'].includes(state);
    expect([isUndecided(state), isSettled(state), closed].filter(Boolean)).toHaveLength(1);
    if (LEADING_STATES.includes(state)) expect(isUndecided(state)).toBe(true);
  }
  expect(UNDECIDED_STATES).toEqual(['accepted', 'held', 'broadcast', 'review']);
  expect(OPEN_STATES).toEqual(['accepted', 'held', 'broadcast']);
  expect(ANSWERED_STATES).toEqual(['settled', 'final', 'failed', 'expired']);
  expect(LOOSE_STATES).toEqual(['held', 'failed', 'superseded', 'expired', 'review']);
});

test('a batch may take an accepted live payment that is in none, and nothing else', () => {
  const mode = 'live';
  expect(isClaimable({ mode, facts: accepted })).toBe(true);
  expect(isClaimable({ mode: 'mock', facts: accepted })).toBe(false);
  expect(isClaimable({ mode, facts: { ...accepted, batchId: 'b1' } })).toBe(false);
  for (const facts of [broadcast, settled, newPayment('held')]) expect(isClaimable({ mode, facts })).toBe(false);
});
