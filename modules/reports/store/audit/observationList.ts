import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { RowOf } from '../../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../../db/shown.ts';
import { run, tables } from '../../../../db/statement.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { within } from '../earnings/crossings.ts';
import type { SplitCursor, SplitPage } from '../earnings/pages.ts';
import { cutSplitPage, rowsToRead } from '../earnings/pages.ts';
import type { ObservationScope } from './observations.ts';
import { observationConditions } from './observations.ts';
import { observedDays } from './observedDays.ts';

/** One observation that stands. */
export interface StandingObservation extends Omit<ObservationRow, 'micro' | 'atMs'> {
  readonly micro: bigint | null;
  readonly atMs: number;
}

const ROW = both(
  columnsOf('observation o', [
    ...(['host', 'slug', 'kind', 'verdict', 'classifiedAs', 'agentUa', 'verified', 'verifiedAgent', 'sigInvalid'] as const),
  ]),
  workedOut<{ readonly micro: string | null; readonly atMs: string }>(
    `o.micro::text as micro, (extract(epoch from o.at) * 1000)::bigint::text as "atMs"`,
  ),
);
/** A row of the list; what JSON could not hold is text. */
export type ObservationRow = RowOf<typeof ROW>;

/**
 * True of an observation `o` that stands: takes none back, and no later row of its payment (all at its one time) took it back; one
 * without a payment cannot be. A fence, and the span said again (db/PLANS.md).
 */
function standing(binder: Binder, tenantId: string, spans: readonly Span[]): string {
  return `o.count = 1 and (o.payment_id is null or not exists (
    select 1 from observation k where k.tenant_id = ${binder.bind(tenantId)} and k.at = o.at and k.payment_id = o.payment_id
      and k.verdict = o.verdict and k.count = -1 and k.observation_id > o.observation_id and ${amid(binder, 'k.at', spans)} offset 0))`;
}

function amid(binder: Binder, column: string, spans: readonly Span[]): string {
  return `(${spans.map((span) => within(binder, column, span)).join(' or ')})`;
}

/** How far back a busy site's page reaches at most. */
const FIRST_LOOK_MS = 86_400_000;

/**
 * The first look of a list: the newest day of its window. To plan for a year of day partitions takes longer than to read from
 * one, so that day is tried by itself, and as a rule it fills the page.
 */
export function firstLook(window: Span): Span {
  return { fromMs: Math.max(window.fromMs, (window.toMs ?? window.fromMs) - FIRST_LOOK_MS), toMs: window.toMs };
}

/**
 * A page of the newest observations that stand, `limit` of them unless there are no more. Their times are the caller's own, so that any
 * number may share one. `looked` are the rows of `newestObservations` for the first look and `rowsToRead` of the page.
 */
export async function listObservations(
  sql: Sql,
  scope: ObservationScope,
  window: Span,
  page: { readonly limit: number; readonly cursor: SplitCursor | null; readonly looked: readonly ObservationRow[] },
): Promise<SplitPage<StandingObservation>> {
  const { limit, cursor, looked } = page;
  if (isEmpty(window)) return { rows: [], next: null, isCut: false };
  const most = rowsToRead(limit, cursor);
  // Where the newest day does not fill the page, only days are opened of which the rollups know rows.
  const isAll = looked.length >= most || firstLook(window).fromMs === window.fromMs;
  const found = isAll
    ? looked.map(standingFromRow)
    : await readSpans(sql, scope, await observedDays(sql, scope, window, most), most);
  return cutSplitPage(found, limit, cursor);
}

/** The statement of the newest `most` observations of some spans, newest first; of one millisecond, the last one written first. */
export function newestObservations(binder: Binder, scope: ObservationScope, spans: readonly Span[], most: number): string {
  return `select ${ROW.text}
       from observation o
       where ${observationConditions(binder, scope)} and ${amid(binder, 'o.at', spans)} and ${standing(binder, scope.tenantId, spans)}
       order by o.at desc, o.observation_id desc limit ${binder.bind(most)}`;
}

async function readSpans(
  sql: Sql,
  scope: ObservationScope,
  spans: readonly Span[],
  most: number,
): Promise<StandingObservation[]> {
  if (spans.length === 0) return [];
  const binder = new Binder();
  const rows = await sql.query<ObservationRow>(newestObservations(binder, scope, spans, most), binder.values);
  return rows.map(standingFromRow);
}

function standingFromRow({ micro, atMs, ...row }: ObservationRow): StandingObservation {
  return { ...row, micro: micro === null ? null : BigInt(micro), atMs: Number(atMs) };
}

/** True when the site's rollups know this agent label. */
export async function knowsAgentLabel(sql: Sql, tenantId: string, label: string): Promise<boolean> {
  const known = tables.selectFrom('observation_day').select('agent').where('tenantId', '=', tenantId);
  const labelled = known.where('dimension', '=', 'full').where('agent', '=', label).limit(1);
  return (await run(sql, labelled)).length > 0;
}
