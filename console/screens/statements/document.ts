import type { Page } from '../../core/data.ts';
import { mutation } from '../../core/mutate.ts';

/** What a month earned, what each author was paid of it, and the months before. */
export const STATEMENTS_DOCUMENT = `query statements($tenantId: ID, $window: WindowInput, $months: WindowInput, $timeZone: String, $after: String) {
  tenant(tenantId: $tenantId) {
    before: earnings(window: $months) { series(every: MONTH, timeZone: $timeZone) { from grossMicro events } }
    earnings(window: $window, groupBy: AUTHOR_ID) {
      window { from to retentionClampedTo }
      totals { grossMicro events reads citations }
      archives
      breakdown(first: 25, after: $after) {
        totalCount
        pageInfo { hasNextPage endCursor }
        nodes { key grossMicro events reads citations }
      }
    }
  }
}`;

/** A link by which an author reads their own statement of a month. */
export const LINK_DOCUMENT = mutation('makeStatementLink', 'url expiresAt');

/** What an author was paid in a month. */
export interface AuthorRow {
  /** The author's id, or a wallet that no credits name. */
  readonly key: string;
  readonly grossMicro: string;
  readonly events: number;
  readonly reads: number;
  readonly citations: number;
}

/** The answer of `STATEMENTS_DOCUMENT`. */
export interface Statements {
  readonly tenant: {
    readonly before: {
      readonly series: readonly { readonly from: number; readonly grossMicro: string; readonly events: number }[];
    } | null;
    readonly earnings: {
      readonly window: { readonly from: number; readonly to: number | null; readonly retentionClampedTo: number | null };
      readonly totals: Omit<AuthorRow, 'key'>;
      /** How many archives the documents are. */
      readonly archives: number | null;
      readonly breakdown: (Page<AuthorRow> & { readonly totalCount: number }) | null;
    } | null;
  } | null;
}
