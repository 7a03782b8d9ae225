import type { Address } from '../../../kernel/money/legs.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { ReadableWindow } from '../../../kernel/time/window.ts';
import type { ReadingDeps } from '../../../paging/use/deps.ts';
import { listAuthorIds } from '../../store/earnings/authors.ts';
import { readGroups } from '../../store/earnings/earnings.ts';
import { listCorrectedLegs } from '../../store/lists/tally.ts';
import { groupTotals } from '../earnings.ts';
import type { AskedWindow, ReportFrame, ReportSite, Totals } from '../request.ts';
import { readReport } from '../request.ts';

/** One author's wallet in a window; its lines are the legs list filtered by it. */
export interface AuthorTotals extends Totals {
  /** Lower case. */
  readonly wallet: Address;
  readonly authorId: string | null;
  readonly window: ReadableWindow;
  readonly host: string | null;
  readonly kind: CrossingKind | null;
}

/** The newest author id seen with each wallet of a site, in their order; null where none is. One statement. Throws database_unavailable. */
export async function authorIdsOf(
  { reading }: ReadingDeps,
  tenantId: string,
  wallets: readonly string[],
): Promise<(string | null)[]> {
  const found = await listAuthorIds(reading, tenantId, wallets, { toMs: null });
  return wallets.map((wallet) => found.get(wallet) ?? null);
}

/**
 * How many lines the statements of a report have, by wallet: each sale is one, and one that was taken back is two more than `events` says. Asked for once,
 * with the first. Throws database_unavailable.
 */
export function linesOfWallets(
  { reading }: Pick<ReadingDeps, 'reading'>,
  { tenantId, window, host, kind }: Pick<AuthorTotals, 'window' | 'host' | 'kind'> & { readonly tenantId: string },
  authors: readonly Pick<AuthorTotals, 'wallet' | 'events'>[],
): (wallet: string) => Promise<number> {
  const events = new Map<string, number>(authors.map((author) => [author.wallet, author.events]));
  let corrected: Promise<Map<string, number>> | null = null;
  return async (wallet) => {
    corrected ??= listCorrectedLegs(reading, { tenantId, host, kind }, window);
    return (events.get(wallet) ?? 0) + 2 * ((await corrected).get(wallet) ?? 0);
  };
}

/**
 * Every author paid in a window, the largest first, from the rollups: the authors of the statements,
 * exact whatever a page shows of them. Throws database_unavailable.
 */
export function readAuthors(
  deps: ReadingDeps,
  site: ReportSite,
  asked: AskedWindow & { readonly host: string | null; readonly kind: CrossingKind | null },
): Promise<ReportFrame & { readonly authors: readonly AuthorTotals[]; readonly totalMicro: bigint }> {
  const { host, kind } = asked;
  return readReport({ database: deps.reading, clock: deps.clock }, site, asked, async (sql, frame) => {
    const scope = { tenantId: site.tenantId, host, kind };
    const groups = groupTotals(await readGroups(sql, scope, frame.window, { groupBy: 'author' }));
    const authors = groups.map(({ key, ...totals }) => ({
      ...totals,
      wallet: key as Address,
      window: frame.window,
      host,
      kind,
    }));
    return { ...frame, authors, totalMicro: authors.reduce((sum, { grossMicro }) => sum + grossMicro, 0n) };
  });
}
