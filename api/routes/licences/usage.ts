import { reportUse } from '../../../modules/storefront/use/usage/report.ts';
import type { OptionalAccountRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { UsageReportBody, UsageTaken } from '../../schemas/usage.ts';
import { jsonResponse } from '../responses.ts';

/** POST /_svc/usage: what a buyer says it did with what it bought; no money moves by it. */
export const usageRoute: OptionalAccountRoute = {
  method: 'post',
  path: '/_svc/usage',
  access: 'account if any',
  cost: 'medium',
  isForPages: true,
  bodyLimitBytes: 16_384,
  operation: {
    operationId: 'reportUsage',
    tags: ['Licences'],
    summary: 'Report what was done with a bought page',
    security: [{ buyerAccount: [] }, { signInWithX: [] }, {}],
    requestBody: { required: true, content: { 'application/json': { schema: UsageReportBody } } },
    responses: {
      '202': jsonResponse('Recorded, now or before', UsageTaken),
      '400': jsonResponse('Malformed report', ErrorBody),
      '401': jsonResponse('No right to the page was proven', ErrorBody),
      '403': jsonResponse('The moment is outside the licence’s period', ErrorBody),
      '404': jsonResponse('No such licence for this account on this site', ErrorBody),
      '409': jsonResponse('The licence does not cover the page, or the id belongs to another report', ErrorBody),
      '429': jsonResponse('The licence has used up its reports for the day; see Retry-After', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, account, body }) => {
    await reportUse(deps, account?.accountId ?? null, parseWith(UsageReportBody, body));
    return { status: 202, headers: { 'cache-control': 'private, no-store' }, body: { ok: true } };
  },
};
