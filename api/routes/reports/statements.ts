import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { Statement } from '../../../modules/reports/use/statements.ts';
import { readStatements } from '../../../modules/reports/use/statements.ts';
import { shownWallet } from '../../../modules/reports/use/wallet.ts';
import type { KeyCall, KeyRoute } from '../../route.ts';
import { PublisherStatements, WindowParams } from '../../schemas/reports/earnings.ts';
import { parseReport } from '../../schemas/reports/report.ts';
import { jsonResponse, keyErrors } from '../responses.ts';
import { frameBody, REPORT_HEADERS, siteOf, sumsBody } from './reportBody.ts';

/** GET /_svc/earnings/statements: what each author was paid in a window, line by line; totals are exact whatever is cut. */
export const statementsRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/earnings/statements',
  isFiltered: true,
  access: { scope: 'earnings.read.all', freshness: 'now' },
  cost: 'heavy',
  isReport: true,
  operation: {
    operationId: 'getStatements',
    tags: ['Earnings'],
    summary: 'Payout statements of a window',
    description:
      'Only the window has an effect; `compare`, `groupBy`, `cursor` and `limit` are checked and left aside. A statement holds ' +
      'its newest 10,000 lines at most, and all of an answer 100,000; `truncatedLines` says that it was cut.',
    security: [{ publisherKey: [] }],
    requestParams: { query: WindowParams },
    responses: { '200': jsonResponse('Statements', PublisherStatements), ...keyErrors() },
  },
  handle: async ({ deps, caller, query: params }: KeyCall) => {
    const { query } = parseReport(WindowParams, params);
    const report = await readStatements(deps.reports, siteOf(caller), query);
    const body = {
      ...frameBody(report),
      statements: report.statements.map(statementBody),
      totalMicroUsdc: microToJson(report.totalMicro),
      authors: report.statements.length,
    };
    return { status: 200, headers: REPORT_HEADERS, body };
  },
};

function statementBody(statement: Statement) {
  const lines = statement.lines.map(({ host, slug, kind, share, micro, atMs }) => ({
    host,
    slug,
    kind,
    share,
    micro: microToJson(micro),
    at: atMs,
  }));
  const cut = statement.isCut ? { truncatedLines: true } : {};
  return { wallet: shownWallet(statement.wallet), ...sumsBody(statement), lines, ...cut };
}
