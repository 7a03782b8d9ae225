import type { LegalDetails } from '../../../tenants/store/legal.ts';
import type { Corrections } from '../../store/earnings/earnings.ts';
import type { ReportFrame, Totals } from '../request.ts';

/** Most lines of each table of a document; what is left out stands in a line of its own, so that lines always add up to their total. */
export const MAX_PAGES = 2_000;
export const MAX_AUTHORS = 5_000;
export const MAX_SALES = 3_000;

/** What one page came to. */
export interface PageLine extends Totals {
  readonly slug: string;
  readonly title: string | null;
  /** The author's smallest and largest share, 0 … 1; null in the statement of a site. */
  readonly shares: readonly [number, number] | null;
}

/** What one wallet was paid. */
export interface WalletLine extends Totals {
  /** Lower case. */
  readonly wallet: string;
  readonly authorId: string | null;
}

/** One transaction, or what else settled sales; or what of it was taken back, below zero. */
export interface TransactionLine {
  /** Of its newest sale. */
  readonly atMs: number;
  readonly reference: string | null;
  readonly micro: bigint;
}

/** A list cut to what a document has room for; `restMicro` is the sum of the `rest` lines that are not in it. */
export interface CutList<Line> {
  readonly lines: readonly Line[];
  readonly rest: number;
  readonly restMicro: bigint;
}

/** All that a statement says, from one snapshot; micro-USDC. */
export interface StatementReport extends ReportFrame {
  readonly hosts: readonly string[];
  /** Null: the statement of the whole site. */
  readonly authorId: string | null;
  /** Of the document: the same for the same site, author and window, whenever it is drawn; another one each time while the window is not over. */
  readonly number: string;
  /** By whose calendar the window is said. */
  readonly timeZone: string;
  /** Who publishes the site. */
  readonly publisher: LegalDetails;
  readonly totals: Totals;
  /** What was taken back in the window; `totals` are without it. */
  readonly corrections: Corrections;
  /** The largest first; licences are not among them. */
  readonly pages: CutList<PageLine>;
  readonly licences: Totals & { readonly count: number };
  /** The largest first; of an author's statement his own. */
  readonly wallets: CutList<WalletLine>;
  /** The newest first; `rest` counts sales. */
  readonly transactions: CutList<TransactionLine>;
}
