/** Rows as the finalising transaction leaves them, for tests of what comes after it. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Sql } from '../../db/database.ts';

/** A crossing to write; `secondsAgo` is when it was recorded. */
export interface CrossingRow {
  readonly tenantId: string;
  readonly host?: string;
  readonly kind?: 'read' | 'citation';
  readonly secondsAgo?: number;
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: number; readonly authorId?: string }[];
}

/** A crossing that was written. */
export interface WrittenCrossing {
  readonly crossingId: string;
  readonly paymentId: string;
  readonly txHash: string;
}

/** An active tenant with one host. */
export async function insertTenant(sql: Sql, host = 'alpha.example'): Promise<string> {
  const tenantId = randomUUID();
  await sql.query("insert into tenant (tenant_id, status, plan, price_usdc) values ($1, 'active', 'studio', '0.001')", [
    tenantId,
  ]);
  await sql.query('insert into tenant_host (tenant_id, host) values ($1, $2)', [tenantId, host]);
  return tenantId;
}

/** A settled payment with its crossing, legs and outbox row. */
export async function insertCrossing(sql: Sql, row: CrossingRow): Promise<WrittenCrossing> {
  const paymentId = randomUUID();
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  const micro = row.legs.reduce((sum, leg) => sum + leg.amountMicro, 0);
  const kind = row.kind ?? 'read';
  const host = row.host ?? 'alpha.example';
  await sql.query(
    `insert into test.payment (tenant_id, payment_id, network, asset, payer, pay_to, nonce, valid_after, valid_before, signature,
       x402_version, host, slug, resource, resource_key, kind, amount_micro, legs, router, binding, state, tx_hash)
     values ($1, $2, 'eip155:84532', '0xasset', '0xpayer', '0xpayto', $3, 0, 1, '0x', 2, $4, 'solo', 'https://x/solo', 'x/solo',
       $5, $6, $7, '0xrouter', 'binding', 'settled', $8)`,
    [row.tenantId, paymentId, txHash, host, kind, micro, JSON.stringify(shown(row, 1)), txHash],
  );
  const crossingId = await insertOne(sql, row, paymentId, 0);
  return { crossingId, paymentId, txHash };
}

/** The correction of a crossing: the same legs, negative. */
export async function insertCorrection(sql: Sql, row: CrossingRow, paymentId: string): Promise<string> {
  return await insertOne(sql, row, paymentId, 1);
}

function shown(row: CrossingRow, sign: number): object[] {
  return row.legs.map((leg) => ({ ...leg, amountMicro: String(sign * leg.amountMicro), role: 'author' }));
}

async function insertOne(sql: Sql, row: CrossingRow, paymentId: string, sequence: number): Promise<string> {
  const crossingId = randomUUID();
  const sign = sequence % 2 === 0 ? 1 : -1;
  const micro = sign * row.legs.reduce((sum, leg) => sum + leg.amountMicro, 0);
  const at = new Date(Date.now() - (row.secondsAgo ?? 0) * 1_000);
  const host = row.host ?? 'alpha.example';
  const kind = row.kind ?? 'read';
  await sql.query(
    `insert into crossing (tenant_id, crossing_id, payment_id, sequence, host, slug, kind, micro, legs, payer, agent, at, recorded_at)
     values ($1, $2, $3, $4, $5, 'solo', $6, $7, $8, '0xpayer', 'other', $9, $9)`,
    [row.tenantId, crossingId, paymentId, sequence, host, kind, micro, JSON.stringify(shown(row, sign)), at],
  );
  for (const [ordinal, leg] of row.legs.entries()) {
    await sql.query(
      `insert into leg (tenant_id, crossing_id, ordinal, payment_id, to_address, amount_micro, role, author_id, share, host, slug,
         kind, at)
       values ($1, $2, $3, $4, $5, $6, 'author', $7, 0.5, $8, 'solo', $9, $10)`,
      [row.tenantId, crossingId, ordinal, paymentId, leg.toAddress, sign * leg.amountMicro, leg.authorId ?? null, host, kind, at],
    );
  }
  await sql.query(
    'insert into unannounced_crossing (tenant_id, crossing_id, host, recorded_at, crossing_ids) values ($1, $2, $3, $4, array[$2::uuid])',
    [row.tenantId, crossingId, host, at],
  );
  return crossingId;
}
