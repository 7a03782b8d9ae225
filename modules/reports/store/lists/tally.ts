/** Exact lengths of lists from the rollups, which stand for the same rows (safety 22): a correction there takes its row back, and here is one of its own. */

import { sql as text } from 'kysely';
import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import { run, tables } from '../../../../db/statement.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { sumObservations } from '../audit/observations.ts';
import type { CrossingDimension, CrossingScope } from '../earnings/crossings.ts';
import { crossingConditions, crossingSource, within } from '../earnings/crossings.ts';
import { isGiven } from '../scope.ts';
import type { CrossingFilter, LegFilter } from './crossings.ts';
import type { ObservationFilter } from './observations.ts';

/** How many crossings there are, corrections among them; null unless the filter is made of window, host, kind, slug and purpose. */
export function tallyCrossings(sql: Sql, tenantId: string, filter: CrossingFilter): Promise<number> | null {
  const { host, kind, slug, purpose, window, ...rest } = filter;
  if (window === undefined || isAny(rest)) return null;
  const scope = { tenantId, host: host ?? null, kind: kind ?? null, purpose: purpose ?? null, slug: slug ?? null };
  return count(sql, scope, window, slug ? 'slug' : 'total');
}

/** How many legs of authors there are, those of corrections among them; null unless the filter is made of window, host, kind and the author's wallet. */
export function tallyLegs(sql: Sql, tenantId: string, filter: LegFilter): Promise<number> | null {
  const { host, kind, author, window, includePlatform, ...rest } = filter;
  if (window === undefined || includePlatform !== false || isAny(rest)) return null;
  const scope = { tenantId, host: host ?? null, kind: kind ?? null, wallets: author ? [author] : null };
  return count(sql, scope, window, 'author');
}

/** How many observations stand; null when the filter names a slug, an amount or an agent's own name, which no rollup knows. */
export function tallyObservations(sql: Sql, tenantId: string, filter: ObservationFilter): Promise<number> | null {
  const { host, kind, verdicts, classifiedAs, reason, agent, verified, sigInvalid, window, ...rest } = filter;
  if (isAny(rest) || (isGiven(verified) && isGiven(sigInvalid))) return null;
  const scope = { tenantId, host: host ?? null, kind: kind ?? null, verdict: null, agent: agent ? { label: agent } : null };
  return sumObservations(sql, scope, window).then((sums) =>
    sums
      .filter((sum) => !verdicts || verdicts.includes(sum.verdict))
      .filter((sum) => !classifiedAs || sum.classifiedAs === classifiedAs)
      .filter((sum) => !reason || sum.reason === reason)
      .map(({ hits, ...sum }) => {
        if (isGiven(sigInvalid)) return sigInvalid ? sum.invalid : hits - sum.invalid;
        return isGiven(verified) ? (verified ? sum.verified : hits - sum.verified) : hits;
      })
      .reduce((total, hits) => total + hits, 0),
  );
}

async function count(sql: Sql, scope: CrossingScope, window: Span, by: CrossingDimension): Promise<number> {
  if (isEmpty(window)) return 0;
  const binder = new Binder();
  const source = crossingSource(binder, scope, [window], by);
  const [row] = await sql.query<{ count: string }>(
    `select coalesce(sum(events), 0) + 2 * (select count(*) ${corrections(binder, scope, window, by)}) as count from (${source}) part`,
    binder.values,
  );
  return Number(row?.count ?? 0);
}

/** Where those of the rows are that correct: the rollups take one off for each, and the list has one more. By the index of corrections, which are few. */
function corrections(binder: Binder, scope: CrossingScope, window: Span, by: CrossingDimension): string {
  const { wallets = null, ...ofCrossings } = scope;
  const legs = [
    "join ledger.leg l on l.tenant_id = c.tenant_id and l.crossing_id = c.crossing_id and l.role <> 'platform'",
    ...(wallets === null ? [] : [`and l.to_address = any(${binder.bind(wallets)}::text[])`]),
  ];
  return `from ledger.crossing c ${by === 'author' ? legs.join(' ') : ''}
      where ${crossingConditions(binder, ofCrossings)} and ${within(binder, 'c.at', window)} and c.sequence % 2 = 1`;
}

/** How many legs of corrections each author's wallet has in a window; wallets without are left out. */
export async function listCorrectedLegs(
  sql: Sql,
  { tenantId, host, kind }: Pick<CrossingScope, 'tenantId' | 'host' | 'kind'>,
  { fromMs, toMs }: Span,
): Promise<Map<string, number>> {
  let corrected = tables
    .selectFrom('ledger.crossing as c')
    .innerJoin('ledger.leg as l', (on) => on.onRef('l.tenantId', '=', 'c.tenantId').onRef('l.crossingId', '=', 'c.crossingId'))
    .select(['l.toAddress', ({ fn }) => fn.countAll<string>().as('legs')])
    .where('c.tenantId', '=', tenantId)
    .where(text<boolean>`c.sequence % 2 = 1`)
    .where('l.role', '<>', 'platform')
    .where('c.at', '>=', new Date(fromMs));
  if (toMs !== null) corrected = corrected.where('c.at', '<', new Date(toMs));
  if (host !== null) corrected = corrected.where('c.host', '=', host);
  if (kind !== null) corrected = corrected.where('c.kind', '=', kind as CrossingKind);
  const rows = await run(sql, corrected.groupBy('l.toAddress'));
  return new Map(rows.map(({ toAddress, legs }) => [toAddress, Number(legs)]));
}

function isAny(rest: object): boolean {
  return Object.values(rest).some(isGiven);
}
