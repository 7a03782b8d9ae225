import { z } from 'zod';
import { readRecord, signRecord } from '../../modules/receipts/use/record.ts';
import { answerTagged } from '../etag.ts';
import type { Answer, Call, PublicRoute } from '../route.ts';
import { jsonResponse } from '../routes/responses.ts';
import { parseWith } from '../schemas/parse.ts';
import { ErrorBody } from '../schemas/shared.ts';
import { PAGE_HEADERS, pageOf } from './page.ts';
import { PaymentRecordBody, RecordQuery } from './schemas.ts';

/** An owner who shows no receipts any more is heard within this time; so is a block that made a payment final. */
const CACHE = 'public, max-age=60';
const JWS = 'application/jose';

/** GET /_svc/receipts/{jti}: the record of a payment for everybody who has its id. One query bounds what a guess costs, and its address's rate. */
export const recordRoute: PublicRoute = {
  method: 'get',
  path: '/_svc/receipts/:jti',
  access: 'public',
  cost: 'medium',
  isForPages: true,
  operation: {
    operationId: 'getReceipt',
    tags: ['Receipts'],
    summary: 'The public record of a payment',
    description:
      'Legs, transfers, and what the buyer signed: enough to check the payment on chain alone. JSON, a page for people ' +
      '(`text/html`), or signed in our name (`application/jose`); by `Accept`, or by `format`.',
    security: [],
    requestParams: {
      path: z.object({
        jti: z.string().meta({ description: 'Of the licence that was sold; `receiptId` of a verify answer.' }),
      }),
      query: RecordQuery,
    },
    responses: {
      '200': {
        ...jsonResponse('The record', PaymentRecordBody),
        content: {
          'application/json': { schema: PaymentRecordBody },
          [JWS]: { schema: z.string() },
          'text/html': { schema: z.string() },
        },
      },
      '304': { description: 'The record is what If-None-Match names' },
      '400': jsonResponse('No such format', ErrorBody),
      '404': jsonResponse('No such record: unknown, not settled, or not shown', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, params, query, header }) => {
    const { format = formatOf(header('accept')) } = parseWith(RecordQuery, Object.fromEntries(query), 'invalid_parameter');
    const record = await readRecord({ ...deps, database: deps.reports.database }, params['jti'] ?? '');
    if (format === 'html') return tagged(header, pageOf(record), PAGE_HEADERS);
    if (format === 'json') return tagged(header, JSON.stringify(record), { 'content-type': 'application/json; charset=utf-8' });
    return tagged(header, await signRecord({ ...deps, signer: deps.keyring }, record), { 'content-type': JWS });
  },
};

function tagged(header: Call['header'], text: string, own: Readonly<Record<string, string>>): Answer {
  const answer = answerTagged(header, text, CACHE);
  return { ...answer, headers: { ...answer.headers, vary: 'Accept', ...own } };
}

/** What a client likes best of the three, as far as it names one. */
function formatOf(accept: string | null): 'json' | 'jws' | 'html' {
  const names = (accept ?? '').toLowerCase();
  if (/\bapplication\/jose\b/.test(names)) return 'jws';
  return /\btext\/html\b/.test(names) ? 'html' : 'json';
}
