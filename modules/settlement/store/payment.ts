import type { Sql } from '../../../db/database.ts';
import { hexOf } from '../../../db/hex.ts';
import { finalWithBatch } from '../../../db/paymentStates.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import { unseenLists } from '../../../db/unseen.ts';
import type { Address, Leg } from '../../kernel/money/legs.ts';
import type { EvidenceRef, PaymentFacts } from '../../kernel/payment/state.ts';
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

/** Columns that a licence is fixed in. */
const LICENCE = ['licenceJti', 'licenceIssuedAt', 'licenceExpiresAt', 'licenceKid'] as const;

/** What `paymentFromRow` reads, of `payment_intake as i join payment_state as s using (tenant_id, payment_id)`. */
const PAYMENT = both(
  both(
    columnsOf('payment_state s', [
      ...(['tenantId', 'paymentId', 'payerKind', 'state', 'batchId', 'batchSize', 'attempts', 'reason', 'rawReason'] as const),
      ...(['sentence', 'recorded', 'failureObserved', 'forgone', 'watched', 'successorId', 'unusedAtBlock', 'txHash'] as const),
      ...(['logPosition', 'blockNumber', 'decidedAt'] as const),
      ...LICENCE,
    ]),
    columnsOf('payment_intake i', [
      ...(['mode', 'network', 'asset', 'payer', 'payTo', 'nonce', 'validAfter', 'validBefore', 'signature'] as const),
      ...(['x402Version', 'host', 'slug', 'resource', 'resourceKey', 'kind', 'amountMicro', 'legs', 'legWords'] as const),
      ...(['router', 'binding', 'purpose', 'accountId', 'licenceOfferId', 'agent', 'repeatsLicence', 'acceptedAt'] as const),
      ...(['at', 'waitMs', 'licenceSeconds', 'signingKid'] as const),
    ]),
  ),
  // When its batch became final and it with it; what was just written is not.
  workedOut<{ readonly finalWithBatch: Date | null }>(`${finalWithBatch('s')} as "finalWithBatch"`),
);
/** Its select list. */
export const PAYMENT_COLUMNS = PAYMENT.text;
/** Its row. */
export type PaymentRow = RowOf<typeof PAYMENT>;

/** The stored form of legs: amounts as text, since JSON numbers are not exact. */
export function legsToRows(legs: readonly StoredLeg[]): readonly object[] {
  return legs.map((leg) => ({ ...leg, amountMicro: leg.amountMicro.toString() }));
}

/** A payment from its row. */
export function paymentFromRow(row: PaymentRow): Payment {
  return {
    tenantId: row.tenantId,
    paymentId: row.paymentId,
    mode: row.mode,
    network: row.network,
    asset: row.asset,
    payer: row.payer,
    payTo: row.payTo,
    nonce: row.nonce,
    validAfter: BigInt(row.validAfter),
    validBefore: BigInt(row.validBefore),
    signature: hexOf(row.signature),
    payerKind: row.payerKind,
    x402Version: row.x402Version,
    host: row.host,
    slug: row.slug,
    resource: row.resource,
    resourceKey: row.resourceKey,
    kind: row.kind,
    amountMicro: BigInt(row.amountMicro),
    legs: row.legs.map((leg) => ({ ...leg, amountMicro: BigInt(leg.amountMicro) })),
    legWords: row.legWords,
    router: row.router,
    binding: row.binding,
    purpose: row.purpose,
    accountId: row.accountId,
    licenceOfferId: row.licenceOfferId,
    agent: row.agent,
    facts: factsFromRow(row),
    batchSize: row.batchSize,
    rawReason: row.rawReason,
    sentence: row.sentence,
    successorId: row.successorId,
    repeatsLicence: row.repeatsLicence,
    unusedAtBlock: row.unusedAtBlock === null ? null : BigInt(row.unusedAtBlock),
    acceptedAt: row.acceptedAt,
    at: row.at,
    decidedAt: row.decidedAt,
    licence: licenceFromRow(row),
    awaited: awaitedFromRow(row),
  };
}

function awaitedFromRow({ waitMs, licenceSeconds: lifeSeconds, signingKid: kid }: PaymentRow): AwaitedLicence | null {
  return waitMs && lifeSeconds && kid ? { waitMs, lifeSeconds, kid } : null;
}

function factsFromRow(row: PaymentRow): PaymentFacts {
  const isFinal = row.state === 'final' || row.finalWithBatch !== null;
  return {
    state: isFinal ? 'final' : row.state,
    batchId: row.batchId,
    attempts: row.attempts,
    reason: row.reason,
    recorded: row.recorded,
    failureObserved: row.failureObserved,
    forgone: row.forgone,
    watched: row.watched && !isFinal,
    evidence: evidenceFromRow(row),
  };
}

/** What proves a payment, from its row; null without evidence. */
export function evidenceFromRow(row: Pick<PaymentRow, 'txHash' | 'logPosition' | 'blockNumber'>): EvidenceRef | null {
  const { txHash, logPosition: logIndex, blockNumber: block } = row;
  return txHash === null || logIndex === null || block === null ? null : { txHash, logIndex, blockNumber: BigInt(block) };
}

function licenceFromRow(row: Pick<PaymentRow, (typeof LICENCE)[number]>): StoredLicence | null {
  if (row.licenceJti === null || row.licenceKid === null) return null;
  return {
    jti: row.licenceJti,
    issuedAtSeconds: Number(row.licenceIssuedAt),
    expiresAtSeconds: Number(row.licenceExpiresAt),
    kid: row.licenceKid,
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

const FIXED = columnsOf('payment_state s', ['paymentId', ...LICENCE]);

/**
 * Fixes the licences of payments where none is fixed yet, and returns the ones that stand, in the order given: the first caller's, for
 * every caller (compare and set, safety 13). Rows are locked in key order.
 */
export async function fixLicences(
  sql: Sql,
  entries: readonly { readonly ref: PaymentRef; readonly licence: StoredLicence }[],
): Promise<readonly StoredLicence[]> {
  const first = [...new Map(entries.toReversed().map((entry) => [entry.ref.paymentId, entry])).values()];
  const rows = await sql.query<RowOf<typeof FIXED>>(
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
     returning ${FIXED.text}`,
    [
      first.map(({ ref }) => ref.tenantId),
      first.map(({ ref }) => ref.paymentId),
      first.map(({ licence }) => licence.jti),
      first.map(({ licence }) => licence.issuedAtSeconds),
      first.map(({ licence }) => licence.expiresAtSeconds),
      first.map(({ licence }) => licence.kid),
    ],
  );
  const fixed = new Map(rows.map((row) => [row.paymentId, licenceFromRow(row)]));
  return entries.map(({ ref }) => {
    const licence = fixed.get(ref.paymentId);
    if (!licence) throw new Error('a settled payment has no row');
    return licence;
  });
}
