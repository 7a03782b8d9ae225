import { z } from 'zod';
import { exportFileName, fileZone } from '../../../modules/reports/use/exportCsv.ts';
import { exportPdf } from '../../../modules/reports/use/exportPdf.ts';
import type { ReportSite } from '../../../modules/reports/use/request.ts';
import type { Answer, HandlerDeps, KeyCall, KeyRoute } from '../../route.ts';
import { PdfParams } from '../../schemas/reports/earnings.ts';
import { parseReport } from '../../schemas/reports/report.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse, keyErrors } from '../responses.ts';
import { REPORT_HEADERS, siteOf } from './reportBody.ts';

/** GET /_svc/earnings/export.pdf: the window's statement, of the site or of one author. */
export const exportPdfRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/earnings/export.pdf',
  isFiltered: true,
  access: { scope: 'earnings.read.all', freshness: 'now' },
  cost: 'document',
  operation: {
    operationId: 'exportEarningsPdf',
    tags: ['Earnings'],
    summary: 'Statement of a window as PDF',
    description:
      'A summary, totals by author, page and transaction, with page titles; all of one snapshot, and each table adds up to its total. Tagged (PDF/UA-1). With ' +
      '`author` it is the statement of that one author: what their own sales paid them, and nothing about others. A sale in which ' +
      'several authors share a wallet names none of them. Of the other parameters only the window has an effect; they are validated and ' +
      'ignored. A filter of the CSV is refused with 400. A table has at most 2,000 pages, 5,000 wallets, the transactions of 3,000 sales; what it leaves out is one line.',
    security: [{ publisherKey: [] }],
    requestParams: { query: PdfParams },
    responses: {
      '200': { description: 'A PDF', content: { 'application/pdf': { schema: z.string().meta({ format: 'binary' }) } } },
      ...keyErrors(),
      '404': jsonResponse('No author of the site has this id', ErrorBody),
    },
  },
  handle: ({ deps, caller, query, gone }: KeyCall) => answerPdf(deps, siteOf(caller), query, { gone: gone() }),
};

/** The document of a site for a caller who may read it. Throws what `exportPdf` throws, and invalid_parameter. */
export async function answerPdf(
  deps: Pick<HandlerDeps, 'reports' | 'heavy'>,
  site: ReportSite & { readonly keyId: string },
  params: ReadonlyMap<string, string>,
  { gone }: { readonly gone: AbortSignal },
): Promise<Answer> {
  const { query, given } = parseReport(PdfParams, params);
  const zone = fileZone(given.timeZone);
  const authorId = given.author ?? null;
  const asked = { ...query, authorId, timeZone: zone };
  const { bytes, ...frame } = await exportPdf({ ...deps.reports, heavy: deps.heavy }, site, asked, gone);
  const name = exportFileName('pdf', site.hosts[0] ?? null, frame, zone);
  const ofAuthor = authorId === null ? '' : `; filename*=UTF-8''${encodeURIComponent(`${authorId.toWellFormed()}-${name}`)}`;
  const headers = {
    ...REPORT_HEADERS,
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="${name}"${ofAuthor}`,
  };
  return { status: 200, headers, body: bytes };
}
