/** Crossings and observations as the service leaves them, many at a time, rollups included. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Database, Sql } from '../../db/database.ts';
import { crossingRollups, insertAndRollUp } from '../../modules/rollups/store/rollups.ts';
import { planForeignKeysAnew } from './sql.ts';

/** A purchase: its payment, and as many crossings as it went through (1 = settled, 2 = corrected, 3 = settled again). */
export interface Purchase {
  readonly tenantId: string;
  readonly host: string;
  readonly slug: string;
  readonly kind: 'read' | 'citation';
  readonly atMs: number;
  readonly steps: number;
  /** How much later than the one before each further crossing is, as corrections are; left out: at once. */
  readonly laterMs?: number;
  readonly payer?: string;
  /** Who must receive it; an address of no wallet unless told. */
  readonly payTo?: string;
  readonly agent?: string;
  /** The URL that was bought. */
  readonly resource?: string;
  /** True: a licence, whose slug in the ledger is that of its payment. */
  readonly isLicence?: boolean;
  readonly legs: readonly {
    readonly toAddress: string;
    readonly amountMicro: number;
    readonly authorId?: string;
    readonly role?: 'author' | 'coauthor' | 'platform';
    readonly share?: number;
  }[];
}

/** An observation to write. */
export interface Seen {
  readonly tenantId: string;
  readonly host: string;
  readonly slug: string;
  readonly verdict: string;
  readonly classifiedAs: 'human' | 'agent';
  readonly kind: 'read' | 'citation' | null;
  readonly micro: number | null;
  readonly reason: string | null;
  readonly count: 1 | -1;
  readonly paymentId: string | null;
  readonly agent: string;
  readonly agentUa: string | null;
  readonly classifyReason?: string | null;
  readonly verified: boolean | null;
  readonly verifiedAgent: string | null;
  readonly sigInvalid: boolean | null;
  readonly atMs: number;
}

/** An observation of a site: an agent was denied a read of 1,000 micro-USDC, in whatever `changes` does not say otherwise. */
export function seenOn({ tenantId, host }: Pick<Seen, 'tenantId' | 'host'>, changes: Partial<Seen> & Pick<Seen, 'atMs'>): Seen {
  return {
    tenantId,
    host,
    slug: 'solo',
    verdict: 'denied',
    classifiedAs: 'agent',
    kind: 'read',
    micro: 1_000,
    reason: null,
    count: 1,
    paymentId: null,
    agent: 'gptbot',
    agentUa: null,
    verified: null,
    verifiedAgent: null,
    sigInvalid: null,
    ...changes,
  };
}

/** Writes purchases in one database transaction and returns the ids of their payments. */
export function insertPurchases(database: Database, purchases: readonly Purchase[]): Promise<string[]> {
  const rows = purchases.map((purchase) => {
    const micro = purchase.legs.reduce((sum, leg) => sum + leg.amountMicro, 0);
    const legs = purchase.legs.map(({ amountMicro, role = 'author', share, ...leg }) => ({
      ...leg,
      role,
      amountMicro: String(amountMicro),
      share: share ?? amountMicro / micro,
    }));
    const tx = `0x${randomBytes(32).toString('hex')}`;
    const payer = purchase.payer ?? `0x${'e'.repeat(40)}`;
    const id = randomUUID();
    return {
      ...purchase,
      ...(purchase.isLicence ? { slug: `licence:${id}` } : {}),
      id,
      tx,
      payer,
      agent: purchase.agent ?? 'other',
      micro,
      legs,
      at: new Date(purchase.atMs),
    };
  });
  return database.transaction(async (sql) => {
    await planForeignKeysAnew(sql);
    await insertPayments(sql, rows);
    await sql.query(
      `with made as (
         insert into crossing (tenant_id, crossing_id, payment_id, sequence, host, slug, kind, micro, legs, payer, agent, at)
         select tenant_id, uuidv7(), payment_id, sequence, host, slug, kind, sign * micro, (
             select jsonb_agg(leg || jsonb_build_object('amountMicro', (sign * (leg ->> 'amountMicro')::bigint)::text) order by n)
             from jsonb_array_elements(legs) with ordinality as list (leg, n)
           ), payer, agent, at + sequence * coalesce(later, 0) * interval '1 millisecond'
         from (
           select "tenantId"::uuid as tenant_id, id::uuid as payment_id, sequence, 1 - 2 * (sequence % 2) as sign, host, slug, kind,
             micro, legs, payer, agent, at, "laterMs" as later
           from jsonb_to_recordset($1::jsonb) as p ("tenantId" text, id text, host text, slug text, kind text, micro bigint,
             legs jsonb, payer text, agent text, at timestamptz, steps int, "laterMs" float8), generate_series(0, steps - 1) as sequence
         ) step returning *
       ), ${crossingRollups('made')}
       insert into leg (tenant_id, crossing_id, ordinal, payment_id, to_address, amount_micro, role, author_id, share, host, slug,
         kind, at)
       select tenant_id, crossing_id, n - 1, payment_id, leg ->> 'toAddress', (leg ->> 'amountMicro')::bigint, leg ->> 'role',
         leg ->> 'authorId', (leg ->> 'share')::float8, host, slug, kind, at
       from made, jsonb_array_elements(legs) with ordinality as list (leg, n)`,
      [JSON.stringify(rows)],
    );
    return rows.map((row) => row.id);
  });
}

/** Into both tables as lists, since the trigger of `test.payment` takes a row at a time. */
async function insertPayments(sql: Sql, rows: readonly object[]): Promise<void> {
  const given = [JSON.stringify(rows)];
  await sql.query(
    `insert into payment_intake (tenant_id, payment_id, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature,
       x402_version, host, slug, resource, resource_key, kind, amount_micro, legs, router, binding, at)
     select "tenantId"::uuid, id::uuid, 'eip155:84532', '0xasset', payer, coalesce("payTo", '0xpayto'), tx, 0, 1, '0x', 2, host, slug,
       coalesce(resource, 'https://x'), 'x', kind, micro, legs, '0xrouter', 'b', at
     from jsonb_to_recordset($1::jsonb) as p ("tenantId" text, id text, tx text, host text, slug text, kind text, micro bigint,
       legs jsonb, payer text, "payTo" text, resource text, at timestamptz)`,
    given,
  );
  await sql.query(
    `insert into payment_state (tenant_id, payment_id, network, mode, payer, pay_to, planned_gas, accepted_at, state, tx_hash)
     select tenant_id, payment_id, network, mode, intake.payer, pay_to, planned_gas, accepted_at, 'settled', tx
     from jsonb_to_recordset($1::jsonb) as p ("tenantId" uuid, id uuid, tx text)
       join payment_intake as intake on tenant_id = "tenantId" and payment_id = id`,
    given,
  );
}

/** Writes observations with their rollups in one statement. */
export async function insertSeen(sql: Sql, seen: readonly Seen[]): Promise<void> {
  await insertAndRollUp(
    sql,
    `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, kind, micro, reason, count, payment_id,
       agent, agent_ua, classify_reason, verified, verified_agent, sig_invalid, at)
     select "tenantId"::uuid, uuidv7(), host, slug, verdict, "classifiedAs", kind, micro, reason, count, "paymentId"::uuid, agent,
       "agentUa", "classifyReason", verified, "verifiedAgent", "sigInvalid", to_timestamp("atMs" / 1000.0)
     from jsonb_to_recordset($1::jsonb) as o ("tenantId" text, host text, slug text, verdict text, "classifiedAs" text, kind text,
       micro bigint, reason text, count smallint, "paymentId" text, agent text, "agentUa" text, "classifyReason" text, verified bool,
       "verifiedAgent" text, "sigInvalid" bool, "atMs" float8)`,
    [JSON.stringify(seen)],
  );
}
