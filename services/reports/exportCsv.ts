import { createHash } from 'node:crypto';
import { csvRows } from '../../adapters/csv.ts';
import type { Sql } from '../../db/database.ts';
import type { ExportedLeg } from '../../db/reports/exportLegs.ts';
import { countLegs, streamLegs } from '../../db/reports/exportLegs.ts';
import { openReadSnapshot } from '../../db/reports/snapshot.ts';
import { formatUsdc } from '../../domain/money.ts';
import { settlementRefKind } from '../../domain/webhook/event.ts';
import type { Span } from '../../domain/window.ts';
import { readableWindow } from '../../domain/window.ts';
import { atDatabase } from '../outage.ts';
import type { ExportSlots } from './exportSlots.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { shownWallet } from './wallet.ts';

/** Most rows of an export (specification, Limits). */
export const MAX_EXPORT_ROWS = 50_000;

/** Rows that are read and written at once. */
const CHUNK_ROWS = 500;
const DIGEST_CHUNK_ROWS = 100;
const MAX_REMEMBERED = 10_000;

/** The columns, in order (decisions §4, CSV columns). */
const COLUMNS = [
  ...['at_iso', 'at_ms', 'host', 'slug', 'kind', 'amount_micro', 'amount_usdc', 'author_id', 'wallet', 'share', 'role'],
  ...['settlement_ref', 'settlement_ref_kind', 'payer', 'agent', 'licence_jti'],
];

/** A CSV on its way; `chunks` are read at the client's pace. Whoever gets one closes it, on every path. */
export interface CsvExport extends ReportFrame {
  /** Rows the file holds, without its header. */
  readonly rowCount: number;
  /** True when the window has more rows than a file may hold. */
  readonly isCut: boolean;
  readonly chunks: AsyncIterable<string>;
  close(): Promise<void>;
}

/**
 * The legs of a window as CSV, one row a leg, newest first; rows and their count come from one snapshot. Throws overloaded and
 * database_unavailable before anything is read.
 */
export async function exportCsv(
  deps: ReportDeps & { readonly exports: ExportSlots },
  site: ReportSite & { readonly keyId: string },
  asked: AskedWindow,
): Promise<CsvExport> {
  const giveBack = deps.exports.take(site.keyId);
  try {
    const generatedAtMs = deps.clock();
    const window = readableWindow(asked, site.plan, generatedAtMs);
    const snapshot = await atDatabase(() => openReadSnapshot(deps.database));
    let closing: Promise<void> | null = null;
    const close = (): Promise<void> => (closing ??= snapshot.close().finally(giveBack));
    try {
      const found = await atDatabase(() => countLegs(snapshot, site.tenantId, window, MAX_EXPORT_ROWS));
      const rowCount = Math.min(found, MAX_EXPORT_ROWS);
      const chunks = closeAtEnd(csvChunks(snapshot, site.tenantId, window), close);
      return { generatedAtMs, window, rowCount, isCut: found > MAX_EXPORT_ROWS, chunks, close };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** Closes before the end is told, so that whoever read to the end may ask for the next export at once. */
async function* closeAtEnd(chunks: AsyncIterable<string>, close: () => Promise<void>): AsyncGenerator<string> {
  yield* chunks;
  await close();
}

/** The file, header first, in pieces of `chunkRows` rows. */
async function* csvChunks(sql: Sql, tenantId: string, window: Span, chunkRows = CHUNK_ROWS): AsyncGenerator<string> {
  yield csvRows([COLUMNS]);
  const shown = { wallet: remembered(shownWallet), usdc: remembered((micro) => formatUsdc(BigInt(micro))) };
  for await (const legs of streamLegs(sql, tenantId, window, { most: MAX_EXPORT_ROWS, chunkRows })) {
    yield csvRows(legs.map((leg) => cellsOf(leg, shown)));
  }
}

/** Answers of `work`, the same text worked out once; `MAX_REMEMBERED` of them at most. */
function remembered(work: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const answer = work(text);
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(text, answer);
    return answer;
  };
}

function cellsOf(leg: ExportedLeg, shown: Readonly<Record<'wallet' | 'usdc', (text: string) => string>>): string[] {
  return [
    new Date(Number(leg.at_ms)).toISOString(),
    leg.at_ms,
    leg.host,
    leg.slug,
    leg.kind,
    leg.micro,
    shown.usdc(leg.micro),
    leg.author_id ?? '',
    shown.wallet(leg.wallet),
    String(leg.share),
    leg.role,
    leg.tx_hash ?? '',
    settlementRefKind(leg.tx_hash, leg.mode),
    shown.wallet(leg.payer),
    leg.agent,
    leg.licence_jti ?? '',
  ];
}

/**
 * SHA-256 of the CSV of a window, in hex; `sql` is the snapshot the rest of a report is read from. Nobody waits for it alone, so
 * it goes in small steps, between which other calls get their turn.
 */
export async function csvDigest(sql: Sql, tenantId: string, window: Span): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of csvChunks(sql, tenantId, window, DIGEST_CHUNK_ROWS)) hash.update(chunk);
  return hash.digest('hex');
}

/** The name of an export's file (decisions §4): dates of the window, UTC; text that a header can carry. */
export function exportFileName(extension: 'csv' | 'pdf', host: string | null, frame: ReportFrame): string {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const name = (host ?? 'site').replace(/[^a-z0-9.-]/gi, '_');
  return `svc-earnings-${name}-${day(frame.window.fromMs)}-${day(frame.window.toMs ?? frame.generatedAtMs)}.${extension}`;
}
