/** The thread that GraphQL's questions are executed in, with its own pool of connections and nothing of the process's environment. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openReplicas } from '../../db/replicas.ts';
import type { ReaderDeps } from '../../graphql/request/context.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import { logThrough, serve } from '../../graphql/thread/serve.ts';
import { openReadingDatabase } from '../../modules/reports/store/pools.ts';

/** How far the thread stands back. */
const NICE = 10;

/** All that the thread is told. The pepper shows owners the invitations of their members. */
export interface ThreadSettings extends Pick<ReaderDeps, 'pepper' | 'networkIds' | 'priceFloorMicro'> {
  readonly pool: Parameters<typeof openReadingDatabase>[0];
  /** URLs of standbys; none unless told. */
  readonly readUrls?: readonly string[];
}

// On Linux 0 is the thread that calls: where cores are short, quotes and settlement come first. Elsewhere it is the whole process.
if (process.platform === 'linux') setPriority(0, NICE);
if (parentPort === null) throw new Error('this is a thread of the API');
const { pool, readUrls = [], ...settings } = workerData as ThreadSettings;
const reading = await openReadingDatabase(pool);
const replicas = openReplicas({ urls: readUrls, primary: reading, open: (url) => openReadingDatabase({ ...pool, url }) });
const log = logThrough(parentPort);
const close = async (): Promise<void> => {
  await Promise.all([replicas.close(), reading.close()]);
};
serve(
  parentPort,
  openEngine({ ...settings, reading, ...(readUrls.length === 0 ? {} : { replicas }), log, clock: Date.now }, null),
  close,
);
