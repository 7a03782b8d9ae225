/** Caps on host checks, in Postgres, so that they hold over restarts and over several API processes. */
import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';

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
      const [count] = await run(
        sql,
        tables
          .insertInto('host_caution')
          .values({ host, checks: 1 })
          .onConflict((conflict) =>
            conflict.column('host').doUpdateSet({ checks: (column) => column('host_caution.checks', '+', 1) }),
          )
          .returning('checks'),
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
    const account = await accountOf(sql, check.tenantId);
    const more = text<number>`least(tokens + 1, ${caps.perHour})`;
    await run(
      sql,
      tables.updateTable('host_check_bucket').set({ tokens: more }).where('account', '=', account).where('kind', '=', 'check'),
    );
  });
}

/** Gives back one check of a hostname's total; the account's hour stays as it is. */
export async function refundHostTotal(sql: Sql, host: string): Promise<void> {
  const fewer = text<number>`greatest(checks - 1, 0)`;
  await run(sql, tables.updateTable('host_caution').set({ checks: fewer }).where('host', '=', host));
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
  const challenge = tables.selectFrom('host_challenge').where('tenantId', '=', tenantId).where('host', '=', host);
  const [row] = await run(sql, challenge.select('manualCheckAt').forUpdate());
  const waitMs = (row?.manualCheckAt?.getTime() ?? 0) + gapMs - atMs;
  if (waitMs > 0) throw new Refused(waitMs);
  const checked = { manualCheckAt: new Date(atMs) };
  await run(sql, tables.updateTable('host_challenge').set(checked).where('tenantId', '=', tenantId).where('host', '=', host));
}

async function untilNextCheck(sql: Sql, { tenantId, host, atMs }: CountedCheck): Promise<number> {
  const [row] = await run(
    sql,
    tables.selectFrom('host_challenge').select('nextCheckAt').where('tenantId', '=', tenantId).where('host', '=', host),
  );
  return Math.max((row?.nextCheckAt?.getTime() ?? 0) - atMs, 60_000);
}

/** The owner of a site, who may have several: the same name of another issuer is somebody else. The site itself where no owner is known. */
async function accountOf(sql: Sql, tenantId: string): Promise<string> {
  const [row] = await run(
    sql,
    tables.selectFrom('tenant').select(['ownerIssuer', 'ownerUserId']).where('tenantId', '=', tenantId),
  );
  if (row === undefined || row.ownerUserId === null) return `tenant:${tenantId}`;
  return `owner:${row.ownerIssuer === null ? '' : `${row.ownerIssuer} `}${row.ownerUserId}`;
}

async function takeToken(
  sql: Sql,
  { account, kind, perHour, atMs }: { account: string; kind: 'check' | 'look'; perHour: number; atMs: number },
): Promise<void> {
  await run(
    sql,
    tables
      .insertInto('host_check_bucket')
      .values({ account, kind, tokens: perHour, filledAt: new Date(atMs) })
      .onConflict((conflict) => conflict.columns(['account', 'kind']).doNothing()),
  );
  const [bucket] = await run(
    sql,
    tables
      .selectFrom('host_check_bucket')
      .select(['tokens', 'filledAt'])
      .where('account', '=', account)
      .where('kind', '=', kind)
      .forUpdate(),
  );
  const filledAtMs = bucket?.filledAt.getTime() ?? atMs;
  const refilled = (Math.max(0, atMs - filledAtMs) * perHour) / HOUR_MS;
  const tokens = Math.min(perHour, (bucket?.tokens ?? 0) + refilled);
  // A hair under one is one: refilling is floating point, and a client that waits as told must be let in.
  if (tokens < 1 - 1e-6) throw new Refused(Math.ceil(((1 - tokens) * HOUR_MS) / perHour));
  const left = { tokens: Math.max(0, tokens - 1), filledAt: new Date(Math.max(atMs, filledAtMs)) };
  await run(sql, tables.updateTable('host_check_bucket').set(left).where('account', '=', account).where('kind', '=', kind));
}
