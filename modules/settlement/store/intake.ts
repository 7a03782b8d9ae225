import { hash } from 'node:crypto';
import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { bytesOf } from '../../../db/hex.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { sameText } from '../../../db/sameText.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf } from '../../../db/shown.ts';
import { run, tables } from '../../../db/statement.ts';
import { lockAccounts } from '../../budgets/store/budgets.ts';
import type { DecidedSpendings, SpendingRefusal } from '../../budgets/store/spending.ts';
import { decideSpendings } from '../../budgets/store/spending.ts';
import { LEADING_STATES, newPayment, SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { GuardDecision, Sibling } from '../rules/guard.ts';
import { ACCEPTED_CHANNEL } from './announce.ts';
import { buyerOf, lockPurchases } from './lock.ts';
import { countOwed, IS_OWED } from './owed.ts';
import type { AwaitedLicence, Payment, PaymentRef, PaymentRow } from './payment.ts';
import { legsToRows, PAYMENT_COLUMNS, paymentFromRow, stateOf } from './payment.ts';
import { returnPayments } from './returning.ts';

/** A payment before its first row: everything but what happens to it later. */
export type NewPayment = Omit<
  Payment,
  | 'facts'
  | 'batchSize'
  | 'rawReason'
  | 'sentence'
  | 'successorId'
  | 'repeatsLicence'
  | 'acceptedAt'
  | 'at'
  | 'decidedAt'
  | 'licence'
  | 'awaited'
> & {
  readonly awaited?: AwaitedLicence;
  readonly keyId: string | null;
  readonly quoteId: string;
  /** Gas it needs at most in a batch of its own. */
  readonly plannedGas: bigint;
  /** The accounts that it counts against: the one that buys, and the one whose wallet pays; none unless told. */
  readonly spenders?: readonly string[];
  /** True where its money moved before it was stored; false unless told. */
  readonly hasMoved?: boolean;
};

/** What is taken in with a payment and never changes. */
const INTAKE = [
  ...(['tenant_id', 'payment_id', 'mode', 'network', 'asset', 'payer', 'pay_to', 'nonce', 'valid_after'] as const),
  ...(['valid_before', 'signature', 'x402_version', 'host', 'slug', 'resource', 'resource_key', 'kind', 'purpose'] as const),
  ...(['amount_micro', 'legs', 'leg_words', 'router', 'binding', 'agent', 'key_id', 'account_id', 'licence_offer_id'] as const),
  ...(['repeats_licence', 'planned_gas', 'wait_ms', 'licence_seconds', 'signing_kid'] as const),
] as const;
/** What becomes of it begins with these. */
const STATE = [
  ...(['tenant_id', 'payment_id', 'network', 'mode', 'payer', 'pay_to', 'planned_gas', 'payer_kind', 'state'] as const),
  ...(['successor_id', 'unused_at_block', 'forgone'] as const),
] as const;

/**
 * What intake found: a first row, an earlier one of the same authorization (of any site), a budget that refuses it, or a request key that
 * belongs to another authorization.
 */
export type Intake =
  | { readonly kind: 'key_taken'; readonly key: string }
  | { readonly kind: 'inserted'; readonly payment: Payment }
  | { readonly kind: 'known'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly refusal: SpendingRefusal };

/** The payment that holds an authorization, of any tenant; null when it was never shown to us. */
export async function findByAuthorization(sql: Sql, claim: AuthorizationKey): Promise<Payment | null> {
  const [payment = null] = await listByAuthorization(sql, [claim]);
  return payment;
}

/** A payment to be stored, and who decides what it becomes, under the lock of its purchase. */
export interface IntakeItem {
  readonly payment: NewPayment;
  readonly guard: (siblings: readonly Sibling[], sql: Sql) => GuardDecision | Promise<GuardDecision>;
  /** The request keys that it was shown with; with its row they become those of its authorization, for a day. None unless told. */
  readonly requestKeys?: readonly string[];
  /** The trace that it belongs to (W3C Trace Context), continued by the worker that sends it. */
  readonly trace?: string | null;
}

/**
 * Stores payments before anything leaves the process (invariant 2), in one database transaction: their purchases are locked, the
 * authorizations claimed, the guards asked, the rows written. No two may be of one purchase or of one request key. An authorization that was
 * stored before inserts nothing and gives its first row (invariant 1). Accounts that they count against and then request keys are locked before
 * everything else: who holds a key waits for no account, or a payment of none that names it would wait, too. What a key or a budget refuses claims
 * nothing, and a key is written with the row alone. Answers in the order given.
 * Two round trips to Postgres, one more where an authorization was stored before or a request key is named, and two more for payments of accounts,
 * with or without a key.
 */
export async function insertPayments(database: Database, all: readonly IntakeItem[]): Promise<readonly Intake[]> {
  return database.shortTransaction(async (sql) => {
    const spending = all.map(({ payment }) => payment).filter(({ spenders }) => spenders?.length);
    const [, takenKeys, stored] = await Promise.all([
      lockSpenders(sql, spending),
      lockRequestKeys(sql, all),
      spending.length === 0 ? [] : listByAuthorization(sql, spending),
    ]);
    const free = all.filter(({ payment }) => !takenKeys.has(payment.paymentId));
    const isFresh = ({ paymentId }: NewPayment, at: number): boolean => stored[at] === null && !takenKeys.has(paymentId);
    const { refusals, write } = await budgetsOf(sql, spending.filter(isFresh));
    const items = free.filter(({ payment }) => !refusals.has(payment.paymentId));
    const payments = items.map((item) => item.payment);
    // In this order: what reads the siblings begins when the locks are held, and sees whatever an earlier holder of them left.
    const [, claimed, siblings] = await Promise.all([
      lockPurchases(sql, payments),
      claimAuthorizations(sql, payments),
      listSiblings(sql, payments),
    ]);
    const decided: Decided[] = [];
    for (const { payment, guard } of items) {
      if (!claimed.has(payment.paymentId)) continue;
      decided.push({ payment, decision: await guard(siblings.get(payment.paymentId) ?? [], sql) });
    }
    const late = payments.filter(({ paymentId }) => !claimed.has(paymentId));
    const found = late.length === 0 ? [] : await listByAuthorization(sql, late);
    const known = new Map(late.map(({ paymentId }, index) => [paymentId, found[index]]));
    const winners = new Map(decided.map(({ payment }) => [authorizationText(payment), payment.paymentId]));
    for (const payment of late) {
      if (!known.get(payment.paymentId) && !winners.has(authorizationText(payment))) {
        throw new Error('an authorization claim has no payment');
      }
    }
    const trace = items.find((item) => item.trace)?.trace ?? null;
    return async () => {
      const madeIds = new Set(decided.map(({ payment }) => payment.paymentId));
      const [inserted] = await Promise.all([
        insertRows(sql, decided, trace),
        rememberSplits(sql, decided),
        rememberPurchases(sql, decided),
        countOwed(sql, decided.flatMap(owedTo)),
        writeRequestKeys(sql, keysOf(items.filter(({ payment }) => madeIds.has(payment.paymentId)))),
        write(madeIds),
      ]);
      return all.map(({ payment }) => {
        const key = takenKeys.get(payment.paymentId);
        if (key !== undefined) return { kind: 'key_taken', key };
        const refusal = refusals.get(payment.paymentId);
        if (refusal) return { kind: 'refused', refusal };
        const row = inserted.get(payment.paymentId);
        if (row) return { kind: 'inserted', payment: row };
        // Another one of this transaction may have come first with the same authorization: its row is the first one.
        const first = known.get(payment.paymentId) ?? inserted.get(winners.get(authorizationText(payment)) ?? '');
        return { kind: 'known', payment: first as Payment };
      });
    };
  });
}

/** The payment whose page is given once more, since it is owed. */
function owedTo({ payment: { tenantId }, decision }: Decided): readonly PaymentRef[] {
  return decision.state === 'superseded' && decision.isOwed ? [{ tenantId, paymentId: decision.successorId }] : [];
}

/** What payments would become if they were stored now, in the order given. No lock is held: what stands is decided when they are stored. */
export async function foreseePayments(sql: Sql, items: readonly IntakeItem[]): Promise<readonly GuardDecision[]> {
  const siblings = await listSiblings(
    sql,
    items.map(({ payment }) => payment),
  );
  return Promise.all(items.map(({ payment, guard }) => guard(siblings.get(payment.paymentId) ?? [], sql)));
}

const NOTHING_SPENT: DecidedSpendings = { refusals: new Map(), write: () => Promise.resolve() };

/** Locks the accounts that payments count against until the database transaction ends, in one order. */
async function lockSpenders(sql: Sql, payments: readonly NewPayment[]): Promise<void> {
  const accounts = [...new Set(payments.flatMap(({ spenders = [] }) => spenders))].toSorted();
  if (accounts.length > 0) await lockAccounts(sql, accounts);
}

/** What budgets say to fresh payments of accounts, which are locked; one that was stored before is none of theirs, and is found again by its claim. */
async function budgetsOf(sql: Sql, fresh: readonly NewPayment[]): Promise<DecidedSpendings> {
  if (fresh.length === 0) return NOTHING_SPENT;
  return decideSpendings(
    sql,
    fresh.map(({ spenders: accounts = [], hasMoved = false, ...payment }) => ({ ...payment, accounts, hasMoved })),
  );
}

/** A payment whose authorization is claimed, and what it becomes. */
interface Decided {
  readonly payment: NewPayment;
  readonly decision: GuardDecision;
}

/** Claims authorizations, in the order of their digests; returns the payments that got theirs. A claim without its payment is refused by the commit. */
async function claimAuthorizations(sql: Sql, payments: readonly NewPayment[]): Promise<ReadonlySet<string>> {
  const column = <T>(read: (payment: NewPayment) => T): T[] => payments.map(read);
  const rows = await sql.query<{ payment_id: string }>(
    `insert into authorization_claim (digest, tenant_id, payment_id)
     select authorization_digest(network, asset, payer, nonce), tenant_id, payment_id
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[])
         as asked (network, asset, payer, nonce, tenant_id, payment_id) order by 1
     on conflict do nothing returning payment_id`,
    [
      column((p) => p.network),
      column((p) => p.asset),
      column((p) => p.payer),
      column((p) => p.nonce),
      column((p) => p.tenantId),
      column((p) => p.paymentId),
    ],
    'claim-authorizations',
  );
  return new Set(rows.map((row) => row.payment_id));
}

/** What identifies an authorization: it settles once, across all sites. */
export interface AuthorizationKey {
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  readonly nonce: string;
}

function authorizationText({ network, asset, payer, nonce }: AuthorizationKey): string {
  return [network, asset, payer, nonce].join(' ');
}

/**
 * The payments that hold some authorizations, of any tenant, in the order asked; null for those never shown to us, and those whose month is
 * detached. One of a closed month is brought back first: what the service acts on is where it can be written.
 */
export async function listByAuthorization(sql: Sql, claims: readonly AuthorizationKey[]): Promise<readonly (Payment | null)[]> {
  const first = await readByAuthorization(sql, claims);
  await returnPayments(sql, first.closed); // or another call has just done it
  const { payments } = first.closed.length === 0 ? first : await readByAuthorization(sql, claims);
  await returnPayments(sql, payments.flatMap(successorOf));
  return payments;
}

/** The payment whose answer is that of a superseded one: it may be closed where the other is not, and its licence may be fixed only now. */
function successorOf(payment: Payment | null): readonly PaymentRef[] {
  const { tenantId, successorId = null } = payment ?? { tenantId: '' };
  return payment?.facts.state === 'superseded' && successorId !== null ? [{ tenantId, paymentId: successorId }] : [];
}

interface Held {
  readonly payments: readonly (Payment | null)[];
  /** Payments that hold an authorization and are in a closed month. */
  readonly closed: readonly PaymentRef[];
}

async function readByAuthorization(sql: Sql, claims: readonly AuthorizationKey[]): Promise<Held> {
  const column = <T>(read: (claim: AuthorizationKey) => T): T[] => claims.map(read);
  const rows = await sql.query<PaymentRow & Record<string, unknown> & { position: string; ofTenant: string; heldBy: string }>(
    `select ${PAYMENT_COLUMNS}, asked.position, claim.tenant_id as "ofTenant", claim.payment_id as "heldBy"
       from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as asked (network, asset, payer, nonce, position)
       join authorization_claim claim on claim.digest = authorization_digest(asked.network, asked.asset, asked.payer, asked.nonce)
       left join payment_state as s on s.tenant_id = claim.tenant_id and s.payment_id = claim.payment_id
       left join payment_intake as i on i.tenant_id = s.tenant_id and i.payment_id = s.payment_id`,
    [column((c) => c.network), column((c) => c.asset), column((c) => c.payer), column((c) => c.nonce)],
  );
  const [there, gone] = [rows.filter((row) => row.paymentId !== null), rows.filter((row) => row.paymentId === null)];
  const found = new Map(there.map((row) => [Number(row.position), paymentFromRow(row)]));
  return {
    payments: claims.map((_, index) => found.get(index + 1) ?? null),
    closed: gone.map((row) => ({ tenantId: row.ofTenant, paymentId: row.heldBy })),
  };
}

/**
 * What else is there of each payment's purchase, newest first, by payment id. Without a name, so that it is planned by how large tables are: on
 * empty ones an index of all payments of a site looks as good as that of its purchases.
 */
async function listSiblings(sql: Sql, payments: readonly NewPayment[]): Promise<ReadonlyMap<string, readonly Sibling[]>> {
  if (payments.length === 0) return new Map();
  const column = <T>(read: (payment: NewPayment) => T): T[] => payments.map(read);
  const byWallet = sql.query<SiblingRow>(
    `select asked_by as "askedBy", ${SIBLING.text}, coalesce(s.settled_at, s.decided_at) as "settledAt",
            i.network = own.network and ${IS_OWED} as "isOwed"
       from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::text[])
            as own (tenant_id, payer, resource_key, kind, mode, purpose, asked_by, network)
       join payment_intake as i using (tenant_id, kind, mode, purpose) cross join lateral ${stateOf('i')} as s
      where ${sameText('i.payer', 'own.payer')} and ${sameText('i.resource_key', 'own.resource_key')}
        and (s.state in (${sqlStates(LEADING_STATES)})
         or (s.state in (${sqlStates(SETTLED_STATES)}) and coalesce(s.settled_at, s.decided_at) > now() - interval '2 hours')
         or (i.network = own.network and ${IS_OWED}))
      order by i.accepted_at desc`,
    [
      column((p) => p.tenantId),
      column((p) => p.payer),
      column((p) => p.resourceKey),
      column((p) => p.kind),
      column((p) => p.mode),
      column((p) => p.purpose),
      column((p) => p.paymentId),
      column((p) => p.network),
    ],
  );
  const rows = (await Promise.all([byWallet, listOfAccounts(sql, payments)])).flat();
  const found = Map.groupBy(rows, (row) => row.askedBy);
  return new Map([...found].map(([paymentId, list]) => [paymentId, list.map(siblingFromRow)]));
}

/**
 * What is undecided of each licence purchase and paid by another wallet of its account: it stands in the account's spending. No more than
 * that account has ever begun to buy by the same request.
 */
async function listOfAccounts(sql: Sql, payments: readonly NewPayment[]): Promise<readonly SiblingRow[]> {
  const licences = payments.filter((payment) => buyerOf(payment) !== payment.payer);
  if (licences.length === 0) return [];
  const column = <T>(read: (payment: NewPayment) => T): T[] => licences.map(read);
  return sql.query<SiblingRow>(
    `select asked_by as "askedBy", ${SIBLING.text}, null::timestamptz as "settledAt", false as "isOwed"
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[])
            as own (tenant_id, account_id, resource_key, kind, payer, asked_by)
       join account_spending as spent using (tenant_id, account_id, resource_key, kind)
       join payment_intake as i using (tenant_id, payment_id)
       cross join lateral ${stateOf('i')} as s
      where i.payer <> own.payer and s.state in (${sqlStates(LEADING_STATES)})`,
    [
      column((p) => p.tenantId),
      column((p) => p.accountId),
      column((p) => p.resourceKey),
      column((p) => p.kind),
      column((p) => p.payer),
      column((p) => p.paymentId),
    ],
  );
}

const SIBLING = both(
  columnsOf('payment_intake i', ['paymentId', 'amountMicro']),
  columnsOf('payment_state s', ['state', 'licenceExpiresAt']),
);
type SiblingRow = RowOf<typeof SIBLING> & { readonly askedBy: string; readonly settledAt: Date | null; readonly isOwed: boolean };

function siblingFromRow({ paymentId, state, amountMicro, settledAt, licenceExpiresAt, isOwed }: SiblingRow): Sibling {
  return {
    paymentId,
    state,
    amountMicro: BigInt(amountMicro),
    settledAtMs: settledAt?.getTime() ?? null,
    licenceExpiresAtSeconds: licenceExpiresAt === null ? null : Number(licenceExpiresAt),
    isOwed,
  };
}

/**
 * Writes the rows of fresh payments, both of each in one statement, from one JSON list; returns them by payment id. With the commit
 * workers are told of those that may go out: once a network, since Postgres sends equal notifications of a transaction once.
 */
async function insertRows(sql: Sql, decided: readonly Decided[], trace: string | null): Promise<ReadonlyMap<string, Payment>> {
  if (decided.length === 0) return new Map();
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `with i as (
       insert into payment_intake (${INTAKE.join(', ')})
       select ${INTAKE.join(', ')} from jsonb_populate_recordset(null::payment_intake, $1) returning *
     ), s as (
       insert into payment_state (${STATE.join(', ')}, accepted_at, settler, decided_at)
       select ${STATE.join(', ')}, now(), case when mode = 'mock' then 'mock' else 'relayer' end, case when state = 'superseded' then now() end
         from jsonb_populate_recordset(null::payment_state, $1) returning *
     )
     select ${PAYMENT_COLUMNS}, case when s.state = 'accepted' and s.mode = 'live' then pg_notify($2, concat_ws(' ', s.network, $3::text)) end as told
       from i join s using (tenant_id, payment_id)`,
    [JSON.stringify(decided.map(({ payment, decision }) => rowOf(payment, decision))), ACCEPTED_CHANNEL, trace],
    'insert-payments',
  );
  return new Map(rows.map((row) => [row.paymentId, paymentFromRow(row)]));
}

function rowOf(payment: NewPayment, decision: GuardDecision): Record<(typeof INTAKE)[number] | (typeof STATE)[number], unknown> {
  const superseded = decision.state === 'superseded' ? decision : null;
  return {
    tenant_id: payment.tenantId,
    payment_id: payment.paymentId,
    mode: payment.mode,
    network: payment.network,
    asset: payment.asset,
    payer: payment.payer,
    pay_to: payment.payTo,
    nonce: payment.nonce,
    valid_after: payment.validAfter.toString(),
    valid_before: payment.validBefore.toString(),
    signature: bytesOf(payment.signature),
    payer_kind: payment.payerKind,
    x402_version: payment.x402Version,
    host: payment.host,
    slug: payment.slug,
    resource: payment.resource,
    resource_key: payment.resourceKey,
    kind: payment.kind,
    amount_micro: payment.amountMicro.toString(),
    legs: legsToRows(payment.legs),
    leg_words: payment.legWords,
    router: payment.router,
    binding: payment.binding,
    agent: payment.agent,
    key_id: payment.keyId,
    state: decision.state,
    forgone: newPayment(decision.state).forgone,
    successor_id: superseded?.successorId ?? null,
    repeats_licence: superseded?.repeatsLicence ?? false,
    unused_at_block: payment.unusedAtBlock?.toString() ?? null,
    purpose: payment.purpose,
    account_id: payment.accountId,
    licence_offer_id: payment.licenceOfferId,
    planned_gas: payment.plannedGas.toString(),
    wait_ms: payment.awaited?.waitMs ?? null,
    licence_seconds: payment.awaited?.lifeSeconds ?? null,
    signing_kid: payment.awaited?.kid ?? null,
  };
}

/** Remembers what the addresses of splits stand for; that alone has nothing paid out (`rememberSellers`, safety 4). */
async function rememberSplits(sql: Sql, decided: readonly Decided[]): Promise<void> {
  const splits = decided.filter(({ payment }) => payment.legWords).map(({ payment }) => payment);
  if (splits.length === 0) return;
  const rows = splits.map(({ network, router, payTo, legWords }) => ({ network, router, pay_to: payTo, leg_words: legWords }));
  await sql.query(
    `insert into split (network, router, pay_to, leg_words)
     select distinct on (network, router, pay_to) network, router, pay_to, leg_words
       from jsonb_to_recordset($1) as new (network text, router text, pay_to text, leg_words text[])
      order by network, router, pay_to
     on conflict do nothing`,
    [JSON.stringify(rows)],
    'remember-splits',
  );
}

/** Has each licence purchase followed by a workflow, whatever dies after the commit (`followPurchase`). One that another answered is no news. */
async function rememberPurchases(sql: Sql, decided: readonly Decided[]): Promise<void> {
  const bought = decided.filter(({ payment, decision }) => payment.purpose === 'licence' && decision.state !== 'superseded');
  if (bought.length === 0) return;
  await sql.query(
    `insert into open_purchase (tenant_id, payment_id, network)
     select * from unnest($1::uuid[], $2::uuid[], $3::text[])`,
    [
      bought.map(({ payment }) => payment.tenantId),
      bought.map(({ payment }) => payment.paymentId),
      bought.map(({ payment }) => payment.network),
    ],
  );
}

/** A request key, and the digest of the authorization that comes with it. */
interface RequestKey {
  readonly tenantId: string;
  readonly key: string;
  readonly requestHash: string;
}

/** What a request key belongs to. */
export function requestHashOf({ network, asset, payer, nonce }: AuthorizationKey): string {
  return hash('sha256', JSON.stringify([network, asset, payer, nonce]), 'hex');
}

function keysOf(items: readonly IntakeItem[]): readonly (RequestKey & { readonly paymentId: string })[] {
  return items.flatMap(({ payment, requestKeys = [] }) => {
    const { tenantId, paymentId } = payment;
    return requestKeys.map((key) => ({ tenantId, paymentId, key, requestHash: requestHashOf(payment) }));
  });
}

/** Whether a request key belongs to another authorization, of a payment taken within a day. Writes nothing. */
export async function isRequestKeyTaken(sql: Sql, { tenantId, key, requestHash }: RequestKey): Promise<boolean> {
  const rows = await run(
    sql,
    tables
      .selectFrom('idempotency_key')
      .select('key')
      .where('tenantId', '=', tenantId)
      .where('key', '=', key)
      .where('requestHash', '<>', requestHash)
      .where('createdAt', '>=', text<Date>`now() - interval '24 hours'`),
  );
  return rows.length > 0;
}

/** Locks the request keys of payments until the database transaction ends, in one order; gives those that belong to other ones, by payment id. */
async function lockRequestKeys(sql: Sql, items: readonly IntakeItem[]): Promise<ReadonlyMap<string, string>> {
  const asked = keysOf(items);
  if (asked.length === 0) return new Map();
  const lists = [asked.map((one) => one.tenantId), asked.map((one) => one.key)];
  const [, held] = await Promise.all([
    sql.query(
      `select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', tenant_id, key), 16)) from (
         select distinct tenant_id, key collate "C" as key from unnest($1::uuid[], $2::text[]) as asked (tenant_id, key) order by 1, 2) as sorted`,
      lists,
    ),
    sql.query<{ payment_id: string; key: string }>(
      `select asked.payment_id, key from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) as asked (tenant_id, key, payment_id, request_hash)
         join idempotency_key as held using (tenant_id, key)
        where held.request_hash <> asked.request_hash and held.created_at >= now() - interval '24 hours'`,
      [...lists, asked.map((one) => one.paymentId), asked.map((one) => one.requestHash)],
    ),
  ]);
  return new Map(held.map((row) => [row.payment_id, row.key]));
}

/** Writes the request keys of payments that were taken; the caller has locked them. */
async function writeRequestKeys(sql: Sql, keys: readonly RequestKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql.query(
    `insert into idempotency_key (tenant_id, key, request_hash) select * from unnest($1::uuid[], $2::text[], $3::text[])
     on conflict (tenant_id, key) do update set request_hash = excluded.request_hash, created_at = now()
       where idempotency_key.created_at < now() - interval '24 hours'`,
    [keys.map((one) => one.tenantId), keys.map((one) => one.key), keys.map((one) => one.requestHash)],
  );
}
