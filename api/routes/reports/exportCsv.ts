import { z } from 'zod';
import { exportCsv, exportFileName, fileZone } from '../../../modules/reports/use/exportCsv.ts';
import type { ReportSite } from '../../../modules/reports/use/request.ts';
import type { Answer, HandlerDeps, KeyCall, KeyRoute } from '../../route.ts';
import { CsvParams } from '../../schemas/reports/earnings.ts';
import { parseReport } from '../../schemas/reports/report.ts';
import { keyErrors } from '../responses.ts';
import { REPORT_HEADERS, siteOf } from './reportBody.ts';

/** GET /_svc/earnings/export.csv: one row a leg, newest first, at most 50,000; sent as it is read. */
export const exportCsvRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/earnings/export.csv',
  isFiltered: true,
  access: { scope: 'earnings.read.all', freshness: 'now' },
  cost: 'file',
  operation: {
    operationId: 'exportEarningsCsv',
    tags: ['Earnings'],
    summary: 'Legs of a window as CSV',
    description:
      'Window and filters have an effect, each filter on every row; `compare`, `groupBy`, `cursor` and `limit` are checked and left aside. The file is sent at the pace it is read: a ' +
      'download may take 10 minutes in all, and pause for 60 seconds. Past either its connection is cut before the end of the body, ' +
      'and nothing of it may be used; ask again. When all places are taken and another file needs one, the ' +
      'slowest client is cut the same way if it took over 10 seconds for a MiB; else, for a site that has no file, the oldest of a site that has two. One export of a key goes at a time, and two of a site; the next meanwhile ' +
      'answers 429, and 503 where there is no room for anybody.',
    security: [{ publisherKey: [] }],
    requestParams: { query: CsvParams },
    responses: {
      '200': {
        description: 'One row a leg, newest first; amounts are micro-USDC',
        content: { 'text/csv': { schema: z.string() } },
        headers: z.object({
          'x-svc-row-count': z.string().meta({ description: 'Rows of the file, without its header row.' }),
          'x-svc-truncated': z.exactOptional(z.literal('true')).meta({ description: 'The window has more rows than the file.' }),
        }),
      },
      ...keyErrors(),
    },
  },
  handle: ({ deps, caller, query, gone }: KeyCall) => answerCsv(deps, siteOf(caller), query, { gone: gone() }),
};

/** The file of a site for a caller who may read it; `hasMark` as `exportCsv` has it. Throws what `exportCsv` throws, and invalid_parameter. */
export async function answerCsv(
  deps: Pick<HandlerDeps, 'reports' | 'heavy'>,
  site: ReportSite & { readonly keyId: string },
  params: ReadonlyMap<string, string>,
  { gone, hasMark = false }: { readonly gone: AbortSignal; readonly hasMark?: boolean },
): Promise<Answer> {
  const { query, given } = parseReport(CsvParams, params);
  const zone = fileZone(given.timeZone);
  const { author: authorId, slug, agent, purpose } = given;
  const [payer, wallet] = [given.payer?.toLowerCase(), given.wallet?.toLowerCase()];
  const asked = { ...query, authorId: authorId ?? null, slug: slug ?? null, agent: agent ?? null, purpose: purpose ?? null };
  const filtered = { ...asked, payer: payer ?? null, wallet: wallet ?? null, hasMark };
  const file = await exportCsv({ ...deps.reports, heavy: deps.heavy }, site, filtered, gone);
  const headers = {
    ...REPORT_HEADERS,
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${exportFileName('csv', site.hosts[0] ?? null, file, zone)}"`,
    'x-svc-row-count': String(file.rowCount),
    ...(file.isCut ? { 'x-svc-truncated': 'true' } : {}),
  };
  return { status: 200, headers, stream: file };
}
