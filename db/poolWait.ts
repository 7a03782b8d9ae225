import type { Pool, PoolClient } from 'pg';

type Done = (error: Error | undefined, client: PoolClient | undefined, release: (destroy?: unknown) => void) => void;

/** How many connections of a pool are in use, how many are not, and what waits for one. */
export interface PoolUse {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/**
 * Tells how long each piece of work waited, in milliseconds, that met a full pool: also when it gave up. Work that finds a connection,
 * or opens one, is not told of. Call it once for a pool.
 */
export function tellWaits(pool: Pool, told: (ms: number) => void): void {
  const connect = pool.connect.bind(pool) as (done?: Done) => Promise<PoolClient>;
  const watched = (done?: Done): Promise<PoolClient> => {
    const isFull = pool.idleCount === 0 && pool.totalCount >= pool.options.max;
    if (!isFull) return connect(done);
    const startedMs = performance.now();
    const end = (): void => told(performance.now() - startedMs);
    if (done === undefined) return connect().finally(end);
    return connect((...given) => {
      end();
      done(...given);
    });
  };
  pool.connect = watched as Pool['connect'];
}

/** As it is now; costs nothing. */
export function poolUse(pool: Pool): PoolUse {
  const { totalCount, idleCount, waitingCount } = pool;
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}
