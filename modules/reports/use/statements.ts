import type { Sql } from '../../../db/database.ts';
import type { Span } from '../../kernel/time/window.ts';
import { readGroups } from '../store/earnings/earnings.ts';
import type { StatementLine } from '../store/earnings/statements.ts';
import { listStatementLines } from '../store/earnings/statements.ts';
import type { GroupTotals } from './earnings.ts';
import { groupTotals } from './earnings.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite, Totals } from './request.ts';
import { readReport } from './request.ts';

/** Most lines of one author's statement. */
export const MAX_STATEMENT_LINES = 10_000;
/** Most lines of an answer; the statements share them, and say so when they are cut. */
const MAX_LINES = 100_000;

/** What one author's wallet was paid; totals are exact whatever was cut from the lines. */
export interface Statement extends Totals {
  /** Lower case. */
  readonly wallet: string;
  readonly authorId: string | null;
  /** Newest first. */
  readonly lines: readonly StatementLine[];
  readonly isCut: boolean;
}

/** The statements of a window, the largest first; platform legs are in none. */
export interface Statements extends ReportFrame {
  readonly statements: readonly Statement[];
  readonly totalMicro: bigint;
}

/** Statements of every author paid in a window. Throws database_unavailable. */
export function readStatements(deps: ReportDeps, site: ReportSite, asked: AskedWindow): Promise<Statements> {
  return readReport(deps, site, asked, async (sql, frame) => {
    const authors = await sumAuthors(sql, site.tenantId, frame.window);
    const most = { each: MAX_STATEMENT_LINES, all: MAX_LINES };
    const statements = await withLines(sql, { tenantId: site.tenantId, window: frame.window }, authors, most);
    return { ...frame, statements, totalMicro: statements.reduce((sum, statement) => sum + statement.grossMicro, 0n) };
  });
}

/** Net sums of every author's wallet that was paid in a window, the largest first; `key` is the wallet. */
export async function sumAuthors(sql: Sql, tenantId: string, window: Span): Promise<readonly GroupTotals[]> {
  return groupTotals(await readGroups(sql, { tenantId, host: null, kind: null }, window, { groupBy: 'author' }));
}

/** The statements of these authors: at most `most.each` lines of one, and as many as they are, or `most.all`, of all together. */
export async function withLines(
  sql: Sql,
  { tenantId, window }: { readonly tenantId: string; readonly window: Span },
  authors: readonly GroupTotals[],
  most: { readonly each: number; readonly all: number },
): Promise<Statement[]> {
  const wallets = authors.map(({ key }) => key);
  // An author has as many lines as sales, and more where sales were taken back; those are few.
  const wanted = authors.map(({ events }) => Math.min(Math.max(events, 0), most.each));
  const isAll = wanted.reduce((sum, count) => sum + count, 0) <= most.all;
  const each = isAll ? most.each : fairShare(wanted, most.all);
  const found = await listStatementLines(sql, tenantId, window, { wallets, limit: each + 1 });
  const lines = Map.groupBy(found, ({ wallet }) => wallet);
  return authors.map(({ key: wallet, ...totals }) => {
    const theirs = lines.get(wallet) ?? [];
    return { ...totals, wallet, lines: theirs.slice(0, each), isCut: theirs.length > each };
  });
}

/** The largest limit an author under which all together take at most `all`; at least 1. They want more than that. */
function fairShare(wanted: readonly number[], all: number): number {
  const ascending = [...wanted].sort((a, b) => a - b);
  let left = all;
  for (const [index, count] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (count > share) return Math.max(1, share);
    left -= count;
  }
  return Math.max(1, ascending.at(-1) ?? 1);
}
