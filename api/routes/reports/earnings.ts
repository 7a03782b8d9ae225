import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { BreakdownRow, Earnings, EarningsGroup, EarningsTotals } from '../../../modules/reports/use/earnings.ts';
import { readEarnings } from '../../../modules/reports/use/earnings.ts';
import { shownWallet } from '../../../modules/reports/use/wallet.ts';
import type { KeyCall, KeyRoute } from '../../route.ts';
import { EarningsParams, PublisherEarnings } from '../../schemas/reports/earnings.ts';
import { parseReport } from '../../schemas/reports/report.ts';
import { jsonResponse, keyErrors } from '../responses.ts';
import { frameBody, REPORT_HEADERS, siteOf, sumsBody } from './reportBody.ts';

/** GET /_svc/earnings: totals of a window, the window before, a breakdown, and recent crossings, newest first. */
export const earningsRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/earnings',
  isFiltered: true,
  access: { scope: 'earnings.read.all', freshness: 'now' },
  cost: 'heavy',
  isReport: true,
  operation: {
    operationId: 'getEarnings',
    tags: ['Earnings'],
    summary: 'Earnings of a window',
    security: [{ publisherKey: [] }],
    requestParams: { query: EarningsParams },
    responses: { '200': jsonResponse('Earnings', PublisherEarnings), ...keyErrors() },
  },
  handle: async ({ deps, caller, query: params }: KeyCall) => {
    const { given, query } = parseReport(EarningsParams, params);
    const groupBy = given.groupBy ?? null;
    const site = siteOf(caller);
    const earnings = await readEarnings(deps.reports, site, { ...query, groupBy });
    return { status: 200, headers: REPORT_HEADERS, body: bodyOf(earnings, site, groupBy) };
  },
};

function bodyOf(
  earnings: Earnings,
  site: { readonly tenantId: string; readonly hosts: readonly string[] },
  groupBy: EarningsGroup | null,
) {
  const { totals, previous, breakdown, recent } = earnings;
  const { authors } = totals;
  return {
    ...frameBody(earnings),
    totals: totalsBody(totals),
    ...(previous === null ? {} : { previous: { totals: totalsBody(previous) } }),
    ...(breakdown === null ? {} : { breakdown: breakdown.map((row) => breakdownBody(row, groupBy)) }),
    tenants: [{ id: site.tenantId, hosts: site.hosts, ...sumsBody(totals), authors, lastEventAt: earnings.lastEventAtMs }],
    recent: recent.rows.map(({ host, slug, kind, micro, atMs }) => ({ host, slug, kind, micro: microToJson(micro), at: atMs })),
    ...(recent.nextCursorMs === null ? {} : { nextCursor: recent.nextCursorMs }),
  };
}

/** Totals of the one site a key is bound to. */
function totalsBody(totals: EarningsTotals) {
  return { tenants: 1, ...sumsBody(totals), authors: totals.authors };
}

function breakdownBody(row: BreakdownRow, groupBy: EarningsGroup | null) {
  const key = groupBy === 'author' ? shownWallet(row.key) : row.key;
  return { key, label: row.authorId ?? labelOf(key, groupBy), ...sumsBody(row) };
}

function labelOf(key: string, groupBy: EarningsGroup | null): string {
  if (groupBy === 'kind') return key === 'read' ? 'Reads' : 'Citations';
  return key === '' ? 'No slug' : key;
}
