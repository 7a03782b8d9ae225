import { ServiceError } from '../modules/kernel/errors.ts';
import type { Database, Sql } from './database.ts';
import { isStatementTimeout } from './outage.ts';

/**
 * Reports read from standbys. Each transaction on one begins with a look, in its own snapshot, at whether it may answer: it follows the primary's
 * timeline, is not too far behind, and holds the last change of each site in question. Otherwise, and whenever it fails, the primary is asked.
 */

/** The database as one question sees it. */
export interface Reader extends Database {
  /** How far behind the primary what was read may be, in ms: 0 where the primary was asked, or a standby that held all it had. */
  readonly ageMs: () => number;
}

/** Standbys and their primary. */
export interface Replicas {
  /** For one question about these sites; it reads through one pool of a standby, or from the primary. Waits for nothing. */
  readerOf(tenantIds: readonly string[]): Reader;
  close(): Promise<void>;
}

/** What standbys are opened with. */
export interface ReplicaOptions {
  readonly urls: readonly string[];
  readonly primary: Database;
  readonly open: (url: string) => Promise<Database>;
  /** Further behind, a standby is not read. */
  readonly maxLagMs?: number;
}

const MAX_LAG_MS = 5_000;
/** How long a standby that could not answer is left alone before it is looked at again, beside any question. */
const REST_MS = 5_000;
/** A standby that says nothing for so long is away: to the look, and to all that one piece of work asks, which has limits of its own. */
const LOOK_MS = 1_000;
const WORK_MS = 15_000;

/** The last entries in the audit log of the sites: every change of an owner adds one, under the lock of its site. */
const MARK = `select md5(string_agg(concat_ws(' ', site.id, extract(epoch from newest.at), newest.entries), ',' order by site.id))
  from unnest($1::uuid[]) as site (id) left join lateral (
    select entry.at, count(*) as entries from audit_log entry where entry.tenant_id = site.id
     and entry.at = (select max(last.at) from audit_log last where last.tenant_id = site.id) group by entry.at) as newest on true`;
const POSITION = `select pg_current_wal_flush_lsn()::text as lsn, left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) as timeline,
  clock_timestamp()::text as at, (${MARK}) as mark`;
/** The timeline is that of the last restart point: one that has just followed a new primary is not read before it has made another. */
const LOOK = `select pg_is_in_recovery() as standby, coalesce(pg_last_wal_replay_lsn() >= $2::pg_lsn, false) as current,
  (extract(epoch from $3::timestamptz - pg_last_xact_replay_timestamp()) * 1000)::float8 as behind,
  lpad(upper(to_hex((pg_control_checkpoint()).timeline_id)), 8, '0') as timeline, (${MARK}) as mark`;

interface Position {
  readonly lsn: string;
  readonly timeline: string;
  readonly at: string;
  readonly mark: string | null;
}

interface Looked {
  readonly standby: boolean;
  readonly current: boolean;
  readonly behind: number | null;
  readonly timeline: string;
  readonly mark: string | null;
}

/** A standby may not answer this question. `isItsOwn`: nor any other for a while. */
class NotNow extends Error {
  readonly isItsOwn: boolean;
  constructor(isItsOwn: boolean) {
    super('the standby may not answer');
    this.isItsOwn = isItsOwn;
  }
}

/** One standby: opened and looked at beside questions, so that none waits for one that is away. */
class Replica {
  readonly #open: () => Promise<Database>;
  #opening: Promise<Database> | null = null;
  #database: Database | null = null;
  #untilMs = 0;
  #isLooking = false;

  constructor(open: () => Promise<Database>) {
    this.#open = open;
    this.#look();
  }

  /** The standby, when it answered last; else null, and it is looked at again. */
  get ready(): Database | null {
    if (this.#untilMs === Number.POSITIVE_INFINITY) return this.#database;
    if (performance.now() >= this.#untilMs) this.#look();
    return null;
  }

  rest(): void {
    this.#untilMs = performance.now() + REST_MS;
  }

  async close(): Promise<void> {
    await (await this.#opening?.catch(() => null))?.close();
  }

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const look = async (): Promise<void> => {
      this.#opening ??= this.#open().catch((error: unknown) => {
        this.#opening = null;
        throw error;
      });
      const database = await this.#opening;
      const [row] = await database.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
      if (row?.standby !== true) throw new NotNow(true);
      this.#database = database;
      this.#untilMs = Number.POSITIVE_INFINITY;
    };
    look()
      .catch(() => this.rest())
      .finally(() => {
        this.#isLooking = false;
      });
  }
}

/** Opens standbys in the background and returns at once, since they may be away. The primary stays its owner's to close. */
export function openReplicas({ urls, primary, open, maxLagMs = MAX_LAG_MS }: ReplicaOptions): Replicas {
  const replicas = urls.map((url) => new Replica(() => open(url)));
  let turn = 0;
  const readerOf = (tenantIds: readonly string[]): Reader => {
    let position: Promise<Position> | null = null;
    let isGivenUp = false;
    let ageMs = 0;
    const chosen = nextReady(replicas, turn++);
    const onReplica = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
      const database = chosen?.ready;
      if (isGivenUp || !chosen || !database) throw new NotNow(false);
      position ??= primary.query<Position & Record<string, unknown>>(POSITION, [tenantIds]).then(([row]) => row as Position);
      const asked = await position;
      return await heard((begun) =>
        database.transaction(async (sql) => {
          const [row] = await sql.query<Looked & Record<string, unknown>>(LOOK, [tenantIds, asked.lsn, asked.at]);
          begun();
          const behindMs = behindOf(row as Looked, asked, maxLagMs);
          ageMs = Math.max(ageMs, behindMs);
          return await work(sql);
        }, 'repeatable read read only'),
      );
    };
    const either = async <T>(work: (sql: Sql) => Promise<T>, onPrimary: () => Promise<T>): Promise<T> => {
      if (isGivenUp || chosen === null) return await onPrimary();
      try {
        return await onReplica(work);
      } catch (error) {
        if (isAnswer(error)) throw error;
        isGivenUp = true;
        if (!(error instanceof NotNow) || error.isItsOwn) chosen.rest();
        return await onPrimary();
      }
    };
    return {
      pool: primary.pool,
      query: (...given) =>
        either(
          (sql) => sql.query(...given),
          () => primary.query(...given),
        ),
      transaction: (work, isolation) => either(work, () => primary.transaction(work, isolation)),
      shortTransaction: (work) => primary.shortTransaction(work),
      close: () => Promise.resolve(),
      ageMs: () => Math.round(ageMs),
    };
  };
  return { readerOf, close: async () => void (await Promise.all(replicas.map((replica) => replica.close()))) };
}

/** What a standby decided by itself, took too long for, or refused as asked (classes 22 and 42): the primary would say the same. */
function isAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (typeof code === 'string' && /^(22|42)/.test(code)) return true;
  return isStatementTimeout(error) || (error instanceof ServiceError && error.code !== 'database_unavailable');
}

function nextReady(replicas: readonly Replica[], turn: number): Replica | null {
  const inTurn = replicas.map((_, n) => replicas[(turn + n) % replicas.length] as Replica);
  return inTurn.find((replica) => replica.ready !== null) ?? null;
}

/** How far behind it is. Throws NotNow where it may not answer. */
function behindOf(looked: Looked, asked: Position, maxLagMs: number): number {
  if (!looked.standby || looked.timeline !== asked.timeline) throw new NotNow(true);
  const behindMs = looked.current ? 0 : looked.behind === null ? Number.POSITIVE_INFINITY : Math.max(0, looked.behind);
  if (behindMs > maxLagMs) throw new NotNow(true);
  if (looked.mark !== asked.mark) throw new NotNow(false);
  return behindMs;
}

/** Work that must have begun in time, and ended: a standby may freeze between. What begins later fails before it reads anything. */
async function heard<T>(work: (begun: () => void) => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let isLate = false;
  const giveUp = (): void => {
    isLate = true;
    late.reject(new NotNow(true));
  };
  let timer = setTimeout(giveUp, LOOK_MS);
  const begun = (): void => {
    if (isLate) throw new NotNow(true);
    clearTimeout(timer);
    timer = setTimeout(giveUp, WORK_MS);
  };
  try {
    return await Promise.race([work(begun), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
