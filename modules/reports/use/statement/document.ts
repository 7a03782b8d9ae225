import type { DocumentColumn, DocumentTable, Fact, StatementDocument } from '../../../../platform/pdf/document.ts';
import { formatUsdc } from '../../../kernel/money/money.ts';
import { shownWallet } from '../wallet.ts';
import type { CutList, PageLine, StatementReport } from './report.ts';

const LEFT = 'left' as const;
const RIGHT = 'right' as const;
const SUMMARY_COLUMNS: readonly DocumentColumn[] = [
  { label: 'Item', width: 0.64, align: LEFT },
  { label: 'Sales', width: 0.16, align: RIGHT },
  { label: 'USDC', width: 0.2, align: RIGHT },
];
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
  const { authorId, hosts, number, totals, generatedAtMs } = report;
  const whose = authorId ?? hosts[0] ?? 'Site without a verified host';
  const period = periodOf(report);
  return {
    title: 'Earnings statement',
    subtitle: `${whose} · ${period}`,
    footer: `${number} · ${whose} · ${period}`,
    sum: { label: authorId === null ? 'USDC earned' : 'USDC paid', value: shortUsdc(totals.grossMicro) },
    generatedAt: new Date(generatedAtMs),
    facts: factsOf(report, period),
    tables: [
      summaryTable(report),
      ...(authorId === null || report.wallets.lines.length > 1 ? [walletTable(report)] : []),
      pageTable(report),
      ...(report.transactions.lines.length === 0 ? [] : [transactionTable(report)]),
    ],
    notes: notesOf(report, csv),
    noteOfLackedLetters: LACKED_LETTERS,
  };
}

function factsOf(report: StatementReport, period: string): Fact[] {
  const { authorId, hosts, number, publisher, timeZone, window, generatedAtMs, totals, licences, wallets } = report;
  const until = window.toMs === null ? `${timeOf(generatedAtMs)} (now)` : timeOf(window.toMs);
  const [only, ...others] = wallets.lines;
  const toAuthors = wallets.lines.reduce((sum, { grossMicro }) => sum + grossMicro, wallets.restMicro);
  return [
    { label: 'Number', value: number },
    { label: 'Period', value: `${period} (${timeZone})` },
    { label: 'Window', value: `${timeOf(window.fromMs)} up to ${until}` },
    ...(publisher.legalName === null && publisher.legalAddress === null
      ? []
      : [{ label: 'Publisher', value: [publisher.legalName, publisher.legalAddress].filter(Boolean).join(', ') }]),
    ...(authorId === null ? [] : [{ label: 'Payee', value: authorId }]),
    ...(authorId !== null && only && others.length === 0
      ? [{ label: 'Wallet', value: shownWallet(only.wallet), isReference: true }]
      : []),
    { label: authorId === null ? 'Hosts' : 'Published by', value: hosts.join(', ') || 'none verified' },
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
      value: `${grouped(totals.events)} (${grouped(totals.reads)} reads, ${grouped(totals.citations)} citations)${ofLicences(licences.count)}`,
    },
    ...(authorId !== null || toAuthors === totals.grossMicro
      ? []
      : [{ label: 'To authors', value: `${amount(toAuthors)} USDC; the rest are fees` }]),
  ];
}

function ofLicences(count: number): string {
  return count === 0 ? '' : `, ${grouped(count)} of them licences`;
}

/** The window in words: a month where it is one, else days, else moments. */
function periodOf({ window, generatedAtMs, timeZone }: StatementReport): string {
  const { fromMs, toMs } = window;
  const say = (ms: number, options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat('en-GB', { timeZone, ...options }).format(ms);
  const day = (ms: number): string => say(ms, { day: 'numeric', month: 'long', year: 'numeric' });
  const month = (ms: number): string => say(ms, { month: 'long', year: 'numeric' });
  const moment = (ms: number): string => `${day(ms)}, ${say(ms, { hour: '2-digit', minute: '2-digit' })}`;
  const begins = (ms: number, of: (ms: number) => string): boolean => of(ms) !== of(ms - 1);
  if (toMs === null || toMs > generatedAtMs) {
    return `${begins(fromMs, day) ? day(fromMs) : moment(fromMs)} to ${moment(generatedAtMs)}`;
  }
  if (toMs <= fromMs) return moment(fromMs);
  if (!begins(fromMs, day) || !begins(toMs, day)) return `${moment(fromMs)} to ${moment(toMs)}`;
  const [first, last] = [day(fromMs), day(toMs - 1)];
  if (begins(fromMs, month) && begins(toMs, month) && month(fromMs) === month(toMs - 1)) return month(fromMs);
  return first === last ? first : `${first} to ${last}`;
}

/** What the sum is made of: all that was sold, and what was taken back. */
function summaryTable({ totals, corrections }: StatementReport): DocumentTable {
  const row = (item: string, sales: number, micro: bigint): string[] => [item, grouped(sales), amount(micro)];
  return {
    heading: 'Summary',
    note: totals.events === 0 && totals.grossMicro === 0n && corrections.count === 0 ? 'Nothing was sold in this window.' : null,
    columns: SUMMARY_COLUMNS,
    rows: [
      row('Sold', totals.events + corrections.count, totals.grossMicro + corrections.micro),
      row('Taken back: corrections recorded in this window', -corrections.count, -corrections.micro),
    ],
    total: row('Total', totals.events, totals.grossMicro),
    isDense: false,
  };
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
    grouped(of.reads),
    grouped(of.citations),
    amount(of.grossMicro),
  ];
  return {
    heading: 'Pages',
    note: pages.lines.length > 1 ? 'Those that earned most first.' : null,
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

/** By name, as a reader looks for one, and what has none last; several wallets of a name by what they were paid. */
function walletTable({ authorId, wallets }: StatementReport): DocumentTable {
  const all = wallets.lines.reduce((sum, { grossMicro }) => sum + grossMicro, wallets.restMicro);
  const byName = wallets.lines.toSorted(({ authorId: a }, { authorId: b }) =>
    a === null || b === null ? Number(a === null) - Number(b === null) : NAMES.compare(a, b),
  );
  return {
    heading: authorId === null ? 'Authors' : 'Wallets',
    note: wallets.lines.length === 0 ? 'Nothing was paid in this window.' : null,
    columns: WALLET_COLUMNS,
    rows: [
      ...byName.map(({ authorId: id, wallet, reads, citations, grossMicro }) => [
        id ?? '',
        shownWallet(wallet),
        grouped(reads),
        grouped(citations),
        amount(grossMicro),
      ]),
      ...restRow(wallets, 'other author', (text, micro) => [text, '', '', '', micro]),
    ],
    total: ['Total', '', '', '', amount(all)],
    isDense: false,
  };
}

/** One order on every machine, whatever its language. */
const NAMES = new Intl.Collator('en', { numeric: true });

function transactionTable({ transactions, totals }: StatementReport): DocumentTable {
  const isDense = transactions.lines.length > MOST_AT_EASE;
  return {
    heading: 'Annex: transactions',
    note: 'The newest first. A reference is the hash of the transaction, or the identifier that a facilitator gave.',
    columns: isDense ? DENSE_COLUMNS : TRANSACTION_COLUMNS,
    rows: [
      ...transactions.lines.map(({ atMs, reference, micro }) => [
        timeOf(atMs).slice(0, isDense ? 10 : 16),
        reference ?? 'none',
        amount(micro),
      ]),
      ...restRow(transactions, 'older sale', (text, micro) => ['', text, micro]),
    ],
    total: ['Total', '', amount(totals.grossMicro)],
    isDense,
  };
}

/** The line of what a table has no room for; none where it has. */
function restRow(list: CutList<unknown>, one: string, row: (text: string, micro: string) => string[]): string[][] {
  return list.rest === 0 ? [] : [row(`${counted(list.rest, one)} (see the CSV export)`, amount(list.restMicro))];
}

function counted(count: number, one: string): string {
  return count === 1 ? `1 ${one}` : `${grouped(count)} ${one}s`;
}

/** All six decimals, so that points stand under each other: 1,234.560000. */
function amount(micro: bigint): string {
  return grouped(formatUsdc(micro));
}

/** As a headline says it, exact all the same: at least two decimals, and no zero after them. */
function shortUsdc(micro: bigint): string {
  return amount(micro).replace(/(\.\d\d\d*?)0+$/, '$1');
}

/** A number with a comma before every three of its digits that stand before the point. */
function grouped(number: string | number): string {
  const [whole = '', ...decimals] = String(number).split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...decimals].join('.');
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
          `SHA-256 of the CSV export of this window (export.csv?${search}; its newest ${grouped(csv.mostRows)} rows at most): ${csv.digest}`,
        ]),
  ];
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
