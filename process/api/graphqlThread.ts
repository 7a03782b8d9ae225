/** The thread that GraphQL's questions are executed in, with its own pool of connections and nothing of the process's environment. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ReaderDeps } from '../../graphql/request/context.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import { logThrough, serve } from '../../graphql/thread/serve.ts';
import { openReadingDatabase } from '../../modules/reports/store/pools.ts';

/** How far the thread stands back. */
const NICE = 10;

/** All that the thread is told. The pepper shows owners the invitations of their members. */
export interface ThreadSettings extends Pick<ReaderDeps, 'pepper' | 'networkIds' | 'priceFloorMicro'> {
  readonly pool: Parameters<typeof openReadingDatabase>[0];
}

// On Linux 0 is the thread that calls: where cores are short, quotes and settlement come first. Elsewhere it is the whole process.
if (process.platform === 'linux') setPriority(0, NICE);
if (parentPort === null) throw new Error('this is a thread of the API');
const { pool, ...settings } = workerData as ThreadSettings;
const reading = await openReadingDatabase(pool);
const log = logThrough(parentPort);
serve(parentPort, openEngine({ ...settings, reading, log, clock: Date.now }, null), () => reading.close());
