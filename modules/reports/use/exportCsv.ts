import { isStatementTimeout } from '../../../db/outage.ts';
import { zoneNamed } from '../../../platform/calendar.ts';
import type { HeavyWork } from '../../../platform/pacing/heavy.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Span } from '../../kernel/time/window.ts';
import { listWallets } from '../store/earnings/authors.ts';
import type { ExportScope } from '../store/earnings/exportLegs.ts';
import { countLegs, streamLegs } from '../store/earnings/exportLegs.ts';
import type { ReadSnapshot } from '../store/snapshot.ts';
import { openReadSnapshot } from '../store/snapshot.ts';
import { csvHeader, exportRows } from './exportRows.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { frameOf } from './request.ts';

/** Most rows of an export. */
export const MAX_EXPORT_ROWS = 50_000;

/**
 * A download ends with its rows, or broken after so long: it holds a snapshot of the database and a place of its process. The pool's
 * own limit is for statements that nobody's line slows down.
 */
const MAX_DOWNLOAD_MS = 600_000;
/**
 * How long a download counts as heavy work of its site. All rows there may be take a second; one that is not done then waits for its client,
 * costs little at a time, and must not keep the site from its reports.
 */
const MAX_TURN_MS = 2_000;

/** A spreadsheet takes a file without it for another encoding; programs take it for a part of the first column's name. */
export const BYTE_ORDER_MARK = '\ufeff';

/** Which rows a CSV holds besides the window: the filters of earnings, each null or left out where there is none. */
export interface CsvFilters extends Omit<ExportScope, 'tenantId' | 'wallets' | 'host' | 'kind'> {
  readonly host?: string | null;
  readonly kind?: string | null;
  /** An author's id: the legs of all wallets of theirs, as earnings count them. */
  readonly authorId?: string | null;
  /** A wallet, in lower case: its legs. */
  readonly wallet?: string | null;
}

/** A CSV on its way; `chunks` are read at the client's pace. The caller closes it, on every path. */
export interface CsvExport extends ReportFrame {
  /** Rows the file holds, without its header. */
  readonly rowCount: number;
  /** True when the window has more rows than a file may hold. */
  readonly isCut: boolean;
  readonly chunks: AsyncIterable<string | Uint8Array>;
  /** Aborted when another file took its place. */
  readonly cut: AbortSignal;
  close(): Promise<void>;
}

/**
 * The legs of a window under filters as CSV, one row a leg, newest first; rows and their count come from one snapshot. `hasMark`: with a byte order
 * mark, for spreadsheets. Throws throttled, overloaded and database_unavailable before anything is read. `gone`: its client is.
 */
export async function exportCsv(
  deps: ReportDeps & { readonly heavy: HeavyWork },
  site: ReportSite & { readonly keyId: string },
  asked: AskedWindow & CsvFilters & { readonly hasMark?: boolean },
  gone?: AbortSignal,
): Promise<CsvExport> {
  const place = await deps.heavy.beginFile(site, gone);
  const timer = setTimeout(place.endTurn, MAX_TURN_MS);
  const giveBack = (): void => {
    clearTimeout(timer);
    place.giveBack();
  };
  try {
    const frame = frameOf(deps, site, asked);
    const { window } = frame;
    const snapshot = await openReadSnapshot(deps.database);
    let closing: Promise<void> | null = null;
    const close = (): Promise<void> => (closing ??= snapshot.close().finally(giveBack));
    try {
      const scope = await scopeOf(snapshot, site.tenantId, asked, window);
      const found = await countLegs(snapshot, scope, window, MAX_EXPORT_ROWS);
      const rowCount = Math.min(found, MAX_EXPORT_ROWS);
      const chunks = place.readAtPace(
        closeAtEnd(csvChunks(snapshot, scope, window, asked.hasMark ? BYTE_ORDER_MARK : ''), close),
        close,
      );
      return { ...frame, rowCount, isCut: found > MAX_EXPORT_ROWS, chunks, cut: place.cut, close };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** What the filters mean: an author is all wallets that are theirs. */
async function scopeOf(snapshot: ReadSnapshot, tenantId: string, asked: CsvFilters, window: Span): Promise<ExportScope> {
  const { host = null, kind = null, slug = null, purpose = null, agent = null, payer = null, authorId, wallet } = asked;
  const theirs = authorId ? await listWallets(snapshot, tenantId, authorId, window) : null;
  const wallets = wallet ? [wallet].filter((one) => theirs?.includes(one) ?? true) : theirs;
  return { tenantId, host, kind, slug, purpose, agent, payer, wallets };
}

/** Closes before the end is told, so that a client that read to the end may ask for the next export at once. */
async function* closeAtEnd<T>(chunks: AsyncIterable<T>, close: () => Promise<void>): AsyncGenerator<T> {
  try {
    yield* chunks;
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw new ServiceError(
      'overloaded',
      `the database ended this export; a download may take at most ${MAX_DOWNLOAD_MS / 60_000} minutes`,
    );
  }
  await close();
}

/** The file, header first, after what may stand before it. */
async function* csvChunks(
  snapshot: ReadSnapshot,
  scope: ExportScope,
  window: Span,
  mark: string,
): AsyncGenerator<string | Uint8Array> {
  yield `${mark}${csvHeader()}`;
  yield* exportRows(streamLegs(snapshot, scope, window, { most: MAX_EXPORT_ROWS, limitMs: MAX_DOWNLOAD_MS }));
}

/** The rows of the file as Postgres gives them, read in the background: nobody waits for them alone. */
export function newestLegs(snapshot: ReadSnapshot, tenantId: string, window: Span): AsyncGenerator<Buffer> {
  const whole = { tenantId, host: null, kind: null };
  return streamLegs(snapshot, whole, window, { most: MAX_EXPORT_ROWS, limitMs: MAX_DOWNLOAD_MS, inBackground: true });
}

/** The zone by whose calendar a file is named, UTC unless one is given. Throws invalid_parameter for a name of none. */
export function fileZone(given: string | undefined): string {
  const zone = zoneNamed(given ?? 'UTC');
  if (zone !== null) return zone;
  throw new ServiceError('invalid_parameter', 'timeZone: must be a time zone such as Europe/Berlin', { parameter: 'timeZone' });
}

/** The name of an export's file: first and last day of the window by a zone's calendar; text that a header can carry. */
export function exportFileName(extension: string, host: string | null, frame: ReportFrame, zone: string): string {
  const day = (ms: number) => new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(ms);
  const name = (host ?? 'site').replace(/[^a-z0-9.-]/gi, '_');
  const { fromMs, toMs } = frame.window;
  return `svc-earnings-${name}-${day(fromMs)}-${day(Math.max(fromMs, toMs === null ? frame.generatedAtMs : toMs - 1))}.${extension}`;
}
