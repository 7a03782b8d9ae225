import type { Worker } from 'node:worker_threads';
import { ServiceError } from '../../../kernel/errors.ts';
import type { FromDrawing, ToDrawing } from './messages.ts';
import type { StatementReport } from './report.ts';
import { keepThread, takeThread } from './threads.ts';

/** From its start to the document, what the database takes for its rows included. */
const LIMIT_MS = 60_000;
/** Lines that are handed over at one time: more would keep the event loop. */
const LINES_AT_ONCE = 200;

/** How threads are started, and how long one may take. */
export interface DrawingOptions {
  /** A thread that ends with its document; unless told, one that may draw others before and after it. */
  readonly start?: () => Worker;
  readonly limitMs?: number;
}

/** A thread while it draws one statement. It is given back with `end`, and ended when it takes too long or too much memory. */
export interface Drawing {
  /** Hands over rows of the CSV whose digest the document tells, in their order; resolves when the thread has done with them. */
  readonly addRows: (rows: Buffer) => Promise<void>;
  /** The document. `mostRows` as in the CSV export; null: its digest is not told. Throws overloaded when the thread was ended. */
  readonly draw: (report: StatementReport, mostRows: number | null) => Promise<Uint8Array>;
  /** Gives the thread back, on every path; without its document it ends. A second call does nothing. */
  readonly end: () => Promise<void>;
}

/** Takes a thread for one statement; nobody else's work waits for it. */
export function startDrawing({ start, limitMs = LIMIT_MS }: DrawingOptions = {}): Drawing {
  const worker = (start ?? takeThread)();
  let answered: ((message: FromDrawing) => void) | null = null;
  let failed: ((error: Error) => void) | null = null;
  let ended: Error | null = null;
  const fail = (error: Error): void => {
    ended ??= error;
    failed?.(ended);
  };
  const timer = setTimeout(() => {
    fail(tooMuch('time'));
    void worker.terminate();
  }, limitMs);
  const hear = (message: FromDrawing): void => answered?.(message);
  const fault = (error: Error & { code?: string }): void =>
    fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch('memory') : error);
  const exit = (): void => fail(new Error('a thread ended before its document was drawn'));
  worker.on('message', hear).on('error', fault).on('exit', exit);
  let heldBytes: number | null = null;
  let isBack = false;
  const ask = async (message: ToDrawing, transfer: ArrayBuffer[] = []): Promise<FromDrawing> => {
    if (ended) throw ended;
    return await new Promise<FromDrawing>((resolve, reject) => {
      answered = resolve;
      failed = reject;
      worker.postMessage(message, transfer);
    });
  };
  return {
    addRows: async (rows) => {
      const copy = new Uint8Array(rows);
      await ask({ kind: 'rows', rows: copy }, [copy.buffer]);
    },
    draw: async (report, mostRows) => {
      for (const message of listsOf(report)) await ask(message);
      const { pages, wallets, transactions } = report;
      const head = {
        ...report,
        pages: withoutLines(pages),
        wallets: withoutLines(wallets),
        transactions: withoutLines(transactions),
      };
      const answer = await ask({ kind: 'report', report: head, mostRows });
      if (answer.kind !== 'drawn') throw new Error('a thread answered with something that is not a document');
      heldBytes = answer.heldBytes;
      return answer.bytes;
    },
    end: async () => {
      clearTimeout(timer);
      if (isBack) return;
      isBack = true;
      const isKept = start === undefined && heldBytes !== null && ended === null;
      fail(new Error('this drawing has ended'));
      if (!isKept) return void (await worker.terminate());
      worker.off('message', hear).off('error', fault).off('exit', exit);
      await keepThread(worker, heldBytes as number);
    },
  };
}

/** The lines of a report, some at a time. */
function* listsOf({ pages, wallets, transactions }: StatementReport): Generator<ToDrawing> {
  for (const lines of some(pages.lines)) yield { kind: 'pages', lines };
  for (const lines of some(wallets.lines)) yield { kind: 'wallets', lines };
  for (const lines of some(transactions.lines)) yield { kind: 'transactions', lines };
}

function* some<Line>(lines: readonly Line[]): Generator<readonly Line[]> {
  for (let from = 0; from < lines.length; from += LINES_AT_ONCE) yield lines.slice(from, from + LINES_AT_ONCE);
}

function withoutLines<List extends { readonly lines: unknown }>({ lines: _lines, ...rest }: List): Omit<List, 'lines'> {
  return rest;
}

function tooMuch(what: 'time' | 'memory'): ServiceError {
  return new ServiceError(
    'overloaded',
    `this statement needs more ${what} than one statement may use: ask for a shorter window`,
    {
      retryAfterSeconds: 60,
    },
  );
}
