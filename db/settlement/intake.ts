import type { GuardDecision, Sibling } from '../../domain/payment/guard.ts';
import type { PaymentState } from '../../domain/payment/state.ts';
import type { Database, Sql } from '../database.ts';
import type { Payment } from './payment.ts';
import { findPayment, legsToJson } from './payment.ts';

/** A payment before its first row: everything but what happens to it later. */
export type NewPayment = Omit<
  Payment,
  'facts' | 'rawReason' | 'sentence' | 'successorId' | 'repeatsLicence' | 'acceptedAt' | 'at' | 'decidedAt' | 'licence'
> & { readonly keyId: string | null; readonly quoteId: string };

/** What intake found: a first row, or an earlier one of the same authorization (whoever's it is). */
export type Intake =
  | { readonly kind: 'inserted'; readonly payment: Payment }
  | { readonly kind: 'known'; readonly payment: Payment };

/** The payment that holds an authorization, of any tenant; null when it was never shown to us. */
export async function findByAuthorization(
  sql: Sql,
  claim: { readonly network: string; readonly asset: string; readonly payer: string; readonly nonce: string },
): Promise<Payment | null> {
  const rows = await sql.query<{ tenant_id: string; payment_id: string }>(
    'select tenant_id, payment_id from authorization_claim where network = $1 and asset = $2 and payer = $3 and nonce = $4',
    [claim.network, claim.asset, claim.payer, claim.nonce],
  );
  const row = rows[0];
  return row ? findPayment(sql, { tenantId: row.tenant_id, paymentId: row.payment_id }) : null;
}

/**
 * Stores a payment before anything leaves the process (invariant 2), in one database transaction: the purchase row is
 * locked, the authorization claimed, the guard asked, the row written. A second call with the same authorization inserts
 * nothing and returns the first row (invariant 1).
 */
export async function insertPayment(
  database: Database,
  payment: NewPayment,
  guard: (siblings: readonly Sibling[], sql: Sql) => GuardDecision | Promise<GuardDecision>,
): Promise<Intake> {
  return database.transaction(async (sql) => {
    await lockPurchases(sql, [payment]);
    const claimed = await sql.query(
      `insert into authorization_claim (network, asset, payer, nonce, tenant_id, payment_id)
       values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning 1`,
      [payment.network, payment.asset, payment.payer, payment.nonce, payment.tenantId, payment.paymentId],
    );
    if (claimed.length === 0) {
      const known = await findByAuthorization(sql, payment);
      if (!known) throw new Error('an authorization claim has no payment');
      return { kind: 'known', payment: known };
    }
    const decision = await guard(await listSiblings(sql, payment), sql);
    await insertRow(sql, payment, decision);
    await rememberSplit(sql, payment);
    const inserted = await findPayment(sql, payment);
    if (!inserted) throw new Error('a payment just inserted has no row');
    return { kind: 'inserted', payment: inserted };
  });
}

/** What a purchase is keyed by. */
export interface PurchaseKey {
  readonly tenantId: string;
  readonly payer: string;
  readonly resourceKey: string;
  readonly kind: string;
}

/** Locks the purchase rows of a list in key order, making those that are missing (safety 14). */
export async function lockPurchases(sql: Sql, keys: readonly PurchaseKey[]): Promise<void> {
  const sorted = [...new Map(keys.map((key) => [purchaseText(key), key]))].sort(([a], [b]) => (a < b ? -1 : 1));
  const list = sorted.map(([, key]) => key);
  if (list.length === 0) return;
  await sql.query(
    `insert into open_purchase (tenant_id, payer, resource_key, kind)
     select tenant_id, payer, resource_key, kind
       from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) with ordinality
            as purchase (tenant_id, payer, resource_key, kind, position)
      order by position
     on conflict (tenant_id, payer, resource_key, kind) do update set kind = excluded.kind`,
    [list.map((k) => k.tenantId), list.map((k) => k.payer), list.map((k) => k.resourceKey), list.map((k) => k.kind)],
  );
}

/** One text for one purchase. */
export function purchaseText(key: PurchaseKey): string {
  return JSON.stringify([key.tenantId, key.payer, key.resourceKey, key.kind]);
}

async function listSiblings(sql: Sql, payment: NewPayment): Promise<Sibling[]> {
  const rows = await sql.query<{
    payment_id: string;
    state: PaymentState;
    amount_micro: string;
    decided_at: Date | null;
    licence_expires_at: string | null;
  }>(
    `select payment_id, state, amount_micro, decided_at, licence_expires_at from payment
      where tenant_id = $1 and payer = $2 and resource_key = $3 and kind = $4 and mode = $5 and purpose = $6
        and state in ('accepted', 'broadcast', 'review', 'settled', 'final')
        and (state in ('accepted', 'broadcast', 'review') or decided_at > now() - interval '2 hours')
      order by accepted_at desc`,
    [payment.tenantId, payment.payer, payment.resourceKey, payment.kind, payment.mode, payment.purpose],
  );
  return rows.map((row) => ({
    paymentId: row.payment_id,
    state: row.state,
    amountMicro: BigInt(row.amount_micro),
    decidedAtMs: row.decided_at?.getTime() ?? null,
    licenceExpiresAtSeconds: row.licence_expires_at === null ? null : Number(row.licence_expires_at),
  }));
}

async function insertRow(sql: Sql, payment: NewPayment, decision: GuardDecision): Promise<void> {
  const superseded = decision.state === 'superseded' ? decision : null;
  await sql.query(
    `insert into payment (tenant_id, payment_id, mode, network, asset, payer, pay_to, nonce, valid_after, valid_before,
       signature, lane, x402_version, host, slug, resource, resource_key, kind, amount_micro, legs, leg_words, router,
       binding, agent, key_id, state, successor_id, repeats_licence, decided_at, unused_at_block,
       purpose, account_id, licence_offer_id, settler)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
       $25, $26, $27, $28, case when $29 then now() end, $30, $31, $32, $33, case when $3 = 'mock' then 'mock' else 'relayer' end)`,
    [
      ...[payment.tenantId, payment.paymentId, payment.mode, payment.network, payment.asset, payment.payer, payment.payTo],
      ...[payment.nonce, payment.validAfter.toString(), payment.validBefore.toString(), payment.signature, payment.lane],
      ...[payment.x402Version, payment.host, payment.slug, payment.resource, payment.resourceKey, payment.kind],
      ...[payment.amountMicro.toString(), legsToJson(payment.legs), payment.legWords, payment.router, payment.binding],
      ...[JSON.stringify(payment.agent), payment.keyId, decision.state, superseded?.successorId ?? null],
      ...[superseded?.repeatsLicence ?? false, superseded !== null, payment.unusedAtBlock?.toString() ?? null],
      ...[payment.purpose, payment.accountId, payment.licenceOfferId],
    ],
  );
}

/** Remembers a split for the flusher, whoever pays it later (safety 4). */
async function rememberSplit(sql: Sql, payment: NewPayment): Promise<void> {
  if (!payment.legWords) return;
  await sql.query(`insert into split (network, router, pay_to, leg_words) values ($1, $2, $3, $4) on conflict do nothing`, [
    payment.network,
    payment.router,
    payment.payTo,
    payment.legWords,
  ]);
}

/** The payment a request key was first used with, within a day; remembers this one when there is none. */
export async function rememberRequestKey(
  sql: Sql,
  entry: { readonly tenantId: string; readonly key: string; readonly requestHash: string },
): Promise<'same' | 'other'> {
  const rows = await sql.query<{ request_hash: string }>(
    `insert into idempotency_key (tenant_id, key, request_hash) values ($1, $2, $3)
     on conflict (tenant_id, key) do update set
       request_hash = case when idempotency_key.created_at < now() - interval '24 hours'
         then excluded.request_hash else idempotency_key.request_hash end,
       created_at = case when idempotency_key.created_at < now() - interval '24 hours'
         then now() else idempotency_key.created_at end
     returning request_hash`,
    [entry.tenantId, entry.key, entry.requestHash],
  );
  return rows[0]?.request_hash === entry.requestHash ? 'same' : 'other';
}
