import { renderStatement } from '../../adapters/pdf.ts';
import type { DocumentColumn, DocumentTable, StatementDocument } from '../../adapters/pdfDocument.ts';
import { isPrintable, printablePage } from '../../adapters/pdfText.ts';
import type { Sql } from '../../db/database.ts';
import { listAuthorIds } from '../../db/reports/authors.ts';
import { sumCrossings } from '../../db/reports/earnings.ts';
import { openReadSnapshot } from '../../db/reports/snapshot.ts';
import { planLines } from '../../domain/documentLines.ts';
import { formatUsdc } from '../../domain/money.ts';
import type { Span } from '../../domain/window.ts';
import { atDatabase } from '../outage.ts';
import { add } from './earnings.ts';
import { csvDigest, MAX_EXPORT_ROWS } from './exportCsv.ts';
import type { ExportSlots } from './exportSlots.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite, Totals } from './request.ts';
import { frameOf } from './request.ts';
import type { AuthorTotals, Statement } from './statements.ts';
import { sumAuthors, withLines } from './statements.ts';
import { shownWallet } from './wallet.ts';

/** Most lines of all tables of a document, that of authors included; totals are exact whatever is cut. */
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
 * A window's statement as a PDF: totals, the table of authors, their lines, the window, and the digest of the CSV
 * of the same window, all from one snapshot. What MAX_PDF_LINES leave no room for is left out, which the cover says. Throws throttled, overloaded and database_unavailable.
 */
export async function exportPdf(
  deps: ReportDeps & { readonly exports: ExportSlots },
  site: ReportSite & { readonly keyId: string },
  asked: AskedWindow,
): Promise<ReportFrame & { readonly bytes: Uint8Array }> {
  const giveBack = deps.exports.take(site);
  try {
    const report = await readOnce(deps, site, asked);
    return { generatedAtMs: report.generatedAtMs, window: report.window, bytes: await renderStatement(documentOf(site, report)) };
  } finally {
    giveBack();
  }
}

/** All of a report from one snapshot, which its digest needs to itself at the end. */
async function readOnce(deps: ReportDeps, site: ReportSite, asked: AskedWindow): Promise<Report> {
  const frame = frameOf(deps, site, asked);
  const { window } = frame;
  return await atDatabase(async () => {
    const snapshot = await openReadSnapshot(deps.database);
    try {
      return {
        ...frame,
        totals: add(await sumCrossings(snapshot, { tenantId: site.tenantId, host: null, kind: null }, window, 'total')),
        ...(await readAuthors(snapshot, site.tenantId, window)),
        digest: await csvDigest(snapshot, site.tenantId, window),
      };
    } finally {
      await snapshot.close();
    }
  });
}

/** What there is of every author, and as much of it as a document has room for, the largest authors first. */
async function readAuthors(sql: Sql, tenantId: string, window: Span): Promise<Authors> {
  const authors = await sumAuthors(sql, tenantId, window);
  const { listed, detailed, lines } = planLines(authors.length, MAX_PDF_LINES);
  const most = { each: lines, all: lines };
  const statements = await withLines(sql, tenantId, window, authors.slice(0, detailed), most);
  const others = authors.slice(detailed, listed);
  const wallets = others.map(({ key }) => key);
  const ids = await listAuthorIds(sql, tenantId, wallets);
  const rows = others.map(({ key: wallet, ...totals }) => ({ ...totals, wallet, authorId: ids.get(wallet) ?? null }));
  return { authors, listed: [...statements, ...rows], statements };
}

type AuthorRow = Omit<Statement, 'lines' | 'isCut'>;

interface Authors {
  /** Every one. */
  readonly authors: readonly AuthorTotals[];
  /** Those in the table of authors. */
  readonly listed: readonly AuthorRow[];
  /** Those whose lines are shown. */
  readonly statements: readonly Statement[];
}

interface Report extends ReportFrame, Authors {
  readonly totals: Totals;
  readonly digest: string;
}

function documentOf(site: ReportSite, report: Report): StatementDocument {
  const { totals, authors, listed, statements, window, generatedAtMs } = report;
  const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const toAuthors = sumOf(authors);
  const missing = leftOut(report);
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
      ['Authors', String(authors.length)],
      ...(toAuthors === totals.grossMicro ? [] : [['To authors', `${formatUsdc(toAuthors)} USDC; the rest are fees`] as const]),
      ...(missing === null ? [] : [['Left out', missing] as const]),
    ],
    tables: [authorTable(report), ...statements.map(lineTable)],
    notes: [
      ...(listed.every(({ authorId }) => isPrintable(authorId ?? '')) ? [] : [OTHER_LETTERS]),
      'Amounts are USDC with six decimals. Corrections of payments that a chain reorganisation undid are already taken out. ' +
        'Payments go from the buyer to the authors; nobody holds them in between.',
      `SHA-256 of the CSV export of this window (export.csv?${search}; its newest ${MAX_EXPORT_ROWS} rows at most): ${report.digest}`,
    ],
  };
}

/** What a document has no room for; null when everything is in it. */
function leftOut({ authors, listed, statements }: Authors): string | null {
  const unlisted = authors.slice(listed.length);
  const undetailed = authors.length - statements.length;
  const shortened = statements.filter(({ isCut }) => isCut).length;
  const parts = [
    ...(unlisted.length === 0 ? [] : [`${countOf(unlisted.length)}, paid ${formatUsdc(sumOf(unlisted))} USDC together`]),
    ...(undetailed === 0 ? [] : [`the lines of ${countOf(undetailed)}`]),
    ...(shortened === 0 ? [] : [`older lines of ${countOf(shortened)}`]),
  ];
  if (parts.length === 0) return null;
  return `${parts.join('; ')}. The tables have at most ${MAX_PDF_LINES} lines, the authors paid most first; all totals are exact.`;
}

function countOf(authors: number): string {
  return authors === 1 ? '1 author' : `${authors} authors`;
}

function sumOf(authors: readonly Pick<Totals, 'grossMicro'>[]): bigint {
  return authors.reduce((sum, { grossMicro }) => sum + grossMicro, 0n);
}

function authorTable({ authors, listed }: Authors): DocumentTable {
  const cut = `The ${listed.length} paid most of ${countOf(authors.length)} are listed.`;
  const note = authors.length === 0 ? 'Nothing was paid in this window.' : listed.length < authors.length ? cut : null;
  return {
    heading: 'Authors',
    note,
    columns: AUTHOR_COLUMNS,
    rows: listed.map((author) => [
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
