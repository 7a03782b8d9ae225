import type { Pool, PoolClient, QueryResultRow } from 'pg';
import pg from 'pg';
import { isConflict, isDatabaseOutage, rethrow, translated } from './outage.ts';
import type { Primary } from './primary.ts';
import { clientOf, primaryOf, requirePrimary } from './primary.ts';

/**
 * Anything SQL can be sent through: the pool itself, or one client inside a database transaction. In an outage whatever it sends rejects with
 * database_unavailable (ServiceError), so that nobody who asks needs to know the driver's errors; all others come as Postgres says them.
 */
export interface Sql {
  /**
   * Rows of one statement; values are parameters, never text in the statement. With `name` Postgres parses and plans it once a
   * connection: for hot statements of one text that name their columns (`*` would break under a migration that adds one).
   */
  query<Row extends QueryResultRow>(statement: string, values?: readonly unknown[], name?: string): Promise<Row[]>;
}

/** What runs statements and database transactions: the database, or an open database transaction that others join. */
export interface Transactional extends Sql {
  /** Runs `work` whole or not at all. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** One open database: statements and database transactions over one pool of connections. */
export interface Database extends Transactional {
  readonly pool: Pool;
  /**
   * Runs `work` in one database transaction, READ COMMITTED unless said otherwise; commits when it returns, rolls back
   * when it throws. No network call belongs inside. Deadlocks and serialization failures are run again, four times.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, isolation?: Isolation): Promise<T>;
  /**
   * The same in fewer round trips, READ COMMITTED: the statements that `work` sends at once travel with `begin`, those that the function it
   * returns sends at once travel with `commit`. So the first ones must do no harm outside of a transaction, should `begin` alone fail (what
   * is sent after any of their answers is refused then), and the last ones are all sent before any of them is waited for: whatever is to
   * keep the transaction from being committed fails in Postgres. Rejects when one of them fails; nothing stands then.
   */
  shortTransaction<T>(work: (sql: Sql) => Promise<() => Promise<T>>): Promise<T>;
  close(): Promise<void>;
}

/** Isolation levels in use: claims READ COMMITTED, reports REPEATABLE READ (safety 23). */
export type Isolation = 'read committed' | 'repeatable read read only';

/** How to open a database. */
export interface DatabaseOptions {
  /** Of one host, or of a primary and its standbys (db/primary.ts). */
  readonly url: string;
  readonly poolSize?: number;
  readonly statementTimeoutMs?: number;
  readonly applicationName?: string;
  /** Statements every new connection begins with, for example `set jit = off`. */
  readonly session?: string;
  /** DATABASE_STATEMENT_NAMES; true unless told. */
  readonly statementNames?: boolean;
  /**
   * Statements that are sent without waiting go out at once, each still on its own: `shortTransaction` is short by it. Not for a pool that
   * streams: a pipelined connection is never cut in the middle of what nobody reads. False unless told.
   */
  readonly pipelined?: boolean;
  /** Told each time a transaction lost a deadlock or a serialization conflict. */
  readonly onConflict?: () => void;
  /** Told each time Postgres had no room for a statement: its disk is full. */
  readonly onDiskFull?: () => void;
}

const RETRIES = 4;

/**
 * A connection that nobody uses stays open for so long: to open one takes milliseconds of this process (SCRAM) and of Postgres (a fork), all of
 * them when callers come back after a pause, which is when most is asked at once.
 */
const IDLE_MS = 300_000;

const DATE = 1082;
/** A `date` is the day it names, as text, which is what its entity says: the driver's own `Date` is midnight wherever the process runs. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === DATE ? String : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Opens the database; nothing is created or changed. Throws when it cannot be reached. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { session } = options;
  const primary = primaryOf(options.url);
  await primary?.find();
  const onConnect = async (client: pg.ClientBase): Promise<void> => {
    if (primary !== null) await requirePrimary(client, primary);
    if (session !== undefined) await client.query(session);
  };
  const pool = new pg.Pool({
    ...(primary === null ? { connectionString: options.url } : { Client: clientOf(primary) }),
    min: 0,
    max: options.poolSize ?? 10,
    application_name: options.applicationName ?? 'content-settlement',
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    pipeline: options.pipelined ?? false,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: IDLE_MS,
    types: TYPES,
    ...(primary === null && session === undefined ? {} : { onConnect }),
  });
  // A connection that the server drops is gone from the pool by then, and its statement rejects: an event nobody hears would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  // A statement that failed with its connection leaves no event of the connection.
  if (primary !== null) pool.on('release', (error) => (isDatabaseOutage(error) ? primary.doubt() : undefined));
  await pool.connect().then(
    (client) => client.release(),
    async (error: Error) => {
      await pool.end();
      throw error;
    },
  );
  const run = runner(options.statementNames ?? true, options.onDiskFull);
  const lease = (): Promise<PoolClient> => (primary === null ? pool.connect() : leaseFrom(pool, primary)).catch(rethrow);
  const connect: Connect = async () => {
    const client = await lease();
    return { connection: options.pipelined === true ? client : inTurn(client), release: (broken) => client.release(broken) };
  };
  return {
    pool,
    query: (statement, values, name) =>
      primary === null ? run(pool, statement, values, name) : onLease(lease, (client) => run(client, statement, values, name)),
    transaction: (work, isolation) => retryConflicts(() => attemptTransaction(connect, run, work, isolation), options.onConflict),
    shortTransaction: (work) => retryConflicts(() => attemptShort(connect, run, work), options.onConflict),
    close: () => pool.end(),
  };
}

/**
 * An open database transaction in the shape that services take: what they do in a transaction of their own becomes part of this
 * one, and is committed or rolled back with it.
 */
export function joinTransaction(sql: Sql): Transactional {
  return { query: (...given) => sql.query(...given), transaction: (work) => work(sql) };
}

/**
 * A connection to the primary. When none can be had, the primary may be another server by now: it is looked for, and asked once. A pool that is
 * full says nothing of the server.
 */
async function leaseFrom(pool: Pool, primary: Primary): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (!isDatabaseOutage(error)) throw error;
    const found = primary.find();
    if (pool.totalCount >= pool.options.max) {
      found.catch(() => undefined);
      throw error;
    }
    await found;
    return pool.connect();
  }
}

/** One statement on a connection of its own; the pool forgets a connection on which it failed. */
async function onLease<T>(lease: () => Promise<PoolClient>, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await lease();
  try {
    const value = await work(client);
    client.release();
    return value;
  } catch (error) {
    client.release(error as Error);
    throw error;
  }
}

/** What takes statements, one connection or any of the pool. */
type Connection = Pick<PoolClient, 'query'>;

/** Takes a connection out of the pool, until it is given back. */
type Connect = () => Promise<{ readonly connection: Connection; release(broken?: Error): void }>;

/**
 * A connection that is not pipelined, for work that asks several things at once: each statement is sent when the one before was answered. The
 * driver queues for us no longer from its next version on. Everything sent through the connection goes this way.
 */
export function inTurn(client: PoolClient): Connection {
  let before: Promise<unknown> = Promise.resolve();
  const query = (...given: Parameters<PoolClient['query']>): Promise<unknown> => {
    const answer = before.then(() => client.query(...given));
    before = answer.catch(() => undefined);
    return answer;
  };
  return { query: query as PoolClient['query'] };
}

type Run = <Row extends QueryResultRow>(
  target: Connection,
  statement: string,
  values?: readonly unknown[],
  name?: string,
) => Promise<Row[]>;

/** SQLSTATE of a full disk. */
const DISK_FULL = '53100';

function runner(isNamed: boolean, onDiskFull?: () => void): Run {
  return async <Row extends QueryResultRow>(
    target: Connection,
    statement: string,
    values: readonly unknown[] = [],
    name?: string,
  ) => {
    const query = { text: statement, values: [...values] };
    try {
      return (await target.query<Row>(isNamed && name !== undefined ? { ...query, name } : query)).rows;
    } catch (error) {
      if ((error as { code?: unknown }).code === DISK_FULL) onDiskFull?.();
      throw translated(error);
    }
  };
}

/** Runs work that is whole in itself again, four times at most, when it lost a deadlock or a serialization conflict. */
export async function retryConflicts<T>(work: () => Promise<T>, onConflict?: () => void): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error)) throw error;
      onConflict?.();
      if (attempt > RETRIES) throw error;
    }
  }
}

function attemptTransaction<T>(connect: Connect, run: Run, work: (sql: Sql) => Promise<T>, isolation?: Isolation): Promise<T> {
  return withConnection(connect, async (client) => {
    await client.query(isolation ? `begin isolation level ${isolation}` : 'begin').catch(rethrow);
    const value = await work({ query: (statement, values, name) => run(client, statement, values, name) });
    await client.query('commit').catch(rethrow);
    return value;
  });
}

function attemptShort<T>(connect: Connect, run: Run, work: (sql: Sql) => Promise<() => Promise<T>>): Promise<T> {
  return withConnection(connect, async (client) => {
    let refusal: Error | null = null;
    const sql: Sql = {
      query: (statement, values, name) => (refusal ? Promise.reject(refusal) : run(client, statement, values, name)),
    };
    const begun = client.query('begin');
    begun.catch((error: unknown) => {
      refusal = translated(error) as Error;
    });
    const last = await work(sql);
    await begun.catch(rethrow); // answered before all that `work` waited for
    const written = last();
    refusal = new Error('a statement came after its commit');
    const [value] = await Promise.all([written, client.query('commit').catch(rethrow)]);
    return value;
  });
}

/** Runs a database transaction on a connection of its own, and rolls it back when `attempt` throws. */
async function withConnection<T>(connect: Connect, attempt: (client: Connection) => Promise<T>): Promise<T> {
  const { connection: client, release } = await connect();
  let broken: Error | undefined;
  try {
    return await attempt(client);
  } catch (error) {
    await client.query('rollback').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    release(broken);
  }
}

/** Rejects, as an outage, while the database takes no writes: it is a standby, or was told to be read-only. */
export async function requireWritable(sql: Sql): Promise<void> {
  const [row] = await sql.query<{ state: string }>("select current_setting('transaction_read_only') as state");
  if (row?.state !== 'off') throw Object.assign(new Error('the database takes no writes'), { code: '25006' });
}
