import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { StatementDocument } from './pdfDocument.ts';

const MAX_MEMORY_MB = 512;

/** Draws a statement in a thread of its own, and resolves with the PDF's bytes. Rejects when it cannot be drawn. */
export async function renderStatement(statement: StatementDocument): Promise<Uint8Array> {
  const worker = new Worker(new URL('./pdfWorker.ts', import.meta.url), {
    workerData: statement,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  try {
    const [bytes] = (await once(worker, 'message')) as [Uint8Array];
    return bytes;
  } finally {
    await worker.terminate();
  }
}
