import { z } from 'zod';
import { exportFileName } from '../../services/reports/exportCsv.ts';
import { exportPdf } from '../../services/reports/exportPdf.ts';
import type { KeyCall, KeyRoute } from '../route.ts';
import { WindowParams } from '../schemas/earnings.ts';
import { parseReport } from '../schemas/report.ts';
import { REPORT_HEADERS, siteOf } from './reportBody.ts';
import { keyErrors } from './responses.ts';

/** GET /_svc/earnings/export.pdf: the window's statement, to forward to an author. */
export const exportPdfRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/earnings/export.pdf',
  access: { scope: 'earnings.read.all', freshness: 'now' },
  cost: 'file',
  operation: {
    operationId: 'exportEarningsPdf',
    tags: ['Earnings'],
    summary: 'Statement of a window as PDF',
    description:
      'Only the window has an effect; the other parameters are checked and left aside. Totals are exact; all tables together, that ' +
      'of authors included, have at most 10,000 lines. The document says on its first page what it leaves out.',
    security: [{ publisherKey: [] }],
    requestParams: { query: WindowParams },
    responses: {
      '200': { description: 'A PDF', content: { 'application/pdf': { schema: z.string().meta({ format: 'binary' }) } } },
      ...keyErrors(),
    },
  },
  handle: async ({ deps, caller, query: params }: KeyCall) => {
    const { query } = parseReport(WindowParams, params);
    const site = siteOf(caller);
    const { bytes, ...frame } = await exportPdf({ ...deps.reports, exports: deps.exports }, site, query);
    const headers = {
      ...REPORT_HEADERS,
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${exportFileName('pdf', site.hosts[0] ?? null, frame)}"`,
      'x-content-type-options': 'nosniff',
    };
    return { status: 200, headers, body: bytes };
  },
};
