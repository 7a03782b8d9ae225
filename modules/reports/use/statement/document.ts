import type { DocumentColumn, DocumentTable, Fact, StatementDocument } from '../../../../platform/pdf/document.ts';
import { formatUsdc } from '../../../kernel/money/money.ts';
import { shownWallet } from '../wallet.ts';
import type { CutList, PageLine, StatementReport } from './report.ts';

const LEFT = 'left' as const;
const RIGHT = 'right' as const;
const PAGE_COLUMNS: readonly DocumentColumn[] = [
  { label: 'Title', width: 0.37, align: LEFT },
  { label: 'Page', width: 0.3, align: LEFT, holds: 'address' },
  { label: 'Reads', width: 0.08, align: RIGHT },
  { label: 'Citations', width: 0.09, align: RIGHT },
  { label: 'USDC', width: 0.16, align: RIGHT },
];
const AUTHOR_PAGE_COLUMNS: readonly DocumentColumn[] = [
  { label: 'Title', width: 0.32, align: LEFT },
  { label: 'Page', width: 0.24, align: LEFT, holds: 'address' },
  { label: 'Share, %', width: 0.11, align: RIGHT },
  { label: 'Reads', width: 0.08, align: RIGHT },
  { label: 'Citations', width: 0.09, align: RIGHT },
  { label: 'USDC', width: 0.16, align: RIGHT },
];
const WALLET_COLUMNS: readonly DocumentColumn[] = [
  { label: 'Author', width: 0.33, align: LEFT },
  { label: 'Wallet', width: 0.34, align: LEFT, holds: 'reference' },
  { label: 'Reads', width: 0.08, align: RIGHT },
  { label: 'Citations', width: 0.09, align: RIGHT },
  { label: 'USDC', width: 0.16, align: RIGHT },
];
const TRANSACTION_COLUMNS: readonly DocumentColumn[] = [
  { label: 'Time (UTC)', width: 0.2, align: LEFT },
  { label: 'Reference', width: 0.64, align: LEFT, holds: 'reference' },
  { label: 'USDC', width: 0.16, align: RIGHT },
];
/** More transactions than this stand in small type, two beside each other. */
const MOST_AT_EASE = 40;
/** Room for a whole hash. */
const DENSE_COLUMNS: readonly DocumentColumn[] = [
  { label: 'Day (UTC)', width: 0.13, align: LEFT, holds: 'reference' },
  { label: 'Reference', width: 0.71, align: LEFT, holds: 'reference' },
  { label: 'USDC', width: 0.16, align: RIGHT },
];

const LACKED_LETTERS =
  'A letter that no font of this document has is shown as □, in a page’s address by its code; the wallet tells who an author is, and the ' +
  'CSV export has all letters.';

/** The CSV of a site's window: its SHA-256 in hex, and how many rows it may have. */
export interface CsvOfWindow {
  readonly digest: string;
  readonly mostRows: number;
}

/** What the document of a report says. */
export function documentOf(report: StatementReport, csv: CsvOfWindow | null): StatementDocument {
  const { authorId, hosts, totals, generatedAtMs } = report;
  return {
    title: 'Earnings statement',
    subtitle: authorId ?? hosts[0] ?? 'Site without a verified host',
    sum: { label: authorId === null ? 'USDC earned' : 'USDC paid', value: formatUsdc(totals.grossMicro) },
    generatedAt: new Date(generatedAtMs),
    facts: factsOf(report),
    tables: [
      pageTable(report),
      ...(authorId === null || report.wallets.lines.length > 1 ? [walletTable(report)] : []),
      ...(report.transactions.lines.length === 0 ? [] : [transactionTable(report)]),
    ],
    notes: notesOf(report, csv),
    noteOfLackedLetters: LACKED_LETTERS,
  };
}

function factsOf({ authorId, hosts, window, generatedAtMs, totals, licences, wallets }: StatementReport): Fact[] {
  const until = window.toMs === null ? `${timeOf(generatedAtMs)} (now)` : timeOf(window.toMs);
  const [only, ...others] = wallets.lines;
  const toAuthors = wallets.lines.reduce((sum, { grossMicro }) => sum + grossMicro, wallets.restMicro);
  return [
    ...(authorId === null ? [] : [{ label: 'Author', value: authorId }]),
    ...(authorId !== null && only && others.length === 0
      ? [{ label: 'Wallet', value: shownWallet(only.wallet), isReference: true }]
      : []),
    { label: authorId === null ? 'Hosts' : 'Published by', value: hosts.join(', ') || 'none verified' },
    { label: 'Window', value: `${timeOf(window.fromMs)} up to ${until}` },
    ...(window.clampedToMs === null
      ? []
      : [
          {
            label: 'Retention',
            value: `The plan reads back to ${timeOf(window.clampedToMs)}; what is older is not in this document.`,
          },
        ]),
    { label: 'Generated', value: timeOf(generatedAtMs) },
    {
      label: 'Sales',
      value: `${totals.events} (${totals.reads} reads, ${totals.citations} citations)${ofLicences(licences.count)}`,
    },
    ...(authorId !== null || toAuthors === totals.grossMicro
      ? []
      : [{ label: 'To authors', value: `${formatUsdc(toAuthors)} USDC; the rest are fees` }]),
  ];
}

function ofLicences(count: number): string {
  return count === 0 ? '' : `, ${count} of them licences`;
}

function pageTable({ authorId, pages, licences, totals }: StatementReport): DocumentTable {
  const ofAuthor = authorId !== null;
  const row = (title: string, slug: string, share: string, sums: readonly string[]): string[] => [
    title,
    slug,
    ...(ofAuthor ? [share] : []),
    ...sums,
  ];
  const sums = (of: Pick<PageLine, 'reads' | 'citations' | 'grossMicro'>): string[] => [
    String(of.reads),
    String(of.citations),
    formatUsdc(of.grossMicro),
  ];
  return {
    heading: 'Pages',
    note: totals.events === 0 && totals.grossMicro === 0n ? 'Nothing was sold in this window.' : null,
    columns: ofAuthor ? AUTHOR_PAGE_COLUMNS : PAGE_COLUMNS,
    rows: [
      ...pages.lines.map((page) =>
        row(page.title ?? '', page.slug === '' ? '/' : page.slug, sharesText(page.shares), sums(page)),
      ),
      ...restRow(pages, 'other page', (text, micro) => row(text, '', '', ['', '', micro])),
      ...(licences.count === 0 ? [] : [row(counted(licences.count, 'licence'), '', '', sums(licences))]),
    ],
    total: row('Total', '', '', sums(totals)),
    isDense: false,
  };
}

/** One share, or from the smallest to the largest. */
function sharesText(shares: readonly [number, number] | null): string {
  const [least, most] = (shares ?? [0, 0]).map((share) => (share * 100).toFixed(2));
  return shares === null ? '' : least === most ? `${least}` : `${least}–${most}`;
}

function walletTable({ authorId, wallets }: StatementReport): DocumentTable {
  const all = wallets.lines.reduce((sum, { grossMicro }) => sum + grossMicro, wallets.restMicro);
  return {
    heading: authorId === null ? 'Authors' : 'Wallets',
    note: wallets.lines.length === 0 ? 'Nothing was paid in this window.' : null,
    columns: WALLET_COLUMNS,
    rows: [
      ...wallets.lines.map(({ authorId: id, wallet, reads, citations, grossMicro }) => [
        id ?? '',
        shownWallet(wallet),
        String(reads),
        String(citations),
        formatUsdc(grossMicro),
      ]),
      ...restRow(wallets, 'other author', (text, micro) => [text, '', '', '', micro]),
    ],
    total: ['Total', '', '', '', formatUsdc(all)],
    isDense: false,
  };
}

function transactionTable({ transactions, totals }: StatementReport): DocumentTable {
  const isDense = transactions.lines.length > MOST_AT_EASE;
  return {
    heading: 'Transactions',
    note: null,
    columns: isDense ? DENSE_COLUMNS : TRANSACTION_COLUMNS,
    rows: [
      ...transactions.lines.map(({ atMs, reference, micro }) => [
        timeOf(atMs).slice(0, isDense ? 10 : 16),
        reference ?? 'none',
        formatUsdc(micro),
      ]),
      ...restRow(transactions, 'older sale', (text, micro) => ['', text, micro]),
    ],
    total: ['Total', '', formatUsdc(totals.grossMicro)],
    isDense,
  };
}

/** The line of what a table has no room for; none where it has. */
function restRow(list: CutList<unknown>, one: string, row: (text: string, micro: string) => string[]): string[][] {
  return list.rest === 0 ? [] : [row(`${counted(list.rest, one)} (see the CSV export)`, formatUsdc(list.restMicro))];
}

function counted(count: number, one: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${one}s`;
}

function notesOf({ authorId, window }: StatementReport, csv: CsvOfWindow | null): string[] {
  const search = `from=${window.fromMs}${window.toMs === null ? '' : `&to=${window.toMs}`}`;
  return [
    'Amounts are USDC with six decimals. What takes a sale back, since the chain undid it or paid its authors otherwise, is of the time it was ' +
      'recorded, and its amount is negative: a month that is over keeps its sums. ' +
      'Payments go from the buyer to the authors; nobody holds them in between.',
    ...(authorId === null
      ? []
      : [
          'Only what was paid to this author is in this document: each amount of a page or a transaction is the author’s part of it.',
        ]),
    ...(csv === null
      ? []
      : [
          `SHA-256 of the CSV export of this window (export.csv?${search}; its newest ${csv.mostRows} rows at most): ${csv.digest}`,
        ]),
  ];
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
