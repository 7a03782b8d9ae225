import type { Readable } from 'node:stream';
import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { COPY_OPTIONS } from '../../../db/copyText.ts';
import type { Database, Sql } from '../../../db/database.ts';
import { inTurn } from '../../../db/database.ts';
import { rethrow, translated } from '../../../db/outage.ts';

/** Bytes read ahead of the reader of a copy; Postgres waits with the rest. */
const READ_AHEAD_BYTES = 65_536;

/** How a copy goes. */
export interface CopyOptions {
  readonly limitMs: number;
  readonly inBackground?: boolean;
}

/** One database transaction, REPEATABLE READ and read only, that stays open while its rows are on their way to a client. */
export interface ReadSnapshot extends Sql {
  /**
   * What a select gives, in the format of db/copyText.ts, at the reader's pace; nothing else can be asked until its end. COPY takes no
   * parameters: `select` has its values as literals (db/literals.ts). The whole of it, a slow reader's pauses included, is one
   * statement: after `limitMs` Postgres ends it (query_canceled). `inBackground`: on one core at most. Throws unless every byte was
   * read.
   */
  copy(select: string, options: CopyOptions): AsyncIterable<Buffer>;
  /** Ends the transaction and gives the connection back; in the middle of a copy it cuts the connection. A second call does nothing. */
  close(): Promise<void>;
}

/** Opens a snapshot: every statement sees the same rows. The caller closes it, on every path. Rejects in an outage as `Database` does, here and in all it gives. */
export async function openReadSnapshot(database: Database): Promise<ReadSnapshot> {
  const client = await database.pool.connect().catch(rethrow);
  const turns = inTurn(client);
  let isOpen = true;
  let isCopying = false;
  async function* copy(select: string, { limitMs, inBackground = false }: CopyOptions): AsyncGenerator<Buffer> {
    isCopying = true;
    const serial = inBackground ? '; set local max_parallel_workers_per_gather = 0' : '';
    try {
      await client.query(`set local statement_timeout = ${Math.trunc(limitMs)}${serial}`);
      if (!isOpen) throw new Error('the snapshot was closed');
      yield* piecesOf(client.query(copyTo(`copy (${select}) to stdout ${COPY_OPTIONS}`, { highWaterMark: READ_AHEAD_BYTES })));
    } catch (error) {
      throw translated(error);
    }
    isCopying = false;
  }
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    // Rows nobody reads would have to be read to their end before the connection can be used again.
    if (isCopying) client.release(true);
    else await release(client);
  };
  try {
    await client.query('begin isolation level repeatable read read only');
  } catch (error) {
    await close();
    throw translated(error);
  }
  return {
    query: async (statement, values = []) => (await turns.query(statement, [...values]).catch(rethrow)).rows,
    copy,
    close,
  };
}

/** The stream's bytes; an error that comes when nobody reads any more is nobody's. */
function piecesOf(stream: Readable): AsyncIterable<Buffer> {
  stream.on('error', ignore);
  return stream;
}

/** A connection lost while it waits is noticed by the next statement. */
function ignore(): void {
  return;
}

async function release(client: PoolClient): Promise<void> {
  try {
    await client.query('rollback');
    client.release();
  } catch (error) {
    client.release(error instanceof Error ? error : true);
  }
}
