import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { within } from '../earnings/crossings.ts';
import type { SplitCursor, SplitPage } from '../earnings/pages.ts';
import { cutSplitPage, rowsToRead } from '../earnings/pages.ts';
import type { ObservationScope } from './observations.ts';
import { observationConditions } from './observations.ts';
import { observedDays } from './observedDays.ts';

/** One observation that stands. */
export interface StandingObservation {
  readonly host: string;
  readonly slug: string;
  readonly kind: string | null;
  readonly verdict: string;
  readonly classifiedAs: string;
  readonly agentUa: string | null;
  readonly verified: boolean | null;
  readonly verifiedAgent: string | null;
  readonly sigInvalid: boolean | null;
  readonly micro: bigint | null;
  readonly atMs: number;
}

/** A row of the list; what JSON could not hold is text. */
export interface ObservationRow {
  readonly host: string;
  readonly slug: string;
  readonly kind: string | null;
  readonly verdict: string;
  readonly classified_as: string;
  readonly agent_ua: string | null;
  readonly verified: boolean | null;
  readonly verified_agent: string | null;
  readonly sig_invalid: boolean | null;
  readonly micro: string | null;
  readonly at_ms: string;
}

/**
 * True of an observation `o` that stands: takes none back, and no later row of its payment (all at its one time) took it back; one
 * without a payment cannot be. `offset 0` keeps that a look into an index for each row with a payment. The spans are named again so
 * that Postgres leaves out the days it need not open.
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
  return `select o.host, o.slug, o.kind, o.verdict, o.classified_as, o.agent_ua, o.verified, o.verified_agent, o.sig_invalid, o.micro::text,
         (extract(epoch from o.at) * 1000)::bigint::text as at_ms
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
  const rows = await sql.query<ObservationRow & Record<string, unknown>>(
    newestObservations(binder, scope, spans, most),
    binder.values,
  );
  return rows.map(standingFromRow);
}

function standingFromRow(row: ObservationRow): StandingObservation {
  return {
    host: row.host,
    slug: row.slug,
    kind: row.kind,
    verdict: row.verdict,
    classifiedAs: row.classified_as,
    agentUa: row.agent_ua,
    verified: row.verified,
    verifiedAgent: row.verified_agent,
    sigInvalid: row.sig_invalid,
    micro: row.micro === null ? null : BigInt(row.micro),
    atMs: Number(row.at_ms),
  };
}

/** True when the site's rollups know this agent label. */
export async function knowsAgentLabel(sql: Sql, tenantId: string, label: string): Promise<boolean> {
  const rows = await sql.query(
    "select 1 from observation_day where tenant_id = $1 and dimension = 'full' and agent = $2 limit 1",
    [tenantId, label],
  );
  return rows.length > 0;
}
