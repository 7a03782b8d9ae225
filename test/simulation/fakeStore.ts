import { guardPurchase, isLeading } from '../../domain/payment/guard.ts';
import type { PaymentEffect, PaymentEvent } from '../../domain/payment/machine.ts';
import { decide } from '../../domain/payment/machine.ts';
import type { PaymentFacts, PaymentState } from '../../domain/payment/state.ts';
import { newPayment } from '../../domain/payment/state.ts';
import type { Mutant } from './mutants.ts';
import type { Applied, AuditedPayment, BatchRow, BeforeCommit, NewPayment, PaymentRow, Sign, SignedTx, Store } from './store.ts';
import type { StoredPayment } from './tables.ts';
import { claimKey, Tables } from './tables.ts';

/** The transfer is already claimed by another payment: a unique violation. */
class ClaimConflict extends Error {}

type GuardState = 'accepted' | 'held' | 'superseded';
const LICENCE_SECONDS = 12;

/** A store in memory: atomic database transactions, the real `decide()`, effects written with the state. */
export class FakeStore implements Store {
  readonly tables = new Tables();
  private readonly mutant: Mutant | null;

  private readonly nowMs: () => number;

  constructor(nowMs: () => number, mutant: Mutant | null = null) {
    this.nowMs = nowMs;
    this.mutant = mutant;
  }

  intake(payment: NewPayment, beforeCommit: BeforeCommit, unlocked?: GuardState): PaymentRow {
    return this.tables.transaction(() => {
      const stored = this.tables.payments.get(payment.id);
      if (stored) return view(stored);
      const state = unlocked ?? this.guard(payment);
      const row: StoredPayment = {
        ...payment,
        facts: newPayment(state),
        sequence: this.tables.tick(),
        bornHeld: state === 'held',
        crossings: [],
        observations: [],
        settledAt: 0,
        decidedAtMs: null,
        failures: 0,
      };
      this.tables.put(this.tables.payments, payment.id, row);
      this.tables.changes.push({ paymentId: row.id, event: 'inserted', before: row.facts, after: row.facts });
      return view(row);
    }, beforeCommit);
  }

  claim(batchId: string, proposed: readonly string[], limit: number, sign: Sign, beforeCommit: BeforeCommit): BatchRow | null {
    return this.tables.transaction(() => {
      const stored = this.tables.batches.get(batchId);
      if (stored) return stored;
      const rows = proposed.map((id) => this.tables.payments.get(id)).filter((row) => row !== undefined && this.mayClaim(row));
      const taken = (rows as StoredPayment[]).slice(0, limit);
      if (taken.length === 0) return null;
      const nonce = this.takeNonce();
      for (const row of taken) this.decideRow(row, { type: 'claimed', batchId });
      const raw = sign(nonce, taken.map(view));
      const attempts: SignedTx[] = [{ batchId, attempt: 1, kind: 'settle', raw }];
      const batch: BatchRow = { id: batchId, nonce, items: taken.map((row) => row.id), attempts, closed: false };
      this.tables.put(this.tables.batches, batchId, batch);
      return batch;
    }, beforeCommit);
  }

  apply(id: string, event: PaymentEvent, seen: PaymentFacts, beforeCommit: BeforeCommit): Applied {
    const row = this.tables.payments.get(id);
    if (!row) return { outcome: 'unchanged', effects: [] };
    try {
      return this.tables.transaction(() => {
        const facts = this.mutant === 'finaliseTwice' ? seen : row.facts;
        const effects = this.decideRow(row, event, facts);
        return { outcome: effects === null ? 'unchanged' : 'changed', effects: effects ?? [] };
      }, beforeCommit);
    } catch (error) {
      if (error instanceof ClaimConflict) return { outcome: 'conflict', effects: [] };
      throw error;
    }
  }

  addAttempt(signed: SignedTx, beforeCommit: BeforeCommit): SignedTx {
    return this.tables.transaction(() => {
      const batch = this.tables.batches.get(signed.batchId) as BatchRow;
      const stored = batch.attempts.find((attempt) => attempt.attempt === signed.attempt);
      if (stored) return stored;
      this.tables.put(this.tables.batches, batch.id, { ...batch, attempts: [...batch.attempts, signed] });
      return signed;
    }, beforeCommit);
  }

  closeBatch(id: string, beforeCommit: BeforeCommit): void {
    this.tables.transaction(() => {
      const batch = this.tables.batches.get(id);
      if (batch && !batch.closed) this.tables.put(this.tables.batches, id, { ...batch, closed: true });
    }, beforeCommit);
  }

  sweepHeld(beforeCommit: BeforeCommit): void {
    this.tables.transaction(() => {
      for (const row of this.tables.payments.values()) {
        if (row.facts.state !== 'held' || (this.mutant !== 'releaseWithoutDecision' && this.hasLeader(row))) continue;
        const paid = this.siblings(row).some((other) => other.settledAt > row.sequence && other.facts.recorded);
        this.decideRow(row, { type: paid ? 'superseded' : 'released' });
      }
    }, beforeCommit);
  }

  find(id: string): PaymentRow | null {
    const row = this.tables.payments.get(id);
    return row ? view(row) : null;
  }

  findBatch(id: string): BatchRow | null {
    return this.tables.batches.get(id) ?? null;
  }

  list(states: readonly PaymentState[], watchedOnly: boolean): readonly PaymentRow[] {
    const found: PaymentRow[] = [];
    for (const row of this.tables.payments.values()) {
      if (states.includes(row.facts.state) && (row.facts.watched || !watchedOnly)) found.push(view(row));
    }
    return found;
  }

  audit(ids: readonly string[]): readonly AuditedPayment[] {
    const rows = ids.map((id) => this.tables.payments.get(id)).filter((row) => row !== undefined);
    return rows.map((row) => {
      const claims = [...this.tables.claims].filter(([, holder]) => holder === row.id).map(([key]) => key);
      return { ...view(row), crossings: row.crossings, observations: row.observations, claims };
    });
  }

  listBatches(fromNonce: number): readonly BatchRow[] {
    const found = [...this.tables.batches.values()].filter((batch) => !batch.closed || batch.nonce >= fromNonce);
    return found.sort((a, b) => a.nonce - b.nonce);
  }

  /** What the open-purchase guard says of a new payment; right only under the purchase's lock. */
  guard(payment: NewPayment): GuardState {
    const siblings = this.siblings(payment).map((row) => ({
      paymentId: row.id,
      state: row.facts.state,
      amountMicro: BigInt(row.auth.value),
      settledAtMs: row.decidedAtMs,
      licenceExpiresAtSeconds: null,
    }));
    const purchase = { kind: payment.kind, amountMicro: BigInt(payment.auth.value) };
    return guardPurchase(purchase, siblings, { ms: this.nowMs(), licenceLifeSeconds: LICENCE_SECONDS }).state;
  }

  private hasLeader(payment: NewPayment): boolean {
    return this.siblings(payment).some((row) => isLeading(row.facts));
  }

  /** Takes a nonce outside a claim; only a broken worker does that. */
  takeNonce(): number {
    const nonce = this.tables.nextNonce;
    this.tables.nextNonce = nonce + 1;
    this.tables.onRollback(() => {
      this.tables.nextNonce = nonce;
    });
    return nonce;
  }

  private mayClaim(row: StoredPayment): boolean {
    if (this.mutant === 'noClaimCas') return row.facts.state === 'accepted' || row.facts.state === 'broadcast';
    if (this.mutant === 'sendsHeld' && row.facts.state === 'held') return this.decideRow(row, { type: 'released' }) !== null;
    return row.facts.state === 'accepted' && row.facts.batchId === null;
  }

  private siblings(payment: NewPayment): StoredPayment[] {
    const found: StoredPayment[] = [];
    for (const row of this.tables.payments.values()) {
      const same = row.resource === payment.resource && row.kind === payment.kind && row.auth.payer === payment.auth.payer;
      if (same && row.auth.value === payment.auth.value && row.id !== payment.id) found.push(row);
    }
    return found;
  }

  /** Decides and writes; null when the event changes nothing. */
  private decideRow(row: StoredPayment, event: PaymentEvent, facts = row.facts): readonly PaymentEffect[] | null {
    const { next, effects } = decide(facts, event);
    if (next === facts) return null;
    const before = row.facts;
    row.facts = next;
    this.tables.onRollback(() => {
      row.facts = before;
    });
    this.tables.changes.push({ paymentId: row.id, event: event.type, before, after: next });
    for (const effect of effects) this.write(row, before, effect);
    return effects;
  }

  private write(row: StoredPayment, before: PaymentFacts, effect: PaymentEffect): void {
    switch (effect.type) {
      case 'recordCrossing':
        this.note(row, 'settledAt');
        row.decidedAtMs = this.nowMs();
        this.tables.append(row.crossings, { amountMicro: BigInt(row.auth.value), legs: row.legs, announced: 1 });
        return;
      case 'correctCrossing': {
        const legs = row.legs.map((leg) => ({ toAddress: leg.toAddress, amountMicro: -leg.amountMicro }));
        this.tables.append(row.crossings, { amountMicro: -BigInt(row.auth.value), legs, announced: 1 });
        return;
      }
      case 'observePaid':
        this.tables.append(row.observations, { verdict: 'paid', count: 1 });
        return;
      case 'correctPaid':
        this.tables.append(row.observations, { verdict: 'paid', count: -1 });
        return;
      case 'observeFailed':
        this.note(row, 'failures');
        this.tables.append(row.observations, { verdict: 'payment-failed', count: 1 });
        return;
      case 'correctFailed':
        this.tables.append(row.observations, { verdict: 'payment-failed', count: -1 });
        return;
      case 'unclaimTransfer':
        if (before.evidence !== null) this.tables.remove(this.tables.claims, claimKey(before.evidence));
        return;
      case 'claimTransfer': {
        const holder = this.tables.claims.get(claimKey(effect.transfer));
        if (holder !== undefined && holder !== row.id) throw new ClaimConflict();
        this.tables.put(this.tables.claims, claimKey(effect.transfer), row.id);
        return;
      }
      case 'supersedeHeld':
        for (const other of this.siblings(row)) this.decideRow(other, { type: 'superseded' });
        return;
      case 'releaseHeld':
        this.releaseNext(row);
        return;
      case 'resend':
      case 'alert':
        return;
    }
  }

  private note(row: StoredPayment, what: 'settledAt' | 'failures'): void {
    const old = row[what];
    row[what] = what === 'settledAt' ? this.tables.tick() : old + 1;
    this.tables.onRollback(() => {
      row[what] = old;
    });
  }

  private releaseNext(row: StoredPayment): void {
    if (this.hasLeader(row)) return;
    const next = this.siblings(row).find((other) => other.facts.state === 'held');
    if (next) this.decideRow(next, { type: 'released' });
  }
}

function view(row: StoredPayment): PaymentRow {
  return {
    id: row.id,
    auth: row.auth,
    resource: row.resource,
    kind: row.kind,
    legs: row.legs,
    seenBlock: row.seenBlock,
    facts: row.facts,
  };
}
