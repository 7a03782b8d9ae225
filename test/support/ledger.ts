/** Rows as the finalising transaction leaves them, for tests of what comes after it. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Sql } from '../../db/database.ts';
import { json, run, tables } from '../../db/statement.ts';

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

/** Of each leg. */
const SHARE = 0.5;

/** An active tenant with one host. */
export async function insertTenant(sql: Sql, host = 'alpha.example'): Promise<string> {
  const tenantId = randomUUID();
  await run(sql, tables.insertInto('tenant').values({ tenantId, status: 'active', plan: 'studio', priceUsdc: '0.001' }));
  await run(sql, tables.insertInto('tenant_host').values({ tenantId, host }));
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

function shown(row: CrossingRow, sign: number) {
  return row.legs.map(({ toAddress, amountMicro, ...leg }) => ({
    ...leg,
    toAddress: toAddress as `0x${string}`,
    amountMicro: String(sign * amountMicro),
    role: 'author' as const,
    share: SHARE,
  }));
}

async function insertOne(sql: Sql, row: CrossingRow, paymentId: string, sequence: number): Promise<string> {
  const crossingId = randomUUID();
  const sign = sequence % 2 === 0 ? 1 : -1;
  const micro = sign * row.legs.reduce((sum, leg) => sum + leg.amountMicro, 0);
  const at = new Date(Date.now() - (row.secondsAgo ?? 0) * 1_000);
  const host = row.host ?? 'alpha.example';
  const kind = row.kind ?? 'read';
  const sold = { tenantId: row.tenantId, crossingId, paymentId, host, slug: 'solo', kind, at };
  const legs = json(shown(row, sign));
  await run(
    sql,
    tables
      .insertInto('crossing')
      .values({ ...sold, sequence, micro: String(micro), legs, payer: '0xpayer', agent: 'other', recordedAt: at }),
  );
  for (const [ordinal, { toAddress, amountMicro, authorId = null }] of row.legs.entries()) {
    const paid = { toAddress, amountMicro: String(sign * amountMicro), role: 'author', authorId, share: SHARE } as const;
    await run(sql, tables.insertInto('leg').values({ ...sold, ...paid, ordinal }));
  }
  const { tenantId } = row;
  const waiting = { tenantId, crossingId, host, recordedAt: at, crossingIds: [crossingId] };
  await run(sql, tables.insertInto('unannounced_crossing').values(waiting));
  return crossingId;
}
