import { z } from 'zod';
import type { Plan } from '../../../modules/kernel/access/key.ts';
import { exportFileName } from '../../../modules/reports/use/exportCsv.ts';
import { exportPdf } from '../../../modules/reports/use/exportPdf.ts';
import { siteOfLink } from '../../../modules/reports/use/linkTokens.ts';
import {
  linkedStatement,
  MAX_LINK_CHARS,
  STATEMENT_LINK_PATH,
  statementLinkEnded,
} from '../../../modules/reports/use/statementLinks.ts';
import { STATEMENT_PAGE } from '../../linkPages.ts';
import type { PublicRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';
import { REPORT_HEADERS } from './reportBody.ts';

const Body = z
  .object({
    token: z
      .string('must be the token of a link')
      .min(1)
      .max(MAX_LINK_CHARS)
      .meta({ description: 'What stands behind the `#` of the link.' }),
  })
  .meta({ id: 'StatementLinkBody' });

/** POST /_svc/statement: an author's own statement of a month; the token of the link is all the credential there is. */
export const statementLinkRoute: PublicRoute = {
  method: 'post',
  path: STATEMENT_LINK_PATH,
  access: 'public',
  cost: 'document',
  bodyLimitBytes: MAX_LINK_CHARS + 64,
  operation: {
    operationId: 'readLinkedStatement',
    tags: ['Earnings'],
    summary: 'An author’s own statement, by a link',
    description:
      'The link is the publisher’s to send (`makeStatementLink` of GraphQL). It is for one author and one month, and ends after 30 days unless told, or ' +
      'earlier with the token or the ownership of who made it. All links of a site have one file on its way at a time; the next meanwhile answers 429.',
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: Body } } },
    responses: {
      '200': { description: 'A PDF', content: { 'application/pdf': { schema: z.string().meta({ format: 'binary' }) } } },
      '400': jsonResponse('No token', ErrorBody),
      '404': jsonResponse('Not a link of this service, or one that has ended', ErrorBody),
      '429': jsonResponse('Too many at once; see Retry-After', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, body, gone }) => {
    const { token } = parseWith(Body, body);
    const link = await linkedStatement(deps, token);
    const { tenantId, authorId, fromMs, toMs, timeZone } = link;
    const { hosts, plan } = await siteOfLink(deps, link, statementLinkEnded());
    const site = { tenantId, hosts, plan: plan as Plan | null, keyId: `links of ${tenantId}` };
    const asked = { fromMs, toMs, authorId, timeZone, isGranted: true };
    const { bytes, ...frame } = await exportPdf({ ...deps.reports, heavy: deps.heavy }, site, asked, gone());
    const headers = {
      ...REPORT_HEADERS,
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${exportFileName('pdf', hosts[0] ?? null, frame, timeZone)}"`,
    };
    return { status: 200, headers, body: bytes };
  },
};

/** GET /_svc/statement: the page that the link leads to. The same bytes for everybody. */
export const statementPageRoute: PublicRoute = {
  method: 'get',
  path: STATEMENT_LINK_PATH,
  access: 'public',
  handle: () => Promise.resolve({ status: 200, headers: STATEMENT_PAGE.headers, body: STATEMENT_PAGE.page }),
};
