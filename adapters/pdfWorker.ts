/** A thread that draws one document, so that a long one blocks nobody. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { StatementDocument } from './pdfDocument.ts';

/** Whoever waits for a short answer goes first; on a busy machine a document still gets a tenth of what a call gets. */
const PRIORITY = 10;

giveWay();
const { drawStatement } = await import('./pdfDocument.ts');
const bytes = new Uint8Array(await drawStatement(workerData as StatementDocument));
parentPort?.postMessage(bytes, [bytes.buffer]);

/** Lowers the priority of this thread alone, where threads have one of their own (Linux); elsewhere nothing. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    const [threadId] = readlinkSync('/proc/thread-self').split('/').slice(-1);
    setPriority(Number(threadId), PRIORITY);
  } catch {
    // Without /proc, or where a sandbox forbids it, the document is drawn at the usual priority.
  }
}
