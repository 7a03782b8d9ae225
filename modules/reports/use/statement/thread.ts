/** A thread that draws statements, one after another, so that a long one blocks nobody. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { parentPort } from 'node:worker_threads';
import type { FromDrawing, ToDrawing } from './messages.ts';
import type { PageLine, TransactionLine, WalletLine } from './report.ts';

/** A caller of a short answer goes first; on a busy machine a document still gets a tenth of what a call gets. */
const PRIORITY = 10;

giveWay();
const { drawStatement } = await import('../../../../platform/pdf/draw.ts');
const { csvHeader, exportRows } = await import('../exportRows.ts');
const { documentOf } = await import('./document.ts');
while (parentPort) await draw(parentPort);

async function draw(port: MessagePort): Promise<void> {
  const tell = (message: FromDrawing, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  const lists = { pages: [] as PageLine[], wallets: [] as WalletLine[], transactions: [] as TransactionLine[] };
  const next = async (): Promise<ToDrawing> => ((await once(port, 'message')) as [ToDrawing])[0];
  let message = await next();
  // One stream: what it remembers of wallets and amounts it remembers from piece to piece.
  async function* rows(): AsyncGenerator<Buffer> {
    while (message.kind === 'rows') {
      yield Buffer.from(message.rows.buffer);
      tell({ kind: 'more' });
      message = await next();
    }
  }
  const hash = createHash('sha256').update(csvHeader());
  for await (const piece of exportRows(rows())) hash.update(piece);
  while (message.kind === 'pages' || message.kind === 'wallets' || message.kind === 'transactions') {
    (lists[message.kind] as unknown[]).push(...message.lines);
    tell({ kind: 'more' });
    message = await next();
  }
  if (message.kind !== 'report') throw new Error('rows came after the lists');
  const { report, mostRows } = message;
  const { pages, wallets, transactions } = report;
  const whole = {
    ...report,
    pages: { ...pages, lines: lists.pages },
    wallets: { ...wallets, lines: lists.wallets },
    transactions: { ...transactions, lines: lists.transactions },
  };
  const csv = mostRows === null ? null : { digest: hash.digest('hex'), mostRows };
  const bytes = new Uint8Array(await drawStatement(documentOf(whole, csv)));
  const { used_heap_size: heap, external_memory: outside } = getHeapStatistics();
  tell({ kind: 'drawn', bytes, heldBytes: heap + outside }, [bytes.buffer]);
}

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
