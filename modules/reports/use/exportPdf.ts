import type { HeavyWork } from '../../../platform/pacing/heavy.ts';
import { openReadSnapshot } from '../store/snapshot.ts';
import { MAX_EXPORT_ROWS, newestLegs } from './exportCsv.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { frameOf } from './request.ts';
import type { Drawing } from './statement/drawing.ts';
import { startDrawing } from './statement/drawing.ts';
import { readStatement } from './statement/read.ts';

/** Rows are handed over in pieces of about this size: Postgres sends them by a few kilobytes, and each piece takes two turns of the loop. */
const PIECE_BYTES = 65_536;

/**
 * A window's statement as a PDF, of the whole site or of one author (what legs that name him come to, and nothing of anybody else): totals,
 * pages, wallets, transactions, all from one snapshot; a site's tells the digest of the CSV of the same window. It is drawn in a thread.
 * Throws throttled, overloaded and database_unavailable, and not_found for an author the site does not know.
 */
export async function exportPdf(
  deps: ReportDeps & { readonly heavy: HeavyWork; readonly startDrawing?: () => Drawing },
  site: ReportSite & { readonly keyId: string },
  asked: AskedWindow & { readonly authorId: string | null; readonly timeZone: string },
  gone?: AbortSignal,
): Promise<ReportFrame & { readonly bytes: Uint8Array }> {
  const { giveBack } = await deps.heavy.beginFile(site, gone);
  let drawing: Drawing | null = null;
  try {
    const frame = frameOf(deps, site, asked);
    const { authorId, timeZone } = asked;
    const snapshot = await openReadSnapshot(deps.database);
    let found: Awaited<ReturnType<typeof readStatement>>;
    try {
      found = await readStatement(snapshot, { site, authorId, frame, timeZone });
      drawing = (deps.startDrawing ?? startDrawing)();
      if (authorId === null) {
        const rows = newestLegs(snapshot, site.tenantId, frame.window);
        for await (const piece of inPieces(rows, PIECE_BYTES)) await drawing.addRows(piece);
      }
    } finally {
      await snapshot.close();
    }
    return { ...frame, bytes: await drawing.draw(found, authorId === null ? MAX_EXPORT_ROWS : null) };
  } finally {
    await drawing?.end();
    giveBack();
  }
}

/** The same bytes in fewer pieces, each as large as told or a little larger. */
async function* inPieces(pieces: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    kept.push(piece);
    length += piece.length;
    if (length < bytes) continue;
    yield Buffer.concat(kept);
    [kept, length] = [[], 0];
  }
  if (length > 0) yield Buffer.concat(kept);
}
