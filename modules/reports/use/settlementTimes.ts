import type { Span } from '../../kernel/time/window.ts';
import type { Times, TimesOfWindow, TimesScope } from '../store/settlementTimes.ts';
import { readTimes, readTimesOfEach } from '../store/settlementTimes.ts';
import type { AskedSeries } from './calendar.ts';
import { bucketsOf } from './calendar.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { readShortReport } from './request.ts';

/** How long the payments stored in one stretch of a series took. */
export interface SettlementBucket extends TimesOfWindow, Span {}

/** How long payments took to be settled, and to be final. */
export interface SettlementTimes extends ReportFrame {
  readonly settled: Times;
  readonly final: Times;
  /** One of each asked for, in their order. */
  readonly series: readonly (readonly SettlementBucket[])[];
}

/**
 * Times of the live payments stored in a window that stand settled, and of each stretch of the series that are asked for. Throws
 * database_unavailable, and invalid_parameter as `bucketsOf` does.
 */
export function readSettlementTimes(
  deps: ReportDeps,
  site: ReportSite,
  {
    host,
    kind,
    purpose,
    series = [],
    ...asked
  }: AskedWindow & Omit<TimesScope, 'tenantId'> & { readonly series?: readonly AskedSeries[] },
): Promise<SettlementTimes> {
  const scope = { tenantId: site.tenantId, host, kind, purpose };
  const work = async (sql: Parameters<typeof readTimes>[0], frame: ReportFrame): Promise<SettlementTimes> => {
    const cut = series.map((one) => bucketsOf(frame.window, one, frame.generatedAtMs));
    const whole = await readTimes(sql, scope, frame.window);
    const all: SettlementBucket[][] = [];
    for (const buckets of cut) {
      const times = await readTimesOfEach(sql, scope, buckets);
      all.push(buckets.map((bucket, place) => ({ ...bucket, ...(times[place] as TimesOfWindow) })));
    }
    return { ...frame, ...whole, series: all };
  };
  return readShortReport(deps, site, asked, work);
}
