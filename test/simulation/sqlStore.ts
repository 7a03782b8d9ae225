import { createHash } from 'node:crypto';
import type { Database, Sql } from '../../db/database.ts';
import type { PaymentFacts, PaymentState } from '../../modules/kernel/payment/state.ts';
import { guardPurchase } from '../../modules/settlement/rules/guard.ts';
import type { Verdict } from '../../modules/settlement/rules/judge.ts';
import type { PaymentEvent } from '../../modules/settlement/rules/machine.ts';
import { decide } from '../../modules/settlement/rules/machine.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { insertAttempt } from '../../modules/settlement/store/attempts.ts';
import { claimBatch } from '../../modules/settlement/store/claim.ts';
import { sweepHeld } from '../../modules/settlement/store/held.ts';
import type { Payment } from '../../modules/settlement/store/payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from '../../modules/settlement/store/payment.ts';
import type { RelayerNonce } from '../../modules/settlement/store/relayer.ts';
import {
  adoptCount,
  findBatch,
  findRelayerNonce,
  listQueue,
  listUnfinishedBatches,
  setBatchState,
} from '../../modules/settlement/store/relayer.ts';
import {
  finaliseBatches,
  listSettledIn,
  listUnfinalAlone,
  listUnfinalBatches,
  listWatched,
} from '../../modules/settlement/store/sweep.ts';
import { insertPayment } from '../support/storePayment.ts';
import { Crash, InvariantBroken } from './actor.ts';
import { provenOf } from './fakeStore.ts';
import { newPaymentRow } from './sqlPayment.ts';
import { readAudit, readBatches } from './sqlReads.ts';
import type {
  Applied,
  AuditedPayment,
  BatchRow,
  BeforeCommit,
  Change,
  NewPayment,
  PaymentRow,
  Sign,
  SignedTx,
  Store,
  UnfinalBatch,
} from './store.ts';

const LICENCE_SECONDS = 12;
const LIMIT = 1_000;

/** The site, the network and the relayer of one schedule: schedules share tables, never rows. */
export interface Place {
  readonly tenantId: string;
  readonly network: string;
  readonly address: string;
}

/**
 * The simulator's store on the service's own SQL (safety 26): intake, claim, decisions, held payments and the queue of the relayer are what
 * `modules/settlement/store/**` does, on a real Postgres. Only the clock of the guard is the simulator's. A crash before a commit is a rollback.
 */
export class SqlStore implements Store {
  private readonly database: Database;
  private readonly place: Place;
  private readonly nowMs: () => number;
  private readonly brought = new Map<string, NewPayment>();
  private readonly batchNames = new Map<string, string>();
  private readonly batchSizes = new Map<string, number | null>();
  /** Every payment as its last database transaction left it, read inside that transaction. */
  private readonly committed = new Map<string, PaymentFacts>();
  private idleEvents = 0;
  private readonly settledAtMs = new Map<string, number>();

  constructor(database: Database, place: Place, nowMs: () => number) {
    this.database = database;
    this.place = place;
    this.nowMs = nowMs;
  }

  async intake(payment: NewPayment, beforeCommit: BeforeCommit): Promise<PaymentRow> {
    const paymentId = this.uuid(payment.id);
    if (!this.brought.has(paymentId)) this.brought.set(paymentId, payment);
    const now = { ms: this.nowMs(), licenceLifeSeconds: LICENCE_SECONDS };
    const { payment: stored } = await this.write(beforeCommit, { type: 'inserted' }, (database) =>
      insertPayment(database, newPaymentRow(this.place, paymentId, payment), (siblings) =>
        guardPurchase(
          { kind: payment.kind, amountMicro: BigInt(payment.auth.value) },
          siblings.map((one) => ({ ...one, settledAtMs: this.settledAtMs.get(one.paymentId) ?? null })),
          now,
        ),
      ),
    );
    return this.view(stored);
  }

  async claim(
    batchId: string,
    chosen: readonly PaymentRow[],
    limit: number,
    sign: Sign,
    beforeCommit: BeforeCommit,
  ): Promise<BatchRow | null> {
    const known = await this.findBatch(batchId);
    if (known) return known;
    const refs = chosen.map(({ id, auth, facts }) => ({ ...this.ref(id), payer: auth.payer, facts }));
    const result = await this.write(beforeCommit, { type: 'claimed' }, (database) =>
      claimBatch(database, this.place, refs, async (rows, nonce) => {
        const taken = refs.flatMap((ref) => rows.filter((row) => row.paymentId === ref.paymentId)).slice(0, limit);
        const raw = sign(
          Number(nonce),
          taken.map((row) => this.view(row)),
        );
        const signed = { batchId, attempt: 1, kind: 'settle', raw } as const;
        return {
          batch: { ...this.bytes(signed), workflowId: null, kind: 'settle', gasShares: new Map() },
          taken: new Set(taken.map((row) => row.paymentId)),
        };
      }),
    );
    return result.kind === 'claimed' ? this.findBatch(batchId) : null;
  }

  async apply(id: string, { event, strike }: Verdict, beforeCommit: BeforeCommit): Promise<Applied> {
    const ref = this.ref(id);
    if (this.isIdle(this.committed.get(ref.paymentId), event)) return { outcome: 'unchanged', effects: [] };
    const meant = 'batchId' in event ? { ...event, batchId: this.uuid(event.batchId) } : event;
    const applied = await this.write(beforeCommit, { type: event.type, paymentId: ref.paymentId }, (database) =>
      applyEvents(database, [{ ...ref, event: meant, ...(strike && { strike }) }]),
    );
    if (applied.poisoned.length > 0) return { outcome: 'conflict', effects: [] };
    const effects = applied.resend.length > 0 ? ([{ type: 'resend' }] as const) : [];
    return { outcome: applied.changed.length > 0 ? 'changed' : 'unchanged', effects };
  }

  async addAttempt(signed: SignedTx, beforeCommit: BeforeCommit): Promise<SignedTx> {
    const bytes = { ...this.bytes(signed), attempt: signed.attempt, kind: signed.kind };
    await this.write(beforeCommit, { type: 'claimed' }, (database) => database.transaction((sql) => insertAttempt(sql, bytes)));
    const batch = await this.findBatch(signed.batchId);
    return batch?.attempts.find((attempt) => attempt.attempt === signed.attempt) as SignedTx;
  }

  async closeBatch(id: string, beforeCommit: BeforeCommit): Promise<void> {
    await this.write(beforeCommit, { type: 'claimed' }, (database) =>
      database.transaction((sql) => setBatchState(sql, this.uuid(id), 'safe')),
    );
  }

  async reopenBatch(id: string, beforeCommit: BeforeCommit): Promise<void> {
    await this.write(beforeCommit, { type: 'claimed' }, (database) =>
      database.transaction((sql) => setBatchState(sql, this.uuid(id), 'open')),
    );
  }

  async adoptNonce(count: number, beforeCommit: BeforeCommit): Promise<void> {
    await this.write(beforeCommit, { type: 'claimed' }, (database) => adoptCount(database, this.place, BigInt(count)));
  }

  async findNonce(): Promise<{ readonly nextNonce: bigint; readonly inFlight: number }> {
    return (await findRelayerNonce(this.database, this.place)) as RelayerNonce;
  }

  /** One purchase a call: each is a database transaction of its own, with its own place to crash at. */
  async sweepHeld(beforeCommit: BeforeCommit): Promise<void> {
    if (![...this.committed.values()].some((facts) => facts.state === 'held')) return;
    await this.write(beforeCommit, { type: 'released' }, (database) => sweepHeld(database, this.place.network, 1));
  }

  find(id: string): PaymentRow | null {
    const paymentId = this.uuid(id);
    const facts = this.committed.get(paymentId);
    const batchSize = this.batchSizes.get(paymentId) ?? null;
    return facts ? { ...(this.brought.get(paymentId) as NewPayment), batchSize, facts } : null;
  }

  async findBatch(id: string): Promise<BatchRow | null> {
    const batch = await findBatch(this.database, this.uuid(id));
    return batch ? ((await readBatches(this.database, [batch], (uuid) => this.nameOf(uuid)))[0] ?? null) : null;
  }

  /** What is watched is what the sweeper's own statements list, so that a payment they forget is never looked at again. */
  async list(states: readonly PaymentState[], watchedOnly: boolean): Promise<readonly PaymentRow[]> {
    const all = [...this.brought.values()].map((payment) => this.find(payment.id)).filter((row) => row !== null);
    const named = all.filter((row) => states.includes(row.facts.state));
    if (!watchedOnly || named.length === 0) return named;
    const { network } = this.place;
    const batches = await listUnfinalBatches(this.database, network, LIMIT);
    const listed = [
      ...(await listSettledIn(
        this.database,
        batches.map(({ batchId }) => batchId),
      )),
      ...(await listUnfinalAlone(this.database, network, LIMIT)),
      ...(await listWatched(this.database, network, LIMIT, 0)),
    ].map((row) => this.view(row).id);
    return named.filter((row) => row.facts.state === 'accepted' || listed.includes(row.id));
  }

  async listUnfinal(): Promise<readonly UnfinalBatch[]> {
    const batches = await listUnfinalBatches(this.database, this.place.network, LIMIT);
    const found: UnfinalBatch[] = [];
    for (const { batchId } of batches) {
      const payments = await listSettledIn(this.database, [batchId]);
      found.push({ id: this.nameOf(batchId), payments: payments.map((row) => this.view(row)) });
    }
    return found;
  }

  async finalise(id: string, judgedSafe: readonly PaymentRow[], beforeCommit: BeforeCommit): Promise<boolean> {
    const judged = judgedSafe.map((row) => ({ ...provenOf(row), paymentId: this.uuid(row.id) }));
    const final = await this.write(beforeCommit, { type: 'safe' }, (database) =>
      finaliseBatches(database, [this.uuid(id)], judged),
    );
    return final.size > 0;
  }

  audit(ids: readonly string[]): Promise<readonly AuditedPayment[]> {
    return readAudit(
      this.database,
      ids.map((id) => this.ref(id)),
      (payment) => this.view(payment),
    );
  }

  async listBatches(fromNonce: number | null): Promise<readonly BatchRow[]> {
    const open = await listUnfinishedBatches(this.database, this.place);
    const queue = fromNonce === null ? [] : await listQueue(this.database, this.place, BigInt(fromNonce), 1_000_000n);
    const all = new Map([...open, ...queue].map((batch) => [batch.batchId, batch]));
    return readBatches(this.database, [...all.values()], (uuid) => this.nameOf(uuid));
  }

  /**
   * Runs the service's own code with a database whose transactions tell the simulator what they changed, right before they commit.
   * Its error, a crash above all, must come out even where the service makes something else of it.
   */
  private async write<T>(
    beforeCommit: BeforeCommit,
    event: { readonly type: Change['event']; readonly paymentId?: string },
    work: (database: Database) => Promise<T>,
  ): Promise<T> {
    let failure: unknown = null;
    let facts: ReadonlyMap<string, PaymentFacts> = new Map();
    const transaction: Database['transaction'] = (inner, isolation) =>
      this.database.transaction(async (sql) => {
        try {
          const value = await inner(sql);
          facts = await this.readFacts(sql);
          beforeCommit(this.changesTo(facts, event));
          return value;
        } catch (error) {
          failure = error;
          throw error;
        }
      }, isolation);
    // Both halves of a short one before the commit, so that it can be kept from happening.
    const shortTransaction: Database['shortTransaction'] = (inner) => transaction(async (sql) => (await inner(sql))());
    const result = await work({ ...this.database, transaction, shortTransaction }).catch((error: unknown) => {
      throw failure instanceof Crash ? failure : error;
    });
    if (failure instanceof Crash) throw failure;
    if (failure) throw new InvariantBroken(`a decision could not be written: ${String(failure)}`);
    for (const [paymentId, next] of facts) this.commit(paymentId, next);
    return result;
  }

  /** True for most of the many events that change nothing: one in eight is enough to show that the SQL leaves it at that. */
  private isIdle(facts: PaymentFacts | undefined, event: PaymentEvent): boolean {
    if (facts && decide(facts, event).next !== facts) return false;
    this.idleEvents += 1;
    return this.idleEvents % 8 !== 0;
  }

  private commit(paymentId: string, next: PaymentFacts): void {
    const before = this.committed.get(paymentId);
    if (next.recorded && !before?.recorded && !this.settledAtMs.has(paymentId)) this.settledAtMs.set(paymentId, this.nowMs());
    this.committed.set(paymentId, next);
  }

  private changesTo(facts: ReadonlyMap<string, PaymentFacts>, event: { type: Change['event']; paymentId?: string }): Change[] {
    const changes: Change[] = [];
    const causeFirst = [...facts].toSorted(([a], [b]) => Number(b === event.paymentId) - Number(a === event.paymentId));
    for (const [uuid, after] of causeFirst) {
      const before = this.committed.get(uuid) ?? after;
      const fresh = !this.committed.has(uuid);
      if (!fresh && JSON.stringify(before, asText) === JSON.stringify(after, asText)) continue;
      const isOfMany = event.type === 'claimed' || (event.type === 'safe' && event.paymentId === undefined);
      const beside = !isOfMany && event.paymentId !== uuid; // a held one that moves with it
      const type = fresh ? 'inserted' : beside ? (after.state === 'superseded' ? 'superseded' : 'released') : event.type;
      changes.push({ paymentId: this.brought.get(uuid)?.id ?? uuid, event: type, before, after });
    }
    return changes;
  }

  private async readFacts(sql: Sql): Promise<ReadonlyMap<string, PaymentFacts>> {
    const rows = await sql.query<Parameters<typeof paymentFromRow>[0] & Record<string, unknown>>(
      `select ${PAYMENT_COLUMNS} from payment_state as s join payment_intake as i using (tenant_id, payment_id) where tenant_id = $1 order by payment_id`,
      [this.place.tenantId],
    );
    const payments = rows.map(paymentFromRow);
    for (const { paymentId, batchSize } of payments) this.batchSizes.set(paymentId, batchSize);
    return new Map(payments.map((row) => [row.paymentId, this.view(row).facts]));
  }

  private bytes({ batchId, raw }: SignedTx) {
    return {
      batchId: this.uuid(batchId),
      network: this.place.network,
      relayer: this.place.address,
      nonce: BigInt(raw.nonce),
      txHash: raw.hash as `0x${string}`,
      raw: `0x${Buffer.from(JSON.stringify(raw)).toString('hex')}` as const,
      gasLimit: 1n,
      maxFeeWei: 1n,
      priorityFeeWei: 1n,
    };
  }

  private view({ paymentId, facts }: Payment): PaymentRow {
    const { id, auth, resource, kind, legs, payerKind, seenBlock, seenReorgs } = this.brought.get(paymentId) as NewPayment;
    const batchId = facts.batchId === null ? null : this.nameOf(facts.batchId);
    const batchSize = this.batchSizes.get(paymentId) ?? null;
    return { id, auth, resource, kind, legs, payerKind, seenBlock, seenReorgs, batchSize, facts: { ...facts, batchId } };
  }

  private ref(id: string): { tenantId: string; paymentId: string } {
    return { tenantId: this.place.tenantId, paymentId: this.uuid(id) };
  }

  private nameOf(uuid: string): string {
    return this.batchNames.get(uuid) ?? this.brought.get(uuid)?.id ?? uuid;
  }

  /** The same name in the same schedule is the same id, so that a seed makes the same rows. */
  private uuid(name: string): string {
    const hash = createHash('sha256').update(`${this.place.tenantId} ${name}`).digest('hex');
    const uuid = [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-');
    if (!name.startsWith('pay')) this.batchNames.set(uuid, name);
    return uuid;
  }
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
