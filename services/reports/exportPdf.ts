import { openReadSnapshot } from '../../db/reports/snapshot.ts';
import { atDatabase } from '../outage.ts';
import { MAX_EXPORT_ROWS, newestLegs } from './exportCsv.ts';
import type { ExportSlots } from './exportSlots.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { frameOf } from './request.ts';
import type { Drawing } from './statement/drawing.ts';
import { startDrawing } from './statement/drawing.ts';
import { readStatement } from './statement/read.ts';

/**
 * A window's statement as a PDF, of the whole site or of one author (what legs that name him come to, and nothing of anybody else): totals,
 * pages, wallets, transactions, all from one snapshot; a site's tells the digest of the CSV of the same window. It is drawn in a thread.
 * Throws throttled, overloaded and database_unavailable, and not_found for an author the site does not know.
 */
export async function exportPdf(
  deps: ReportDeps & { readonly exports: ExportSlots; readonly startDrawing?: () => Drawing },
  site: ReportSite & { readonly keyId: string },
  asked: AskedWindow & { readonly authorId: string | null },
): Promise<ReportFrame & { readonly bytes: Uint8Array }> {
  const giveBack = deps.exports.take(site, { isDrawn: true });
  let drawing: Drawing | null = null;
  try {
    const frame = frameOf(deps, site, asked);
    const { authorId } = asked;
    const read = await atDatabase(async () => {
      const snapshot = await openReadSnapshot(deps.database);
      try {
        const found = await readStatement(snapshot, { site, authorId, frame });
        const started = (deps.startDrawing ?? startDrawing)();
        drawing = started;
        if (authorId === null) {
          for await (const rows of newestLegs(snapshot, site.tenantId, frame.window)) await started.addRows(rows);
        }
        return { found, started };
      } finally {
        await snapshot.close();
      }
    });
    return { ...frame, bytes: await read.started.draw(read.found, authorId === null ? MAX_EXPORT_ROWS : null) };
  } finally {
    await (drawing as Drawing | null)?.end();
    giveBack();
  }
}
