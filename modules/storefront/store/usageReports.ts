import type { ExpressionBuilder } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';
import { anyOf, run, tables } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import type { Span } from '../../kernel/time/window.ts';
import type { Source } from '../../paging/store/source.ts';
import { equals, isWithin } from '../../paging/store/source.ts';

/** Which reports. */
export interface UsageFilter {
  readonly id?: string;
  readonly host?: string | null | undefined;
  readonly slug?: string | null | undefined;
  readonly use?: string | null | undefined;
  readonly licenceJti?: string | null | undefined;
  readonly withinTerms?: boolean | null | undefined;
  readonly window?: Span;
}

const USAGE_REPORT = columnsOf('usage_report u', [
  'reportId',
  'licenceJti',
  'host',
  'slug',
  'use',
  'count',
  'withinTerms',
  'at',
  'reportedAt',
]);
/** A report of use as its site reads it. */
export type UsageReportRow = RowOf<typeof USAGE_REPORT>;

/** Reports of use of a site. */
export const USAGE_REPORTS: Source<UsageReportRow, UsageFilter> = {
  columns: USAGE_REPORT,
  from: 'usage_report u',
  tenant: 'u.tenant_id',
  id: { column: 'u.report_id', type: 'uuid' },
  orderings: {
    NEWEST: { column: 'u.at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'u.at', type: 'timestamptz', direction: 'asc' },
  },
  keys: {},
  where: (binder, filter) => [
    ...equals(binder, 'u.report_id', filter.id),
    ...equals(binder, 'u.host', filter.host),
    ...equals(binder, 'u.slug', filter.slug),
    ...equals(binder, 'u.use', filter.use),
    ...equals(binder, 'u.licence_jti', filter.licenceJti),
    ...equals(binder, 'u.within_terms', filter.withinTerms),
    ...isWithin(binder, 'u.at', filter.window),
  ],
};

/** What was reported of one use; `key` is a licence's jti or a page's slug. */
export interface UseSum {
  readonly key: string;
  readonly use: string;
  readonly reports: number;
  /** Uses: the counts of the reports. */
  readonly count: number;
  /** Those beyond what the licence allows. */
  readonly outside: number;
}

type SumRow = Record<'key' | 'use' | 'reports' | 'count' | 'outside', string>;

const sums = ({ fn }: ExpressionBuilder<Tables, 'usage_report'>) =>
  [
    fn.countAll<string>().as('reports'),
    fn.sum<string>('usage_report.count').as('count'),
    fn.coalesce(fn.sum<string>('usage_report.count').filterWhere('withinTerms', '=', false), text<string>`0`).as('outside'),
  ] as const;

const sumOf = ({ key, use, reports, count, outside }: SumRow): UseSum => ({
  key,
  use,
  reports: Number(reports),
  count: Number(count),
  outside: Number(outside),
});

/** The sums of licences by use, in the order of the words. */
export async function sumUsesOfLicences(sql: Sql, tenantId: string, jtis: readonly string[]): Promise<UseSum[]> {
  const uses = tables.selectFrom('usage_report').select(['licenceJti as key', 'use']).select(sums);
  const asked = uses.where('tenantId', '=', tenantId).where('licenceJti', '=', anyOf(jtis));
  const rows = await run(sql, asked.groupBy(['licenceJti', 'use']).orderBy('licenceJti').orderBy('use'));
  return rows.map(sumOf);
}

/** The sums of the `most` pages that were used most in a window, the most first, each by use. */
export async function sumUsesOfPages(
  sql: Sql,
  of: { readonly tenantId: string; readonly host: string | null; readonly window: Span; readonly most: number },
): Promise<UseSum[]> {
  const { tenantId, host, window } = of;
  const rows = await run(
    sql,
    tables
      .with('uses', (query) =>
        query
          .selectFrom('usage_report')
          .select(['slug as key', 'use'])
          .select(sums)
          .where('usage_report.tenantId', '=', tenantId)
          .where('at', '>=', new Date(window.fromMs))
          .$if(window.toMs !== null, (uses) => uses.where('at', '<', new Date(window.toMs ?? 0)))
          .$if(host !== null, (uses) => uses.where('host', '=', host ?? ''))
          .groupBy(['slug', 'use']),
      )
      .with('pages', (query) =>
        query
          .selectFrom('uses')
          .select(['key', ({ fn }) => fn.sum('count').as('total')])
          .groupBy('key')
          .orderBy('total', 'desc')
          .orderBy('key')
          .limit(of.most),
      )
      .selectFrom('pages')
      .innerJoin('uses', 'uses.key', 'pages.key')
      .select(['uses.key', 'uses.use', 'uses.reports', 'uses.count', 'uses.outside'])
      .orderBy('pages.total', 'desc')
      .orderBy('uses.key')
      .orderBy('uses.use'),
  );
  return rows.map(sumOf);
}
