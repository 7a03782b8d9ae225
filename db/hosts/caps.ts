/** Caps on host checks, in Postgres, so that they hold over restarts and over several API processes. */
import type { Database, Sql } from '../database.ts';

/** The caps; all by configuration. */
export interface HostCaps {
  /** Manual checks an account and hour: the bucket holds this many and refills evenly. */
  readonly perHour: number;
  /** Manual checks of a hostname in total while nobody proved it. */
  readonly perHost: number;
  /** Least time between two manual checks of one challenge. */
  readonly gapMs: number;
}

/** May a check be made, or in how many milliseconds to ask again. */
export type Admission = { readonly ok: true } | { readonly ok: false; readonly waitMs: number };

/** What a manual check is counted for. */
export interface CountedCheck {
  readonly tenantId: string;
  readonly host: string;
  readonly atMs: number;
}

const HOUR_MS = 3_600_000;

/**
 * Counts one manual check, or refuses it and counts nothing. Locks are taken in one order (challenge, hostname, account), so that
 * two calls at once cannot both take the last place. `waitMs` of a hostname whose total is used up leads to its next automatic
 * check, which counts toward no cap.
 */
export async function admitCheck(database: Database, check: CountedCheck, caps: HostCaps): Promise<Admission> {
  const { tenantId, host, atMs } = check;
  try {
    await database.transaction(async (sql) => {
      await keepGap(sql, check, caps.gapMs);
      const [count] = await sql.query<{ checks: number }>(
        `insert into host_caution (host, checks) values ($1, 1)
         on conflict (host) do update set checks = host_caution.checks + 1 returning checks`,
        [host],
      );
      if ((count?.checks ?? 0) > caps.perHost) throw new Refused(await untilNextCheck(sql, check));
      await takeToken(sql, { account: await accountOf(sql, tenantId), kind: 'check', perHour: caps.perHour, atMs });
    });
    return { ok: true };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, waitMs: error.waitMs };
    throw error;
  }
}

/** Gives back what `admitCheck` took, for a check that was never made because something of ours was away. */
export async function refundCheck(database: Database, check: CountedCheck, caps: HostCaps): Promise<void> {
  await database.transaction(async (sql) => {
    await refundHostTotal(sql, check.host);
    await sql.query(`update host_check_bucket set tokens = least(tokens + 1, $2) where account = $1 and kind = 'check'`, [
      await accountOf(sql, check.tenantId),
      caps.perHour,
    ]);
  });
}

/** Gives back one check of a hostname's total; the account's hour stays as it is. */
export async function refundHostTotal(sql: Sql, host: string): Promise<void> {
  await sql.query('update host_caution set checks = greatest(checks - 1, 0) where host = $1', [host]);
}

/** Takes a place for a look at a site when its challenge is opened; false when the account has looked often enough this hour. */
export async function admitLook(database: Database, check: CountedCheck, perHour: number): Promise<boolean> {
  try {
    await database.transaction(async (sql) => {
      await takeToken(sql, { account: await accountOf(sql, check.tenantId), kind: 'look', perHour, atMs: check.atMs });
    });
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

/** Ends the database transaction, so that nothing is counted. */
class Refused extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super('a cap is reached');
    this.waitMs = waitMs;
  }
}

async function keepGap(sql: Sql, { tenantId, host, atMs }: CountedCheck, gapMs: number): Promise<void> {
  const [row] = await sql.query<{ manual_check_at: Date | null }>(
    'select manual_check_at from host_challenge where tenant_id = $1 and host = $2 for update',
    [tenantId, host],
  );
  const waitMs = (row?.manual_check_at?.getTime() ?? 0) + gapMs - atMs;
  if (waitMs > 0) throw new Refused(waitMs);
  await sql.query('update host_challenge set manual_check_at = $3 where tenant_id = $1 and host = $2', [
    tenantId,
    host,
    new Date(atMs),
  ]);
}

async function untilNextCheck(sql: Sql, { tenantId, host, atMs }: CountedCheck): Promise<number> {
  const [row] = await sql.query<{ next_check_at: Date | null }>(
    'select next_check_at from host_challenge where tenant_id = $1 and host = $2',
    [tenantId, host],
  );
  return Math.max((row?.next_check_at?.getTime() ?? 0) - atMs, 60_000);
}

/** The owner of a site, who may have several: the same name of another issuer is somebody else. The site itself where no owner is known. */
async function accountOf(sql: Sql, tenantId: string): Promise<string> {
  const [row] = await sql.query<{ account: string }>(
    `select coalesce('owner:' || coalesce(owner_issuer || ' ', '') || owner_user_id, 'tenant:' || tenant_id) as account from tenant where tenant_id = $1`,
    [tenantId],
  );
  return row?.account ?? `tenant:${tenantId}`;
}

async function takeToken(
  sql: Sql,
  { account, kind, perHour, atMs }: { account: string; kind: 'check' | 'look'; perHour: number; atMs: number },
): Promise<void> {
  await sql.query(
    `insert into host_check_bucket (account, kind, tokens, filled_at) values ($1, $2, $3, $4)
     on conflict (account, kind) do nothing`,
    [account, kind, perHour, new Date(atMs)],
  );
  const [bucket] = await sql.query<{ tokens: number; filled_at: Date }>(
    'select tokens, filled_at from host_check_bucket where account = $1 and kind = $2 for update',
    [account, kind],
  );
  const filledAtMs = bucket?.filled_at.getTime() ?? atMs;
  const refilled = (Math.max(0, atMs - filledAtMs) * perHour) / HOUR_MS;
  const tokens = Math.min(perHour, (bucket?.tokens ?? 0) + refilled);
  // A hair under one is one: refilling is floating point, and a client that waits as told must be let in.
  if (tokens < 1 - 1e-6) throw new Refused(Math.ceil(((1 - tokens) * HOUR_MS) / perHour));
  await sql.query('update host_check_bucket set tokens = $3, filled_at = $4 where account = $1 and kind = $2', [
    account,
    kind,
    Math.max(0, tokens - 1),
    new Date(Math.max(atMs, filledAtMs)),
  ]);
}
