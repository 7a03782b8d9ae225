import { setTimeout } from 'node:timers/promises';
import { Zip, ZipPassThrough } from 'fflate';
import { csvRows } from '../../../platform/csv.ts';
import type { FilePlace, HeavyPiece, HeavyWork } from '../../../platform/pacing/heavy.ts';
import { siteName } from '../../../platform/pacing/heavy.ts';
import { isServiceError, ServiceError } from '../../kernel/errors.ts';
import { formatUsdc } from '../../kernel/money/money.ts';
import { openReadSnapshot } from '../store/snapshot.ts';
import type { GroupTotals } from './earnings.ts';
import { BYTE_ORDER_MARK } from './exportCsv.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { frameOf } from './request.ts';
import { startDrawing } from './statement/drawing.ts';
import type { StatementOf } from './statement/read.ts';
import { readStatement } from './statement/read.ts';
import { sumAuthors } from './statements.ts';
import { shownWallet } from './wallet.ts';

/** Most documents of one archive: each is drawn when its turn comes, and takes a core for some tens of milliseconds. */
export const MAX_ZIP_STATEMENTS = 200;

/** Of an author’s name in that of a file. */
const MOST_NAME_CHARS = 80;

/** An archive on its way; `chunks` are made at the client's pace. Its caller closes it, on every path. */
export interface ZipExport extends ReportFrame {
  /** How many archives all statements of the window are. */
  readonly parts: number;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Aborted when another file took its place. */
  readonly cut: AbortSignal;
  close(): Promise<void>;
}

/** How long until a turn that was refused is asked for again, ms. */
const AGAIN_MS = 1_000;

/** An author with all wallets of theirs. */
interface Author {
  readonly authorId: string;
  /** The name of the document in the archive. */
  readonly file: string;
}

type Site = ReportSite & { readonly keyId: string };

/**
 * The statements of a window as a ZIP: `statements.csv` with what each wallet was paid, and a PDF of each author whom the credits name, those with the most
 * money first, 200 authors an archive; `part` says which, from 1. Each is what `exportPdf` makes, and takes a turn of its own, for which it waits as long
 * as its client does. Throws throttled, overloaded and database_unavailable before anything is sent, and invalid_parameter for a part that is not
 * there. `gone`: its client is.
 */
export async function exportZip(
  deps: ReportDeps & { readonly heavy: HeavyWork },
  site: Site,
  asked: AskedWindow & { readonly part: number; readonly timeZone: string },
  gone?: AbortSignal,
): Promise<ZipExport> {
  const place = await deps.heavy.beginFile(site, gone);
  try {
    const now = frameOf(deps, site, asked);
    // One end for all documents, however long they take.
    const frame = { ...now, window: { ...now.window, toMs: now.window.toMs ?? now.generatedAtMs } };
    const sums = await deps.database.transaction((sql) => sumAuthors(sql, site.tenantId, frame.window));
    const authors = authorsOf(sums);
    const parts = zipParts(authors.length);
    if (asked.part > parts) {
      throw new ServiceError('invalid_parameter', `part: must be 1 to ${parts}`, { parameter: 'part' });
    }
    const these = authors.slice((asked.part - 1) * MAX_ZIP_STATEMENTS, asked.part * MAX_ZIP_STATEMENTS);
    place.endTurn();
    const over = AbortSignal.any([place.cut, ...(gone ? [gone] : [])]);
    const documents = drawEach(deps, site, { frame, authors: these, timeZone: asked.timeZone }, over);
    const close = async (): Promise<void> => place.giveBack();
    return {
      ...frame,
      parts,
      chunks: atPace(place, archive(indexOf(sums, authors), documents, frame.generatedAtMs), close),
      cut: place.cut,
      close,
    };
  } catch (error) {
    place.giveBack();
    throw error;
  }
}

/** How many archives the documents of so many authors whom credits name are; one, with `statements.csv` alone, for none. */
export function zipParts(authors: number): number {
  return Math.max(1, Math.ceil(authors / MAX_ZIP_STATEMENTS));
}

function atPace(place: FilePlace, chunks: AsyncGenerator<Uint8Array>, close: () => Promise<void>): AsyncIterable<Uint8Array> {
  return place.readAtPace(closeAtEnd(chunks, close), close);
}

/** Gives the place back before the end is told, so that a client that read to the end may ask for the next file at once. */
async function* closeAtEnd(chunks: AsyncGenerator<Uint8Array>, close: () => Promise<void>): AsyncGenerator<Uint8Array> {
  yield* chunks;
  await close();
}

/** Authors whom credits name, in the order of their largest wallet; each document has a name that every file system takes. */
function authorsOf(sums: readonly GroupTotals[]): readonly Author[] {
  const authors = [...new Set(sums.flatMap(({ authorId }) => authorId ?? []))];
  const width = String(authors.length).length;
  return authors.map((authorId, n) => {
    const name = authorId
      .toWellFormed()
      .replaceAll(/[^\p{L}\p{M}\p{N} ._-]/gu, '_')
      .slice(0, MOST_NAME_CHARS);
    return { authorId, file: `${String(n + 1).padStart(width, '0')}-${name}.pdf` };
  });
}

/** What each wallet was paid, and the document that says more. */
function indexOf(sums: readonly GroupTotals[], authors: readonly Author[]): string {
  const files = new Map(authors.map(({ authorId, file }) => [authorId, file]));
  const rows = sums.map(({ key, authorId, reads, citations, grossMicro }) => [
    authorId ?? '',
    shownWallet(key),
    String(reads),
    String(citations),
    String(grossMicro),
    formatUsdc(grossMicro),
    authorId === null ? '' : (files.get(authorId) ?? ''),
  ]);
  return `${BYTE_ORDER_MARK}${csvRows([['author_id', 'wallet', 'reads', 'citations', 'amount_micro', 'amount_usdc', 'document'], ...rows])}`;
}

/** The documents one after the other, each in a turn of the site's, from a snapshot of its own. */
async function* drawEach(
  deps: ReportDeps & { readonly heavy: HeavyWork },
  site: Site,
  { frame, authors, timeZone }: Pick<StatementOf, 'frame' | 'timeZone'> & { readonly authors: readonly Author[] },
  over: AbortSignal,
): AsyncGenerator<{ readonly name: string; readonly bytes: Uint8Array }> {
  for (const { authorId, file } of authors) {
    const endTurn = await waitForTurn(deps.heavy, { kind: 'reports', who: site.keyId, of: siteName(site.tenantId) }, over);
    const bytes = await drawOne(deps, { site, authorId, frame, timeZone }).finally(endTurn);
    yield { name: file, bytes };
  }
}

/** A turn, however long it takes: half of an archive was sent, and cannot be refused any more. Throws throttled when it is `over`. */
async function waitForTurn(heavy: HeavyWork, piece: HeavyPiece, over: AbortSignal): Promise<() => void> {
  for (;;) {
    try {
      return await heavy.enter(piece, over);
    } catch (error) {
      if (over.aborted || !isServiceError(error) || error.code !== 'throttled') throw error;
      await setTimeout(AGAIN_MS, undefined, { signal: over }).catch(() => undefined); // `enter` says that it is over
    }
  }
}

async function drawOne({ database }: ReportDeps, of: StatementOf): Promise<Uint8Array> {
  const snapshot = await openReadSnapshot(database);
  const report = await readStatement(snapshot, of).finally(() => snapshot.close());
  const drawing = startDrawing();
  return await drawing.draw(report, null).finally(() => drawing.end());
}

/** A ZIP of a text and of documents, which are compressed as they are, in pieces as they come. */
async function* archive(
  index: string,
  documents: AsyncIterable<{ readonly name: string; readonly bytes: Uint8Array }>,
  madeAtMs: number,
): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    ready.push(chunk);
  });
  const add = (name: string, bytes: Uint8Array): void => {
    const entry = new ZipPassThrough(name);
    entry.mtime = madeAtMs;
    zip.add(entry);
    entry.push(bytes, true);
  };
  const take = (): Uint8Array[] => {
    const taken = ready;
    ready = [];
    return taken;
  };
  add('statements.csv', new TextEncoder().encode(index));
  yield* take();
  for await (const { name, bytes } of documents) {
    add(name, bytes);
    yield* take();
  }
  zip.end();
  yield* take();
}
