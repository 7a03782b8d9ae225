import { z } from 'zod';
import { exportFileName, fileZone } from '../../../modules/reports/use/exportCsv.ts';
import { exportZip } from '../../../modules/reports/use/exportZip.ts';
import type { ReportSite } from '../../../modules/reports/use/request.ts';
import type { Answer, HandlerDeps, KeyCall, KeyRoute } from '../../route.ts';
import { ZipParams } from '../../schemas/reports/earnings.ts';
import { parseReport } from '../../schemas/reports/report.ts';
import { keyErrors } from '../responses.ts';
import { REPORT_HEADERS, siteOf } from './reportBody.ts';

/** GET /_svc/earnings/statements.zip: the statements of a window, one PDF an author, and what each wallet was paid. */
export const exportZipRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/earnings/statements.zip',
  isFiltered: true,
  access: { scope: 'earnings.read.all', freshness: 'now' },
  cost: 'document',
  operation: {
    operationId: 'exportStatementsZip',
    tags: ['Earnings'],
    summary: 'Statements of all authors as ZIP',
    description:
      '`statements.csv` says what each wallet was paid, and every author whom the credits name has a PDF, as `export.pdf?author=` makes it; those with the ' +
      'most money come first. An archive has 200 of them: `x-svc-parts` says how many archives there are, `part` asks for one. The file is made at the ' +
      'pace it is read, and cut as the CSV is; it is one of the files that a key and a site may have on their way.',
    security: [{ publisherKey: [] }],
    requestParams: { query: ZipParams },
    responses: {
      '200': {
        description: 'A ZIP',
        content: { 'application/zip': { schema: z.string().meta({ format: 'binary' }) } },
        headers: z.object({
          'x-svc-parts': z.string().meta({ description: 'How many archives the statements of the window are.' }),
        }),
      },
      ...keyErrors(),
    },
  },
  handle: ({ deps, caller, query, gone }: KeyCall) => answerZip(deps, siteOf(caller), query, { gone: gone() }),
};

/** The archive of a site for those who may read it. Throws what `exportZip` throws, and invalid_parameter. */
export async function answerZip(
  deps: Pick<HandlerDeps, 'reports' | 'heavy'>,
  site: ReportSite & { readonly keyId: string },
  params: ReadonlyMap<string, string>,
  { gone }: { readonly gone: AbortSignal },
): Promise<Answer> {
  const { query, given } = parseReport(ZipParams, params);
  const zone = fileZone(given.timeZone);
  const part = Number(given.part ?? 1);
  const file = await exportZip({ ...deps.reports, heavy: deps.heavy }, site, { ...query, part, timeZone: zone }, gone);
  const extension = file.parts === 1 ? 'zip' : `part-${part}-of-${file.parts}.zip`;
  const headers = {
    ...REPORT_HEADERS,
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="${exportFileName(extension, site.hosts[0] ?? null, file, zone)}"`,
    'x-svc-parts': String(file.parts),
  };
  return { status: 200, headers, stream: file };
}
