import pg from 'pg';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { callChain } from '../parts/chain.ts';

/** Days ahead of its first block that the history reaches, today included. */
export const HISTORY_DAYS = 28;
const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

/** Midnight (UTC) at which the history begins, for this moment. Pure. */
export function firstDayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS) * DAY_MS - (HISTORY_DAYS - 1) * DAY_MS;
}

/** A database and a chain whose present is a moment of the past, set by hand. */
export interface Past {
  /** The service's own role; `now()`, `clock_timestamp()` and ids by time are of the moment that is set, in statements and in defaults of columns. */
  readonly database: Database;
  /** The moment that is set, epoch milliseconds. */
  readonly nowMs: () => number;
  /** Sets it: database and clock give it from now on. */
  at(ms: number): Promise<void>;
  /** The next block bears this time, the one after it is mined two seconds later: what came with the first one is safe then. */
  nextBlock(ms: number): Promise<void>;
  mine(): Promise<void>;
  /** Gives database and chain their own clocks back. Call it once, at the end. */
  end(): Promise<void>;
}

/** Where the past is. */
export interface PastPlace {
  /** As the owner of the tables. */
  readonly ownerUrl: string;
  readonly appUrl: string;
  readonly rpcUrl: string;
}

/**
 * A schema that stands before Postgres' own: statements that say `now()` find the one there, so that what the product writes at a past
 * moment is written by the product's own statements. While it is there a history is being written, or was cut short.
 */
const BEGIN = `
  create schema past;
  create unlogged table past.clock (at timestamptz not null);
  insert into past.clock values (now());
  create function past.now() returns timestamptz language sql stable as 'select at from past.clock';
  create function past.clock_timestamp() returns timestamptz language sql stable as 'select at from past.clock';
  create function past.uuidv7() returns uuid language sql volatile
    as 'select pg_catalog.uuidv7((select at from past.clock) - pg_catalog.now())';
  create table past.stated as
    select d.adrelid::regclass::text as holder, a.attname::text as name, pg_get_expr(d.adbin, d.adrelid) as said
      from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum join pg_class c on c.oid = d.adrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and pg_get_expr(d.adbin, d.adrelid) in ('now()', 'clock_timestamp()');
  grant usage on schema past to svc_app;
  grant select, update on past.clock to svc_app;
  do $$ declare one record; begin
    for one in select * from past.stated loop
      execute format('alter table %s alter column %I set default past.now()', one.holder, one.name);
    end loop; end $$;`;
const END = `
  do $$ declare one record; begin
    for one in select * from past.stated loop
      execute format('alter table %s alter column %I set default %s', one.holder, one.name, one.said);
    end loop; end $$;
  drop schema past cascade;`;
/** Reports of a past day have its partition, as they would have had. */
const PARTITIONS = `do $$ declare day date; begin
  for day in select generate_series(current_date - ${HISTORY_DAYS}, current_date - 2, interval '1 day')::date loop
    execute format('create table if not exists %I partition of observation for values from (%L) to (%L)', 'observation_' || to_char(day, 'YYYYMMDD'),
      day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
  end loop; end $$`;

/** Opens the past of a new database and of a chain that began there. */
export async function openPast({ ownerUrl, appUrl, rpcUrl }: PastPlace): Promise<Past> {
  await asOwner(ownerUrl, [PARTITIONS, BEGIN]);
  const session = 'set search_path = past, pg_catalog, public; set synchronous_commit = off';
  const database = await openDatabase({ url: appUrl, poolSize: 4, pipelined: true, applicationName: 'sandbox history', session });
  let nowMs = Date.now();
  return {
    database,
    nowMs: () => nowMs,
    at: async (ms) => {
      nowMs = ms;
      await database.query('update past.clock set at = $1', [new Date(ms)], 'set-clock');
    },
    nextBlock: async (ms) => void (await callChain(rpcUrl, 'anvil_setNextBlockTimestamp', [Math.floor(ms / SECOND_MS)])),
    mine: async () => void (await callChain(rpcUrl, 'evm_mine', [])),
    end: async () => {
      await database.close();
      await callChain(rpcUrl, 'anvil_setTime', [Math.floor(Date.now() / SECOND_MS)]);
      await callChain(rpcUrl, 'evm_mine', []); // a node whose newest block is old counts as frozen
      await asOwner(ownerUrl, [END]);
    },
  };
}

async function asOwner(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
