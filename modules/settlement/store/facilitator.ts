import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { acrossSites, run, tables } from '../../../db/statement.ts';
import { isClaimable } from '../../kernel/payment/state.ts';
import { decide } from '../rules/machine.ts';
import { markClaimed } from './claim.ts';
import type { Payment, PaymentRef } from './payment.ts';
import { listPayments } from './payment.ts';
import { claimHoldMs } from './relayer.ts';

/** A payment that was handed to a facilitator, and what came of asking. */
export interface Submission {
  readonly payment: Payment;
  /** How often it was asked, answers that never came included. */
  readonly asks: number;
  readonly said: 'settled' | 'refused' | 'unknown' | null;
  /** Refusals in a row. */
  readonly refusals: number;
  /** A transaction hash or an id of the facilitator. */
  readonly reference: string | null;
  readonly detail: string | null;
  readonly askedAt: Date | null;
}

/** Who stands as relayer on batches that a facilitator carries. */
export const FACILITATOR = 'facilitator';

/**
 * Claims what is still `accepted` of the proposals for a facilitator, all in one database transaction (safety 7): state `broadcast`
 * and one submission each, before the first request leaves. Empty when nothing is open; each payment ends in one batch.
 */
export async function claimSubmissions(
  database: Database,
  batch: { readonly network: string; readonly batchId: string; readonly workflowId: string | null },
  proposals: readonly PaymentRef[],
): Promise<readonly Payment[]> {
  return database.transaction(async (sql) => {
    const rows = await listPayments(sql, proposals, true);
    const open = rows.filter(isClaimable);
    const { batchId } = batch;
    const claimed = open.filter(({ facts }) => decide(facts, { type: 'claimed', batchId }).next.state === 'broadcast');
    if (claimed.length === 0) return [];
    const { network, workflowId } = batch;
    const tenantIds = claimed.map((payment) => payment.tenantId);
    const paymentIds = claimed.map((payment) => payment.paymentId);
    const carrier = { batchId, network, relayer: FACILITATOR, kind: 'facilitator', workflowId, nonce: '0' } as const;
    const heldUntil = text<Date>`now() + ${claimHoldMs(workflowId)}::double precision * interval '1 millisecond'`;
    await run(sql, tables.insertInto('settlement_batch').values({ ...carrier, heldUntil, tenantIds, paymentIds }));
    const marked = await markClaimed(sql, claimed, batchId, FACILITATOR);
    await sql.query(
      `insert into facilitator_submission (batch_id, tenant_id, payment_id)
       select $1, tenant_id, payment_id from unnest($2::uuid[], $3::uuid[]) as taken (tenant_id, payment_id)`,
      [batchId, tenantIds, paymentIds],
    );
    return marked;
  });
}

/** The payments of a batch that are still undecided. */
export async function listOpenSubmissions(sql: Sql, batchId: string): Promise<readonly Submission[]> {
  const asked = await run(
    sql,
    acrossSites('a worker')
      .selectFrom('facilitator_submission')
      .select(['tenantId', 'paymentId', 'asks', 'said', 'refusals', 'reference', 'detail', 'askedAt'])
      .where('batchId', '=', batchId),
  );
  const ofPayment = new Map(asked.map(({ tenantId: _, paymentId, ...of }) => [paymentId, of]));
  const payments = await listPayments(sql, asked);
  return payments.flatMap((payment) => {
    const { paymentId, facts } = payment;
    const of = ofPayment.get(paymentId);
    return of !== undefined && facts.batchId === batchId && facts.state === 'broadcast' ? [{ payment, ...of }] : [];
  });
}

/**
 * Takes the undecided payments of a batch that are due to be asked about and puts their next turn off by `leaseMs`: of several
 * processes one gets each. It is written before the request leaves, so that a crash in between asks again only later.
 */
export async function takeDueSubmissions(
  sql: Sql,
  batchId: string,
  options: { readonly leaseMs: number; readonly limit: number },
): Promise<readonly PaymentRef[]> {
  const rows = await sql.query<{ tenant_id: string; payment_id: string }>(
    `update facilitator_submission s set asks = asks + 1, asked_at = now(),
        due_at = now() + make_interval(secs => $2::double precision / 1000)
      where (s.batch_id, s.tenant_id, s.payment_id) in (
        select due.batch_id, due.tenant_id, due.payment_id from facilitator_submission due
          join payment_state as sent using (tenant_id, payment_id)
         where due.batch_id = $1 and due.due_at <= now() and sent.state = 'broadcast' and sent.batch_id = $1
         order by due.due_at limit $3 for update of due skip locked)
      returning s.tenant_id, s.payment_id`,
    [batchId, options.leaseMs, options.limit],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, paymentId: row.payment_id }));
}

/**
 * Writes what the facilitator said, and when it may be asked again. A reference, once known, is kept unless there is another one; an
 * answer of /settle that comes after an id of its own is dropped, since from the id on its status is what counts.
 */
export async function recordAnswer(
  sql: Sql,
  batchId: string,
  ref: PaymentRef,
  answer: {
    readonly of: 'settle' | 'status';
    readonly said: NonNullable<Submission['said']>;
    readonly reference: string | null;
    readonly detail: string;
    readonly refusals: number;
    readonly dueInMs: number;
  },
): Promise<void> {
  const { of, said, reference, detail, refusals, dueInMs } = answer;
  const heard = tables
    .updateTable('facilitator_submission')
    .set({ said, detail, refusals, ...(reference === null ? {} : { reference }), answeredAt: text<Date>`now()` })
    .set({ dueAt: text<Date>`now() + make_interval(secs => ${dueInMs}::double precision / 1000)` })
    .where('tenantId', '=', ref.tenantId)
    .where('paymentId', '=', ref.paymentId)
    .where('batchId', '=', batchId);
  const isCurrent = text<boolean>`(said = 'refused' or reference is null or reference like '0x%')`;
  await run(sql, of === 'status' ? heard : heard.where(isCurrent));
}

/** Batches of a network that a facilitator carries, that are not done and that nobody holds, in any order: when there are more, each has its turn. */
export async function listOpenFacilitatorBatches(sql: Sql, network: string, limit: number): Promise<readonly string[]> {
  const batches = tables.selectFrom('settlement_batch').select('batchId').where('network', '=', network);
  const open = batches.where('relayer', '=', FACILITATOR).where('state', '=', 'open').where('heldUntil', '<=', text<Date>`now()`);
  const rows = await run(sql, open.orderBy(text`random()`).limit(limit));
  return rows.map(({ batchId }) => batchId);
}

/** Forgets what was said of a payment that goes back, and opens its batch: it is handed over again. */
export async function reopenSubmission(sql: Sql, ref: PaymentRef): Promise<void> {
  await sql.query(
    `with gone as (
       update facilitator_submission set said = null, reference = null, refusals = 0, due_at = now()
        where tenant_id = $1 and payment_id = $2 returning batch_id)
     update settlement_batch set state = 'open', closed_at = null where batch_id in (select batch_id from gone)`,
    [ref.tenantId, ref.paymentId],
  );
}

/** Which of these payments wait for an id of a facilitator: the chain will never say what became of them. */
export async function listByOwnId(sql: Sql, payments: readonly PaymentRef[]): Promise<ReadonlyMap<string, string>> {
  if (payments.length === 0) return new Map();
  const rows = await sql.query<{ payment_id: string; reference: string }>(
    `select s.payment_id, s.reference from facilitator_submission s
       join unnest($1::uuid[], $2::uuid[]) as wanted (tenant_id, payment_id) using (tenant_id, payment_id)
      where s.reference is not null and s.reference not like '0x%' and s.said <> 'refused'`,
    [payments.map((ref) => ref.tenantId), payments.map((ref) => ref.paymentId)],
  );
  return new Map(rows.map((row) => [row.payment_id, row.reference]));
}

/** True when the network has a relayer key at work, which pays out splits. */
export async function hasFlusher(sql: Sql, network: string): Promise<boolean> {
  const working = tables.selectFrom('relayer').select('address').where('network', '=', network).where('pausedReason', 'is', null);
  return (await run(sql, working.limit(1))).length > 0;
}
