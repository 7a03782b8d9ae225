import { renderStatement } from '../../adapters/pdf.ts';
import type { DocumentColumn, DocumentTable, StatementDocument } from '../../adapters/pdfDocument.ts';
import { isPrintable, printablePage } from '../../adapters/pdfText.ts';
import { sumCrossings } from '../../db/reports/earnings.ts';
import { openReadSnapshot } from '../../db/reports/snapshot.ts';
import { formatUsdc } from '../../domain/money.ts';
import { readableWindow } from '../../domain/window.ts';
import { atDatabase } from '../outage.ts';
import { add } from './earnings.ts';
import { csvDigest, MAX_EXPORT_ROWS } from './exportCsv.ts';
import type { ExportSlots } from './exportSlots.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite, Totals } from './request.ts';
import type { Statement } from './statements.ts';
import { listStatements } from './statements.ts';
import { shownWallet } from './wallet.ts';

/** Most lines of a document; totals are exact whatever is cut. */
export const MAX_PDF_LINES = 10_000;

const LEFT = 'left' as const;
const RIGHT = 'right' as const;
/** A wallet and an amount are never cut: 42 letters and 17 digits fit. */
const AUTHOR_COLUMNS: readonly DocumentColumn[] = [
  { label: 'Author', width: 0.18, align: LEFT },
  { label: 'Wallet', width: 0.46, align: LEFT },
  { label: 'Reads', width: 0.1, align: RIGHT },
  { label: 'Citations', width: 0.1, align: RIGHT },
  { label: 'USDC', width: 0.16, align: RIGHT },
];
const LINE_COLUMNS: readonly DocumentColumn[] = [
  { label: 'Time (UTC)', width: 0.19, align: LEFT },
  { label: 'Page', width: 0.45, align: LEFT },
  { label: 'Kind', width: 0.1, align: LEFT },
  { label: 'Share', width: 0.1, align: RIGHT },
  { label: 'USDC', width: 0.16, align: RIGHT },
];

const OTHER_LETTERS =
  'Letters of authors’ names that the fonts of this document lack are shown as ?; the wallet tells who it is, and the CSV has all letters.';

/**
 * A window's statement as a PDF (decisions §4): totals, the table of authors, their lines, the window, and the digest of the CSV
 * of the same window, all from one snapshot. Throws overloaded and database_unavailable.
 */
export async function exportPdf(
  deps: ReportDeps & { readonly exports: ExportSlots },
  site: ReportSite & { readonly keyId: string },
  asked: AskedWindow,
): Promise<ReportFrame & { readonly bytes: Uint8Array }> {
  const giveBack = deps.exports.take(site.keyId);
  try {
    const report = await readOnce(deps, site, asked);
    return { generatedAtMs: report.generatedAtMs, window: report.window, bytes: await renderStatement(documentOf(site, report)) };
  } finally {
    giveBack();
  }
}

/** All of a report from one snapshot, which its digest needs to itself at the end. */
async function readOnce(deps: ReportDeps, site: ReportSite, asked: AskedWindow): Promise<Report> {
  const generatedAtMs = deps.clock();
  const window = readableWindow(asked, site.plan, generatedAtMs);
  return await atDatabase(async () => {
    const snapshot = await openReadSnapshot(deps.database);
    try {
      return {
        ...{ generatedAtMs, window },
        totals: add(await sumCrossings(snapshot, { tenantId: site.tenantId, host: null, kind: null }, window, 'total')),
        statements: await listStatements(snapshot, site.tenantId, window, { each: MAX_PDF_LINES, all: MAX_PDF_LINES }),
        digest: await csvDigest(snapshot, site.tenantId, window),
      };
    } finally {
      await snapshot.close();
    }
  });
}

interface Report extends ReportFrame {
  readonly totals: Totals;
  readonly statements: readonly Statement[];
  readonly digest: string;
}

function documentOf(site: ReportSite, report: Report): StatementDocument {
  const { totals, statements, window, generatedAtMs } = report;
  const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const toAuthors = statements.reduce((sum, { grossMicro }) => sum + grossMicro, 0n);
  const retention = `The plan reads back to ${window.clampedToMs === null ? '' : time(window.clampedToMs)}; what is older is not in this document.`;
  const search = `from=${window.fromMs}${window.toMs === null ? '' : `&to=${window.toMs}`}`;
  return {
    title: 'Earnings statement',
    subtitle: site.hosts[0] ?? 'Site without a verified host',
    generatedAt: new Date(generatedAtMs),
    facts: [
      ['Hosts', site.hosts.join(', ') || 'none verified'],
      ['Window', `${time(window.fromMs)} up to ${window.toMs === null ? `${time(generatedAtMs)} (now)` : time(window.toMs)}`],
      ...(window.clampedToMs === null ? [] : [['Retention', retention] as const]),
      ['Generated', time(generatedAtMs)],
      ['Total', `${formatUsdc(totals.grossMicro)} USDC`],
      ['Crossings', `${totals.events} (${totals.reads} reads, ${totals.citations} citations)`],
      ['Authors', String(statements.length)],
      ...(toAuthors === totals.grossMicro ? [] : [['To authors', `${formatUsdc(toAuthors)} USDC; the rest are fees`] as const]),
    ],
    tables: [authorTable(statements), ...statements.map(lineTable)],
    notes: [
      ...(statements.every(({ authorId }) => isPrintable(authorId ?? '')) ? [] : [OTHER_LETTERS]),
      'Amounts are USDC with six decimals. Corrections of payments that a chain reorganisation undid are already taken out. ' +
        'Payments go from the buyer to the authors; nobody holds them in between.',
      `SHA-256 of the CSV export of this window (export.csv?${search}; its newest ${MAX_EXPORT_ROWS} rows at most): ${report.digest}`,
    ],
  };
}

function authorTable(statements: readonly Statement[]): DocumentTable {
  return {
    heading: 'Authors',
    note: statements.length === 0 ? 'Nothing was paid in this window.' : null,
    columns: AUTHOR_COLUMNS,
    rows: statements.map((author) => [
      author.authorId ?? '',
      shownWallet(author.wallet),
      String(author.reads),
      String(author.citations),
      formatUsdc(author.grossMicro),
    ]),
  };
}

function lineTable(statement: Statement): DocumentTable {
  const wallet = shownWallet(statement.wallet);
  const total = `${statement.events} crossings, ${formatUsdc(statement.grossMicro)} USDC`;
  return {
    heading: statement.authorId === null ? wallet : `${statement.authorId} (${wallet})`,
    note: statement.isCut ? `${total}. The newest ${statement.lines.length} are listed.` : `${total}.`,
    columns: LINE_COLUMNS,
    rows: statement.lines.map(({ atMs, host, slug, kind, share, micro }) => [
      new Date(atMs).toISOString().slice(0, 19).replace('T', ' '),
      printablePage(slug === '' ? host : `${host}/${slug}`),
      kind,
      `${(share * 100).toFixed(2)} %`,
      formatUsdc(micro),
    ]),
  };
}
