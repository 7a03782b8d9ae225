import type { CrossingKind } from '../../kernel/terms.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import type { Prices } from '../../pricing/rules/pricing.ts';
import { settableMicro } from '../../pricing/rules/pricing.ts';
import type { WhatIfSums } from '../../pricing/rules/whatIf.ts';
import { atPrices } from '../../pricing/rules/whatIf.ts';
import { sumAsked } from '../store/audit/observations.ts';
import { MAX_GROUPS } from './audit.ts';
import type { AskedWindow, ReportFrame, ReportSite } from './request.ts';
import { readShortReport } from './request.ts';

/** What a price can be broken down by. */
export const WHAT_IF_GROUPS = ['agent', 'slug'] as const;
/** One of them. */
export type WhatIfGroupBy = (typeof WHAT_IF_GROUPS)[number];

/** One agent, by its label, or one page. */
export interface WhatIfGroup extends WhatIfSums {
  readonly key: string;
}

/** What prices would have brought in a window; micro-USDC. */
export interface WhatIf extends ReportFrame {
  readonly prices: Readonly<Record<CrossingKind, bigint>>;
  readonly totals: WhatIfSums;
  /** Those that the price brings most of first; null unless asked for. */
  readonly breakdown: readonly WhatIfGroup[] | null;
  /** True when there are more groups than the largest 1,000. */
  readonly isCut: boolean;
}

/** What prices are tried on. */
export interface WhatIfQuery extends AskedWindow {
  readonly prices: Prices;
  readonly host: string | null;
  readonly kind: CrossingKind | null;
  readonly groupBy: WhatIfGroupBy | null;
}

/**
 * The requests of a window that were paid, denied or blocked, as they were and at other prices. Throws invalid_parameter for prices that
 * could not be set, and database_unavailable.
 */
export async function readWhatIf(
  deps: ReadingDeps & { readonly priceFloorMicro: bigint },
  site: ReportSite,
  { prices: asked, host, kind, groupBy, ...window }: WhatIfQuery,
): Promise<WhatIf> {
  const prices = settableMicro(asked, deps.priceFloorMicro);
  const { reading: database, clock } = deps;
  return await readShortReport({ database, clock }, site, window, async (sql, frame) => {
    const sums = await sumAsked(sql, { tenantId: site.tenantId, host, kind }, frame.window, groupBy ?? 'nothing');
    const groups = [...Map.groupBy(sums, ({ key }) => key)]
      .map(([key, rows]) => ({ key, ...atPrices(rows, prices) }))
      .filter(({ paid, denied, blocked }) => paid !== 0 || denied !== 0 || blocked !== 0)
      .sort(mostFirst);
    return {
      ...frame,
      prices,
      totals: atPrices(sums, prices),
      breakdown: groupBy === null ? null : groups.slice(0, MAX_GROUPS),
      isCut: groupBy !== null && groups.length > MAX_GROUPS,
    };
  });
}

function mostFirst(a: WhatIfGroup, b: WhatIfGroup): number {
  const [x, y] = [a, b].map(({ ifPaidMicro, ifDeniedMicro }) => ifPaidMicro + ifDeniedMicro) as [bigint, bigint];
  return x === y ? (a.key < b.key ? -1 : 1) : x > y ? -1 : 1;
}
