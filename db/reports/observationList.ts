import type { Span } from '../../domain/window.ts';
import type { Sql } from '../database.ts';
import { Binder } from './binder.ts';
import { within } from './crossings.ts';
import type { ObservationScope } from './observations.ts';
import { observationConditions } from './observations.ts';
import { observedDays } from './observedDays.ts';
import type { Page } from './pages.ts';
import { readPage } from './pages.ts';

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

interface Row {
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
  readonly at: Date;
}

/**
 * True of an observation `o` that stands: takes none back, and no later row of its payment (all at its one time) took it back. The
 * spans are named again so that Postgres leaves out the days it need not open.
 */
function standing(binder: Binder, spans: readonly Span[]): string {
  return `o.count = 1 and not exists (
    select 1 from observation k where k.tenant_id = o.tenant_id and k.at = o.at and k.payment_id = o.payment_id
      and k.verdict = o.verdict and k.count = -1 and k.observation_id > o.observation_id and ${amid(binder, 'k.at', spans)})`;
}

function amid(binder: Binder, column: string, spans: readonly Span[]): string {
  return `(${spans.map((span) => within(binder, column, span)).join(' or ')})`;
}

/** The newest observations that stand, older than the window's end; at least `limit` of them unless there are no more. */
export function listObservations(
  sql: Sql,
  scope: ObservationScope,
  window: Span,
  limit: number,
): Promise<Page<StandingObservation>> {
  return readPage(window, limit, (span, most) => readNewest(sql, scope, span, most));
}

/** How far back a busy site's page reaches at most. */
const FIRST_LOOK_MS = 86_400_000;

/**
 * The newest rows of a window. To plan for a year of day partitions takes longer than to read from one, so the newest day is
 * tried by itself, and then only days are opened of which the rollups know rows.
 */
async function readNewest(sql: Sql, scope: ObservationScope, window: Span, most: number): Promise<StandingObservation[]> {
  const newest = { fromMs: Math.max(window.fromMs, (window.toMs ?? window.fromMs) - FIRST_LOOK_MS), toMs: window.toMs };
  if (newest.fromMs > window.fromMs) {
    const rows = await readSpans(sql, scope, [newest], most);
    if (rows.length >= most) return rows;
  }
  return await readSpans(sql, scope, await observedDays(sql, scope, window, most), most);
}

async function readSpans(
  sql: Sql,
  scope: ObservationScope,
  spans: readonly Span[],
  most: number,
): Promise<StandingObservation[]> {
  if (spans.length === 0) return [];
  const binder = new Binder();
  const rows = await sql.query<Row & Record<string, unknown>>(
    `select * from (
       select o.* from observation o
       where ${observationConditions(binder, scope)} and ${amid(binder, 'o.at', spans)} and ${standing(binder, spans)}
       order by o.at desc fetch first ${binder.bind(most)} rows with ties
     ) page order by at desc, observation_id desc`,
    binder.values,
  );
  return rows.map(standingFromRow);
}

function standingFromRow(row: Row): StandingObservation {
  return {
    ...{ host: row.host, slug: row.slug, kind: row.kind, verdict: row.verdict, classifiedAs: row.classified_as },
    ...{ agentUa: row.agent_ua, verified: row.verified, verifiedAgent: row.verified_agent, sigInvalid: row.sig_invalid },
    micro: row.micro === null ? null : BigInt(row.micro),
    atMs: row.at.getTime(),
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
