/** What Postgres counted of a load: WAL, statements, updates of rows. */
import pg from 'pg';

/** Counts since the database was made. */
export interface Counts {
  /** Bytes of WAL, full pages after a checkpoint included. */
  readonly walBytes: number;
  /** Statements of the service, begin and commit included. */
  readonly statements: number;
}

/** Updates of rows since the database was made. */
export interface Updates {
  readonly updates: number;
  /** Those that changed no index. */
  readonly hot: number;
  /** The same of the payments' own tables. */
  readonly paymentUpdates: number;
  readonly paymentHot: number;
}

/** Reads the counters of one database. */
export interface Counters {
  counts(): Promise<Counts>;
  /** Processes of Postgres tell them when they have been idle for ten seconds at the latest. */
  updates(): Promise<Updates>;
  /** Looks at all tables, as autovacuum does within a minute where the service runs for longer than a bench. */
  analyze(): Promise<void>;
  close(): Promise<void>;
}

const COUNTS = `select (pg_current_wal_insert_lsn() - '0/0')::float8 as "walBytes", (select sum(calls)::float8 from pg_stat_statements
  where dbid = (select oid from pg_database where datname = current_database()) and userid = 'svc_app'::regrole) as statements`;
const UPDATES = `select coalesce(sum(n_tup_upd), 0)::float8 as updates, coalesce(sum(n_tup_hot_upd), 0)::float8 as hot,
  coalesce(sum(n_tup_upd) filter (where relname like 'payment%'), 0)::float8 as "paymentUpdates",
  coalesce(sum(n_tup_hot_upd) filter (where relname like 'payment%'), 0)::float8 as "paymentHot"
  from pg_stat_user_tables where relname <> 'each_payment'`;

/** Counters of the database at `superUrl`; the caller closes them. */
export async function openCounters(superUrl: string): Promise<Counters> {
  const client = new pg.Client({ connectionString: superUrl });
  await client.connect();
  await client.query('create extension if not exists pg_stat_statements');
  return {
    counts: async () => (await client.query<Counts>(COUNTS)).rows[0] as Counts,
    updates: async () => (await client.query<Updates>(UPDATES)).rows[0] as Updates,
    analyze: async () => void (await client.query('analyze')),
    close: () => client.end(),
  };
}
