import { Binder } from '../../../db/binder.ts';
import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { columnsOf } from '../../../db/shown.ts';
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

const SUMS = `use, count(*) as reports, sum(count) as count, coalesce(sum(count) filter (where not within_terms), 0) as outside`;

const sumOf = ({ key, use, reports, count, outside }: SumRow): UseSum => ({
  key,
  use,
  reports: Number(reports),
  count: Number(count),
  outside: Number(outside),
});

/** The sums of licences by use, in the order of the words. */
export async function sumUsesOfLicences(sql: Sql, tenantId: string, jtis: readonly string[]): Promise<UseSum[]> {
  const rows = await sql.query<SumRow>(
    `select licence_jti as key, ${SUMS} from usage_report where tenant_id = $1 and licence_jti = any($2::text[])
      group by licence_jti, use order by licence_jti, use`,
    [tenantId, jtis],
  );
  return rows.map(sumOf);
}

/** The sums of the `most` pages that were used most in a window, the most first, each by use. */
export async function sumUsesOfPages(
  sql: Sql,
  of: { readonly tenantId: string; readonly host: string | null; readonly window: Span; readonly most: number },
): Promise<UseSum[]> {
  const binder = new Binder();
  const where = [
    `tenant_id = ${binder.bind(of.tenantId)}`,
    ...equals(binder, 'host', of.host),
    ...isWithin(binder, 'at', of.window),
  ].join(' and ');
  const rows = await sql.query<SumRow>(
    `with sums as (select slug as key, ${SUMS} from usage_report where ${where} group by slug, use),
       pages as (select key, sum(count) as total from sums group by key order by total desc, key limit ${binder.bind(of.most)})
     select sums.* from pages join sums using (key) order by total desc, key, use`,
    binder.values,
  );
  return rows.map(sumOf);
}
