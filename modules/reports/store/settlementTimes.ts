import { Binder } from '../../../db/binder.ts';
import type { Sql } from '../../../db/database.ts';
import { isInStates, toldFinalAt } from '../../../db/paymentStates.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { Span } from '../../kernel/time/window.ts';
import { isEmpty } from '../../kernel/time/window.ts';
import { within } from './earnings/crossings.ts';
import type { HalfAndMost } from './percentiles.ts';
import { durations, halfAndMost } from './percentiles.ts';
import { spansOf } from './spans.ts';

/** How long payments took from being stored: how many got there, and after how many milliseconds half and nineteen in twenty had. */
export interface Times extends HalfAndMost {
  readonly payments: number;
}

/** Which payments. */
export interface TimesScope {
  readonly tenantId: string;
  readonly host: string | null;
  readonly kind: CrossingKind | null;
  readonly purpose: 'page' | 'licence' | null;
}

const NONE: Times = { payments: 0, ...durations(null) };

/** How long payments of a window took. */
export interface TimesOfWindow {
  readonly settled: Times;
  readonly final: Times;
}

const NEVER: TimesOfWindow = { settled: NONE, final: NONE };

/** From storing to the first settlement, and to finality, of the live payments of a window that stand settled. Reads each of them, by an index of these. */
export async function readTimes(sql: Sql, scope: TimesScope, window: Span): Promise<TimesOfWindow> {
  return isEmpty(window) ? NEVER : ((await readTimesOfEach(sql, scope, [window]))[0] as TimesOfWindow);
}

/** The same of each of several windows, in their order, in one statement. */
export async function readTimesOfEach(
  sql: Sql,
  { tenantId, host, kind, purpose }: TimesScope,
  windows: readonly Span[],
): Promise<TimesOfWindow[]> {
  if (windows.length === 0) return [];
  const binder = new Binder();
  const only = windows.length === 1 ? windows[0] : undefined;
  const since = (moment: string): string => `(extract(epoch from ${moment} - p.accepted_at) * 1000)::bigint`;
  const where = [
    `p.tenant_id = ${binder.bind(tenantId)}`,
    // Of one window Postgres plans with its ends, and opens no closed month beside it.
    only ? within(binder, 'p.accepted_at', only) : 'p.accepted_at >= span.since and p.accepted_at < span.until',
    `p.mode = 'live' and ${isInStates('p', SETTLED_STATES)}`,
    ...(host === null ? [] : [`i.host = ${binder.bind(host)}`]),
    ...(kind === null ? [] : [`i.kind = ${binder.bind(kind)}`]),
    ...(purpose === null ? [] : [`i.purpose = ${binder.bind(purpose)}`]),
  ];
  // What a payment was for stands in what was taken in: looked up only where it is asked for.
  const isNarrowed = host !== null || kind !== null || purpose !== null;
  const from = `ledger.payment_state p${isNarrowed ? ' join ledger.payment_intake i on i.tenant_id = p.tenant_id and i.payment_id = p.payment_id' : ''}`;
  type Row = Record<'place' | 'settled' | 'final', number> & Record<'settled_ms' | 'final_ms', string[] | null>;
  const rows = await sql.query<Row & Record<string, unknown>>(
    `select place::int, count(settled)::int as settled, count(final)::int as final, ${halfAndMost('settled')} as settled_ms,
       ${halfAndMost('final')} as final_ms
     from ${only ? '(values (0)) as span (place)' : spansOf(binder, windows)} cross join lateral (
       select ${since('coalesce(p.settled_at, p.decided_at)')} as settled, ${since(toldFinalAt('p'))} as final
       from ${from} where ${where.join(' and ')} offset 0) took group by place`,
    binder.values,
  );
  const found = new Map(rows.map((row) => [row.place, row]));
  return windows.map((_window, place) => {
    const row = found.get(place);
    if (!row) return NEVER;
    return {
      settled: { payments: row.settled, ...durations(row.settled_ms) },
      final: { payments: row.final, ...durations(row.final_ms) },
    };
  });
}
