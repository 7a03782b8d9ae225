import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { within } from '../earnings/crossings.ts';
import type { ObservationScope } from './observations.ts';
import { isInRowsAlone, observationConditions } from './observations.ts';

const DAY_MS = 86_400_000;

/**
 * The newest days of a window that together hold at least `most` observations that stand (or all that it has), cut to the
 * window, the newest first; from the rollups, whose net hits of a day are its standing rows. What the rows alone know is in no
 * rollup: the window itself then.
 */
export async function observedDays(sql: Sql, scope: ObservationScope, window: Span, most: number): Promise<Span[]> {
  if (isInRowsAlone(scope)) return [window];
  const binder = new Binder();
  const dimension = scope.agent === null ? 'total' : 'full';
  const days = { fromMs: Math.floor(window.fromMs / DAY_MS) * DAY_MS, toMs: window.toMs };
  const rows = await sql.query<{ bucket: Date; hits: string }>(
    `select bucket, sum(hits) as hits from observation_day o
     where ${observationConditions(binder, scope)} and o.dimension = '${dimension}' and ${within(binder, 'o.bucket', days)}
     group by bucket having sum(hits) > 0 order by bucket desc limit ${binder.bind(most + 2)}`,
    binder.values,
  );
  const spans: Span[] = [];
  let sure = 0;
  for (const { bucket, hits } of rows) {
    const fromMs = bucket.getTime();
    const toMs = fromMs + DAY_MS;
    const isWhole = fromMs >= window.fromMs && (window.toMs === null || toMs <= window.toMs);
    spans.push({ fromMs: Math.max(fromMs, window.fromMs), toMs: window.toMs === null ? toMs : Math.min(toMs, window.toMs) });
    if (isWhole) sure += Number(hits);
    if (sure >= most) break;
  }
  return joined(spans);
}

/** Neighbours as one span. */
function joined(newestFirst: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const span of newestFirst) {
    const last = spans.at(-1);
    if (last !== undefined && last.fromMs === span.toMs) spans[spans.length - 1] = { fromMs: span.fromMs, toMs: last.toMs };
    else spans.push(span);
  }
  return spans;
}
