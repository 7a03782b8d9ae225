/** Exact lengths of lists from the rollups, which stand for the same rows (safety 22): a correction there takes its row back. */

import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { sumObservations } from '../audit/observations.ts';
import type { CrossingDimension, CrossingScope } from '../earnings/crossings.ts';
import { crossingSource } from '../earnings/crossings.ts';
import { isGiven } from '../scope.ts';
import type { CrossingFilter, LegFilter } from './crossings.ts';
import type { ObservationFilter } from './observations.ts';

/** How many crossings stand; null unless the filter is made of window, host, kind, slug and purpose. */
export function tallyCrossings(sql: Sql, tenantId: string, filter: CrossingFilter): Promise<number> | null {
  const { host, kind, slug, purpose, window, includeCorrected, ...rest } = filter;
  if (window === undefined || includeCorrected === true || isAny(rest)) return null;
  const scope = { tenantId, host: host ?? null, kind: kind ?? null, purpose: purpose ?? null };
  return slug
    ? count(sql, scope, window, { dimension: 'slug', keyed: (bind) => `key = slug_key(${bind(slug)})` })
    : count(sql, scope, window, { dimension: 'total' });
}

/** How many legs of authors stand; null unless the filter is made of window, host, kind and the author's wallet. */
export function tallyLegs(sql: Sql, tenantId: string, filter: LegFilter): Promise<number> | null {
  const { host, kind, author, window, includeCorrected, includePlatform, ...rest } = filter;
  if (window === undefined || includeCorrected === true || includePlatform !== false || isAny(rest)) return null;
  const scope = { tenantId, host: host ?? null, kind: kind ?? null };
  return count(sql, scope, window, { dimension: 'author', ...(author ? { keyed: (bind) => `key = ${bind(author)}` } : {}) });
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

async function count(
  sql: Sql,
  scope: CrossingScope,
  window: Span,
  { dimension, keyed }: { readonly dimension: CrossingDimension; readonly keyed?: (bind: (value: unknown) => string) => string },
): Promise<number> {
  if (isEmpty(window)) return 0;
  const binder = new Binder();
  const source = crossingSource(binder, scope, [window], dimension);
  const where = keyed === undefined ? '' : `where ${keyed((value) => binder.bind(value))}`;
  const [row] = await sql.query<{ count: string }>(
    `select coalesce(sum(events), 0) as count from (${source}) part ${where}`,
    binder.values,
  );
  return Number(row?.count ?? 0);
}

function isAny(rest: object): boolean {
  return Object.values(rest).some(isGiven);
}
