import type { PageLine, StatementReport, TransactionLine, WalletLine } from './report.ts';

/** The lists of a report, which go line by line; all else goes as one. */
export type ReportHead = Omit<StatementReport, 'pages' | 'wallets' | 'transactions'> & {
  readonly [List in 'pages' | 'wallets' | 'transactions']: Omit<StatementReport[List], 'lines'>;
};

/** To the thread: rows of the window's CSV as Postgres gives them, in order; some lines of a list; and at last the rest of the report. */
export type ToDrawing =
  | { readonly kind: 'rows'; readonly rows: Uint8Array }
  | { readonly kind: 'pages'; readonly lines: readonly PageLine[] }
  | { readonly kind: 'wallets'; readonly lines: readonly WalletLine[] }
  | { readonly kind: 'transactions'; readonly lines: readonly TransactionLine[] }
  /** `mostRows`: how many rows the CSV may have; null where its digest is not told. */
  | { readonly kind: 'report'; readonly report: ReportHead; readonly mostRows: number | null };

/** From the thread: it has done with some rows; the document, with the memory that the thread holds after it. */
export type FromDrawing =
  | { readonly kind: 'more' }
  | { readonly kind: 'drawn'; readonly bytes: Uint8Array; readonly heldBytes: number };
