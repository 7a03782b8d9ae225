/** A thread that draws one document, so that a long one blocks nobody. */
import { parentPort, workerData } from 'node:worker_threads';
import type { StatementDocument } from './pdfDocument.ts';
import { drawStatement } from './pdfDocument.ts';

const bytes = new Uint8Array(await drawStatement(workerData as StatementDocument));
parentPort?.postMessage(bytes, [bytes.buffer]);
