import type { PaymentFacts, PaymentState } from '../../modules/kernel/payment/state.ts';
import { decisionTime, isStillChosen, newPayment } from '../../modules/kernel/payment/state.ts';
import type { Proven } from '../../modules/settlement/rules/finality.ts';
import { isFinalTogether } from '../../modules/settlement/rules/finality.ts';
import { guardPurchase } from '../../modules/settlement/rules/guard.ts';
import type { Waiting } from '../../modules/settlement/rules/held.ts';
import { nextHeld } from '../../modules/settlement/rules/held.ts';
import type { Verdict } from '../../modules/settlement/rules/judge.ts';
import type { PaymentEffect, PaymentEvent } from '../../modules/settlement/rules/machine.ts';
import { decide } from '../../modules/settlement/rules/machine.ts';
import type {
  Applied,
  AuditedPayment,
  BatchRow,
  BeforeCommit,
  NewPayment,
  PaymentRow,
  Sign,
  SignedTx,
  Store,
  UnfinalBatch,
} from './store.ts';
import type { StoredPayment } from './tables.ts';
import { claimKey, Tables } from './tables.ts';

/** The transfer is already claimed by another payment: a unique violation. */
class ClaimConflict extends Error {}

const LICENCE_SECONDS = 12;

/** A store in memory: atomic database transactions that write what the service's own rules decide. It decides nothing itself. */
export class FakeStore implements Store {
  readonly tables = new Tables();
  private readonly nowMs: () => number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  intake(payment: NewPayment, beforeCommit: BeforeCommit): PaymentRow {
    return this.tables.transaction(() => {
      const stored = this.tables.payments.get(payment.id);
      if (stored) return this.view(stored);
      const row: StoredPayment = {
        ...payment,
        facts: newPayment(this.guard(payment)),
        sequence: this.tables.tick(),
        crossings: [],
        observations: [],
        decidedAt: null,
        settledAtMs: null,
        batchSize: null,
        ownFinality: false,
      };
      this.tables.put(this.tables.payments, payment.id, row);
      this.tables.changes.push({ paymentId: row.id, event: 'inserted', before: row.facts, after: row.facts });
      return this.view(row);
    }, beforeCommit);
  }

  claim(batchId: string, chosen: readonly PaymentRow[], limit: number, sign: Sign, beforeCommit: BeforeCommit): BatchRow | null {
    return this.tables.transaction(() => {
      const stored = this.tables.batches.get(batchId);
      if (stored) return stored;
      const taken: StoredPayment[] = [];
      for (const one of chosen.slice(0, limit)) {
        const row = this.tables.payments.get(one.id);
        if (row && isStillChosen({ mode: 'live', facts: row.facts }, one)) taken.push(row);
      }
      if (taken.length === 0) return null;
      const nonce = this.takeNonce();
      for (const row of taken) {
        const before = row.batchSize;
        row.batchSize = taken.length;
        this.tables.onRollback(() => {
          row.batchSize = before;
        });
        this.decideRow(row, { type: 'claimed', batchId });
      }
      const raw = sign(
        nonce,
        taken.map((row) => this.view(row)),
      );
      const attempts: SignedTx[] = [{ batchId, attempt: 1, kind: 'settle', raw }];
      const batch: BatchRow = { id: batchId, nonce, items: taken.map((row) => row.id), attempts, closed: false };
      this.tables.put(this.tables.batches, batchId, batch);
      return batch;
    }, beforeCommit);
  }

  apply(id: string, { event, strike }: Verdict, beforeCommit: BeforeCommit): Applied {
    const row = this.tables.payments.get(id);
    if (!row) return { outcome: 'unchanged', effects: [] };
    try {
      return this.tables.transaction(() => {
        const effects = this.decideRow(row, event);
        if (effects && strike) this.tables.append(this.tables.strikes, row.auth.payer);
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
      for (const row of this.tables.payments.values()) this.decideHeld(row);
    }, beforeCommit);
  }

  reopenBatch(id: string, beforeCommit: BeforeCommit): void {
    this.tables.transaction(() => {
      const batch = this.tables.batches.get(id);
      if (batch?.closed) this.tables.put(this.tables.batches, id, { ...batch, closed: false });
    }, beforeCommit);
  }

  findNonce(): { readonly nextNonce: bigint; readonly inFlight: number } {
    return { nextNonce: BigInt(this.tables.nextNonce), inFlight: this.listBatches(null).length };
  }

  adoptNonce(count: number, beforeCommit: BeforeCommit): void {
    this.tables.transaction(() => {
      while (this.tables.nextNonce < count) this.takeNonce();
    }, beforeCommit);
  }

  listUnfinal(): readonly UnfinalBatch[] {
    const open = [...this.tables.batches.values()].filter(({ id }) => !this.tables.finalBatches.has(id));
    const found = open.map(({ id, closed }) => ({ id, closed, payments: this.settledIn(id).map((row) => this.view(row)) }));
    return found.filter(({ closed, payments }) => closed || payments.length > 0);
  }

  finalise(id: string, judgedSafe: readonly PaymentRow[], beforeCommit: BeforeCommit): boolean {
    return this.tables.transaction(() => {
      const isOver = this.tables.batches.get(id)?.closed === true;
      const settled = this.settledIn(id);
      if (!isFinalTogether(isOver, settled.map(provenOf), judgedSafe.map(provenOf))) return false;
      this.tables.put(this.tables.finalBatches, id, true);
      for (const row of settled)
        this.tables.changes.push({ paymentId: row.id, event: 'safe', before: row.facts, after: this.factsOf(row) });
      return true;
    }, beforeCommit);
  }

  find(id: string): PaymentRow | null {
    const row = this.tables.payments.get(id);
    return row ? this.view(row) : null;
  }

  findBatch(id: string): BatchRow | null {
    return this.tables.batches.get(id) ?? null;
  }

  list(states: readonly PaymentState[], watchedOnly: boolean): readonly PaymentRow[] {
    const found: PaymentRow[] = [];
    for (const row of this.tables.payments.values()) {
      const { state, watched } = this.factsOf(row);
      if (states.includes(state) && (watched || !watchedOnly)) found.push(this.view(row));
    }
    return found;
  }

  audit(ids: readonly string[]): readonly AuditedPayment[] {
    const rows = ids.map((id) => this.tables.payments.get(id)).filter((row) => row !== undefined);
    return rows.map((row) => {
      const claims = [...this.tables.claims].filter(([, holder]) => holder === row.id).map(([key]) => key);
      return { ...this.view(row), crossings: row.crossings, observations: row.observations, claims };
    });
  }

  listBatches(fromNonce: number | null): readonly BatchRow[] {
    const isNamed = (batch: BatchRow): boolean => fromNonce !== null && batch.nonce >= fromNonce;
    const found = [...this.tables.batches.values()].filter((batch) => !batch.closed || isNamed(batch));
    return found.sort((a, b) => a.nonce - b.nonce);
  }

  /** What the open-purchase guard says of a new payment. */
  private guard(payment: NewPayment) {
    const siblings = this.siblings(payment).map((row) => ({
      paymentId: row.id,
      state: this.factsOf(row).state,
      amountMicro: BigInt(row.auth.value),
      settledAtMs: row.settledAtMs,
      licenceExpiresAtSeconds: null,
    }));
    const purchase = { kind: payment.kind, amountMicro: BigInt(payment.auth.value) };
    return guardPurchase(purchase, siblings, { ms: this.nowMs(), licenceLifeSeconds: LICENCE_SECONDS }).state;
  }

  private takeNonce(): number {
    const nonce = this.tables.nextNonce;
    this.tables.nextNonce = nonce + 1;
    this.tables.onRollback(() => {
      this.tables.nextNonce = nonce;
    });
    return nonce;
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
  private decideRow(row: StoredPayment, event: PaymentEvent): readonly PaymentEffect[] | null {
    const before = this.factsOf(row);
    const { next, effects } = decide(before, event);
    if (next === before) return null;
    const { facts, decidedAt, settledAtMs, ownFinality } = row;
    row.facts = next;
    row.ownFinality = next.state === 'settled' && this.tables.finalBatches.has(next.batchId ?? '');
    const time = decisionTime(before.state, next.state);
    if (time !== 'kept') row.decidedAt = time === 'now' ? this.tables.tick() : null;
    if (next.state === 'settled') row.settledAtMs ??= this.nowMs();
    this.tables.onRollback(() => {
      row.facts = facts;
      row.ownFinality = ownFinality;
      row.decidedAt = decidedAt;
      row.settledAtMs = settledAtMs;
    });
    this.tables.changes.push({ paymentId: row.id, event: event.type, before, after: next });
    for (const effect of effects) this.write(row, before, effect);
    if (effects.some(({ type }) => type === 'supersedeHeld' || type === 'releaseHeld')) {
      for (const other of this.siblings(row)) this.decideHeld(other);
    }
    return effects;
  }

  /** Decides a held payment by everything else of its purchase. */
  private decideHeld(row: StoredPayment): void {
    if (row.facts.state !== 'held') return;
    const { kind } = nextHeld(
      this.waitingOf(row),
      this.siblings(row).map((other) => this.waitingOf(other)),
    );
    if (kind !== 'waits') this.decideRow(row, { type: kind });
  }

  private write(row: StoredPayment, before: PaymentFacts, effect: PaymentEffect): void {
    switch (effect.type) {
      case 'recordCrossing':
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
      case 'releaseHeld':
      case 'resend':
      case 'alert':
        return;
    }
  }

  /** What the machine knows of a payment: it is final with its batch, unless it settled in one that was. */
  private factsOf({ facts, ownFinality }: StoredPayment): PaymentFacts {
    const isFinal = facts.state === 'settled' && !ownFinality && this.tables.finalBatches.has(facts.batchId ?? '');
    return isFinal ? decide(facts, { type: 'safe' }).next : facts;
  }

  private settledIn(batchId: string): StoredPayment[] {
    return [...this.tables.payments.values()].filter(
      ({ facts, ownFinality }) => facts.state === 'settled' && facts.batchId === batchId && !ownFinality,
    );
  }

  private waitingOf(row: StoredPayment): Waiting {
    const { id, sequence, decidedAt } = row;
    return { paymentId: id, state: this.factsOf(row).state, acceptedAtMs: sequence, decidedAtMs: decidedAt };
  }

  private view(row: StoredPayment): PaymentRow {
    const { id, auth, resource, kind, legs, payerKind, seenBlock, seenReorgs, batchSize } = row;
    return { id, auth, resource, kind, legs, payerKind, seenBlock, seenReorgs, batchSize, facts: this.factsOf(row) };
  }
}

/** What proves a payment, as it was read. */
export function provenOf({ id, facts }: Pick<PaymentRow, 'id' | 'facts'>): Proven {
  return { paymentId: id, evidence: facts.evidence };
}
