import type { Sql } from '../../../db/database.ts';
import { hexOf } from '../../../db/hex.ts';
import { finalWithBatch } from '../../../db/paymentStates.ts';
import { unseenLists } from '../../../db/unseen.ts';
import type { FailureReason } from '../../kernel/errors.ts';
import type { Address, Leg } from '../../kernel/money/legs.ts';
import type { EvidenceRef, PaymentFacts, PaymentState } from '../../kernel/payment/state.ts';
import type { CrossingKind, ObservedAgent } from '../../kernel/terms.ts';

/** A `0x` hex string. */
type Hex = `0x${string}`;

/** Names one payment; every statement about it carries the tenant. */
export interface PaymentRef {
  readonly tenantId: string;
  readonly paymentId: string;
}

/** The name of a payment, without the rest of its row: what workflows and batches are given. */
export function refOf({ tenantId, paymentId }: PaymentRef): PaymentRef {
  return { tenantId, paymentId };
}

/** A leg as stored with a payment: with its share of the price, 0 … 1. */
export interface StoredLeg extends Leg {
  readonly share: number;
}

/** What the observations of a payment say of the agent. */
export interface StoredAgent extends ObservedAgent {
  /** The normalised label reports group by. */
  readonly label: string;
}

/** One payment as stored: its authorization, what it buys, its state, its evidence and its licence. */
export interface Payment extends PaymentRef {
  readonly mode: 'live' | 'mock';
  readonly network: string;
  readonly asset: Address;
  readonly payer: Address;
  readonly payTo: Address;
  readonly nonce: Hex;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly signature: Hex;
  readonly payerKind: 'plain' | 'contract';
  readonly x402Version: 1 | 2;
  readonly host: string;
  readonly slug: string;
  readonly resource: string;
  readonly resourceKey: string;
  readonly kind: CrossingKind;
  readonly amountMicro: bigint;
  readonly legs: readonly StoredLeg[];
  readonly legWords: readonly Hex[] | null;
  readonly router: Address;
  readonly binding: string;
  /** A licence is bought from an offer, by an account; a page by neither. */
  readonly purpose: 'page' | 'licence';
  readonly accountId: string | null;
  readonly licenceOfferId: string | null;
  readonly agent: StoredAgent;
  /** How many payments its last batch carried; null before the first. */
  readonly batchSize: number | null;
  readonly facts: PaymentFacts;
  readonly rawReason: string | null;
  readonly sentence: string | null;
  readonly successorId: string | null;
  readonly repeatsLicence: boolean;
  readonly unusedAtBlock: bigint | null;
  readonly acceptedAt: Date;
  readonly at: Date;
  readonly decidedAt: Date | null;
  readonly licence: StoredLicence | null;
  readonly awaited: AwaitedLicence | null;
}

/**
 * What the licence of a payment is made of if it settles while its caller waits, as the process said that took it in and will sign it. Null
 * where nothing of it is known: the licence is fixed when success is first answered.
 */
export interface AwaitedLicence {
  /** How long the caller waits from `acceptedAt`. */
  readonly waitMs: number;
  readonly lifeSeconds: number;
  readonly kid: string;
}

/** The licence of a payment, fixed once, when it settled or when success was first answered (safety 13). Seconds. */
export interface StoredLicence {
  readonly jti: string;
  readonly issuedAtSeconds: number;
  readonly expiresAtSeconds: number;
  readonly kid: string;
}

/** What `paymentFromRow` reads, of `payment_intake as i join payment_state as s using (tenant_id, payment_id)`. */
export const PAYMENT_COLUMNS = `s.tenant_id, s.payment_id, i.mode, i.network, i.asset, i.payer, i.pay_to, i.nonce, i.valid_after, i.valid_before,
  i.signature, s.payer_kind, i.x402_version, i.host, i.slug, i.resource, i.resource_key, i.kind, i.amount_micro, i.legs, i.leg_words, i.router,
  i.binding, i.purpose, i.account_id, i.licence_offer_id, i.agent, s.state, s.batch_id, s.batch_size, s.attempts, s.reason, s.raw_reason,
  s.sentence, s.recorded, s.failure_observed, s.forgone, s.watched, s.successor_id, i.repeats_licence, s.unused_at_block, s.tx_hash, s.log_position,
  s.block_number, i.accepted_at, i.at, s.decided_at, s.licence_jti, s.licence_issued_at, s.licence_expires_at, s.licence_kid,
  i.wait_ms, i.licence_seconds, i.signing_kid, ${finalWithBatch('s')} as final_with_batch`;

/** The row as pg gives it. */
export interface PaymentRow {
  tenant_id: string;
  payment_id: string;
  mode: 'live' | 'mock';
  network: string;
  asset: string;
  payer: string;
  pay_to: string;
  nonce: string;
  valid_after: string;
  valid_before: string;
  signature: Buffer;
  payer_kind: 'plain' | 'contract';
  x402_version: number;
  host: string;
  slug: string;
  resource: string;
  resource_key: string;
  kind: CrossingKind;
  amount_micro: string;
  legs: { toAddress: string; amountMicro: string; role: Leg['role']; authorId?: string; share: number }[];
  leg_words: string[] | null;
  router: string;
  binding: string;
  purpose: 'page' | 'licence';
  account_id: string | null;
  licence_offer_id: string | null;
  agent: StoredAgent;
  state: PaymentState;
  /** When its batch became final and it with it; what was just written is not. */
  final_with_batch?: Date | null;
  batch_id: string | null;
  batch_size: number | null;
  attempts: number;
  reason: FailureReason | null;
  raw_reason: string | null;
  sentence: string | null;
  recorded: boolean;
  failure_observed: boolean;
  forgone: boolean;
  watched: boolean;
  successor_id: string | null;
  repeats_licence: boolean;
  unused_at_block: string | null;
  tx_hash: string | null;
  log_position: number | null;
  block_number: string | null;
  accepted_at: Date;
  at: Date;
  decided_at: Date | null;
  licence_jti: string | null;
  licence_issued_at: string | null;
  licence_expires_at: string | null;
  licence_kid: string | null;
  wait_ms?: number | null;
  licence_seconds?: number | null;
  signing_kid?: string | null;
}

/** The stored form of legs: amounts as text, since JSON numbers are not exact. */
export function legsToRows(legs: readonly StoredLeg[]): readonly object[] {
  return legs.map((leg) => ({ ...leg, amountMicro: leg.amountMicro.toString() }));
}

/** A payment from its row. */
export function paymentFromRow(row: PaymentRow): Payment {
  return {
    tenantId: row.tenant_id,
    paymentId: row.payment_id,
    mode: row.mode,
    network: row.network,
    asset: row.asset as Address,
    payer: row.payer as Address,
    payTo: row.pay_to as Address,
    nonce: row.nonce as Hex,
    validAfter: BigInt(row.valid_after),
    validBefore: BigInt(row.valid_before),
    signature: hexOf(row.signature),
    payerKind: row.payer_kind,
    x402Version: row.x402_version === 1 ? 1 : 2,
    host: row.host,
    slug: row.slug,
    resource: row.resource,
    resourceKey: row.resource_key,
    kind: row.kind,
    amountMicro: BigInt(row.amount_micro),
    legs: row.legs.map((leg) => ({ ...leg, toAddress: leg.toAddress as Address, amountMicro: BigInt(leg.amountMicro) })),
    legWords: row.leg_words as Hex[] | null,
    router: row.router as Address,
    binding: row.binding,
    purpose: row.purpose,
    accountId: row.account_id,
    licenceOfferId: row.licence_offer_id,
    agent: row.agent,
    facts: factsFromRow(row),
    batchSize: row.batch_size,
    rawReason: row.raw_reason,
    sentence: row.sentence,
    successorId: row.successor_id,
    repeatsLicence: row.repeats_licence,
    unusedAtBlock: row.unused_at_block === null ? null : BigInt(row.unused_at_block),
    acceptedAt: row.accepted_at,
    at: row.at,
    decidedAt: row.decided_at,
    licence: licenceFromRow(row),
    awaited: awaitedFromRow(row),
  };
}

/** Null of a row of the view, too, which has none of it. */
function awaitedFromRow({ wait_ms: waitMs, licence_seconds: lifeSeconds, signing_kid: kid }: PaymentRow): AwaitedLicence | null {
  return waitMs && lifeSeconds && kid ? { waitMs, lifeSeconds, kid } : null;
}

function factsFromRow(row: PaymentRow): PaymentFacts {
  const isFinal = row.state === 'final' || (row.final_with_batch ?? null) !== null;
  return {
    state: isFinal ? 'final' : row.state,
    batchId: row.batch_id,
    attempts: row.attempts,
    reason: row.reason,
    recorded: row.recorded,
    failureObserved: row.failure_observed,
    forgone: row.forgone,
    watched: row.watched && !isFinal,
    evidence: evidenceFromRow(row),
  };
}

/** What proves a payment, from its row; null without evidence. */
export function evidenceFromRow(row: Pick<PaymentRow, 'tx_hash' | 'log_position' | 'block_number'>): EvidenceRef | null {
  const { tx_hash: txHash, log_position: logIndex, block_number: block } = row;
  return txHash === null || logIndex === null || block === null ? null : { txHash, logIndex, blockNumber: BigInt(block) };
}

type LicenceRow = Pick<PaymentRow, 'licence_jti' | 'licence_issued_at' | 'licence_expires_at' | 'licence_kid'>;

function licenceFromRow(row: LicenceRow): StoredLicence | null {
  if (row.licence_jti === null || row.licence_kid === null) return null;
  return {
    jti: row.licence_jti,
    issuedAtSeconds: Number(row.licence_issued_at),
    expiresAtSeconds: Number(row.licence_expires_at),
    kid: row.licence_kid,
  };
}

/** One payment of a tenant, of a closed month too; null when there is none. */
export async function findPayment(sql: Sql, ref: PaymentRef): Promise<Payment | null> {
  return (await findIn(sql, 'public', ref)) ?? findIn(sql, 'ledger', ref);
}

/** Closed months are asked last: each is opened for a question that names no time. */
async function findIn(sql: Sql, schema: 'public' | 'ledger', ref: PaymentRef): Promise<Payment | null> {
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `select ${PAYMENT_COLUMNS} from ${schema}.payment_state as s join ${schema}.payment_intake as i using (tenant_id, payment_id)
      where s.tenant_id = $1 and s.payment_id = $2`,
    [ref.tenantId, ref.paymentId],
  );
  return rows[0] ? paymentFromRow(rows[0]) : null;
}

/**
 * What was taken in with the payment that a row of `of` names. It is found by its id, with which the key begins; the site is only compared: while
 * tables are small every index that begins with the site looks as good, and a plan made then would go on to read all payments of a site.
 */
export function intakeOf(of: string): string {
  return `(select * from payment_intake
     where payment_id = ${of}.payment_id and coalesce(tenant_id, ${of}.tenant_id) = ${of}.tenant_id offset 0)`;
}

/** What became of the payment that a row of `of` names; with `lock` it is held until the database transaction ends. */
export function stateOf(of: string, lock = false): string {
  return `(select * from payment_state
     where tenant_id = ${of}.tenant_id and payment_id = ${of}.payment_id ${lock ? 'for update' : 'offset 0'})`;
}

/** Each payment once, in the order in which Postgres sorts keys. */
export function inKeyOrder(refs: readonly PaymentRef[]): readonly PaymentRef[] {
  const keyed = new Map(refs.map((ref) => [`${ref.tenantId}${ref.paymentId}`, ref]));
  return [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
}

/** The payments of a list that exist, in key order; with `lock` their states are held until the database transaction ends. */
export async function listPayments(sql: Sql, refs: readonly PaymentRef[], lock = false): Promise<Payment[]> {
  const sorted = inKeyOrder(refs);
  if (sorted.length === 0) return [];
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `select ${PAYMENT_COLUMNS} from unnest(${unseenLists(['uuid', 'uuid'])}) as wanted (tenant_id, payment_id)
       cross join lateral ${stateOf('wanted', lock)} as s cross join lateral ${intakeOf('wanted')} as i`,
    [sorted.map((ref) => ref.tenantId), sorted.map((ref) => ref.paymentId)],
    lock ? 'hold-payments' : 'list-payments',
  );
  return rows.map(paymentFromRow);
}

/** A query for the payments that one batch, named by an SQL expression, carries or carried last: its own list, less what went on. */
export function carriedBySql(columns: string, batchId: string): string {
  return `select ${columns} from settlement_batch as batch
     cross join lateral unnest(batch.tenant_ids, batch.payment_ids) as carried (tenant_id, payment_id)
     cross join lateral ${stateOf('carried')} as s cross join lateral ${intakeOf('carried')} as i
    where batch.batch_id = ${batchId} and s.batch_id = batch.batch_id`;
}

/** How many payments of a batch are on their way. */
export async function countBroadcast(sql: Sql, batchId: string): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from settlement_batch as batch
       cross join lateral unnest(batch.tenant_ids, batch.payment_ids) as carried (tenant_id, payment_id)
       cross join lateral ${stateOf('carried')} as s
      where batch.batch_id = $1 and s.batch_id = $1 and s.state = 'broadcast'`,
    [batchId],
    'count-broadcast',
  );
  return rows[0]?.count ?? 0;
}

/** The payments that a batch carries or carried last. */
export async function listBatchPayments(sql: Sql, batchId: string): Promise<Payment[]> {
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `${carriedBySql(PAYMENT_COLUMNS, '$1')} order by s.tenant_id, s.payment_id`,
    [batchId],
    'list-batch-payments',
  );
  return rows.map(paymentFromRow);
}

/**
 * Fixes the licences of payments where none is fixed yet, and returns the ones that stand, in the order given: the first caller's, for
 * every caller (compare and set, safety 13). Rows are locked in key order.
 */
export async function fixLicences(
  sql: Sql,
  entries: readonly { readonly ref: PaymentRef; readonly licence: StoredLicence }[],
): Promise<readonly StoredLicence[]> {
  const first = [...new Map(entries.toReversed().map((entry) => [entry.ref.paymentId, entry])).values()];
  const rows = await sql.query<LicenceRow & Pick<PaymentRow, 'payment_id'>>(
    `with fresh as (
       select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[], $6::text[])
         as entry (tenant_id, payment_id, jti, issued_at, expires_at, kid)
     ), held as (
       select state.tenant_id, state.payment_id from payment_state as state join fresh using (tenant_id, payment_id)
        order by state.tenant_id, state.payment_id for update of state
     )
     update payment_state as s set
       licence_issued_at = case when licence_jti is null then fresh.issued_at else licence_issued_at end,
       licence_expires_at = case when licence_jti is null then fresh.expires_at else licence_expires_at end,
       licence_kid = case when licence_jti is null then fresh.kid else licence_kid end,
       licence_jti = coalesce(licence_jti, fresh.jti)
     from fresh join held using (tenant_id, payment_id)
     where s.tenant_id = fresh.tenant_id and s.payment_id = fresh.payment_id
     returning s.payment_id, licence_jti, licence_issued_at, licence_expires_at, licence_kid`,
    [
      first.map(({ ref }) => ref.tenantId),
      first.map(({ ref }) => ref.paymentId),
      first.map(({ licence }) => licence.jti),
      first.map(({ licence }) => licence.issuedAtSeconds),
      first.map(({ licence }) => licence.expiresAtSeconds),
      first.map(({ licence }) => licence.kid),
    ],
  );
  const fixed = new Map(rows.map((row) => [row.payment_id, licenceFromRow(row)]));
  return entries.map(({ ref }) => {
    const licence = fixed.get(ref.paymentId);
    if (!licence) throw new Error('a settled payment has no row');
    return licence;
  });
}
