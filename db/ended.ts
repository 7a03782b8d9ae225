import type { Sql } from './database.ts';

/** Until when each kind of row was of use. */
export interface Ended {
  /** Proofs and challenges that were used, and scopes of access tokens: past this, they are void anyway. */
  readonly tokensBefore: Date;
  /** Request keys are honoured for a day. */
  readonly keysBefore: Date;
  /** Strikes count for an hour (safety 19). */
  readonly strikesBefore: Date;
}

/** Deletes rows that nothing asks for any more, of every site; how many. Nothing of money is among them. Again: nothing. */
export async function forgetEnded(sql: Sql, { tokensBefore, keysBefore, strikesBefore }: Ended): Promise<number> {
  const gone = [
    await sql.query('delete from used_proof where expires_at < $1 returning 1', [tokensBefore]),
    await sql.query('delete from access_scope where expires_at < $1 returning 1', [tokensBefore]),
    await sql.query('delete from used_sign_in where expires_at < $1 returning 1', [tokensBefore]),
    await sql.query('delete from sign_in_nonce where expires_at < $1 returning 1', [tokensBefore]),
    await sql.query('delete from idempotency_key where created_at < $1 returning 1', [keysBefore]),
    await sql.query('delete from payer_strike where last_at < $1 returning 1', [strikesBefore]),
  ];
  return gone.reduce((sum, rows) => sum + rows.length, 0);
}
