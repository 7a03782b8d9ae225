import { z } from 'zod';
import { noteHeld } from '../../modules/receipts/use/held.ts';
import type { PublicRoute } from '../route.ts';
import { jsonResponse } from '../routes/responses.ts';
import { parseWith } from '../schemas/parse.ts';
import { ErrorBody } from '../schemas/shared.ts';
import { HeldBody, HeldWordBody } from './schemas.ts';

/** POST /_svc/receipts/{jti}/held: the payer says which page it holds. Its signature is all that lets it in: the id is public. */
export const heldRoute: PublicRoute = {
  method: 'post',
  path: '/_svc/receipts/:jti/held',
  access: 'public',
  cost: 'medium',
  isForPages: true,
  bodyLimitBytes: 16_384,
  operation: {
    operationId: 'sayHeld',
    tags: ['Receipts'],
    summary: 'Say which page was received',
    description:
      'The wallet that paid signs `I hold the page of the receipt <id> with the SHA-256 <sha256>. This signature moves no money.` (EIP-191), with the ' +
      '`id` of the record. ' +
      'The record then shows hash, message and signature. The first word stands; the same again gets the same answer.',
    security: [],
    requestParams: {
      path: z.object({
        jti: z.string().meta({
          description:
            'Of the licence, or `receiptId` of a verify answer; that of a licence given for nothing leads to the record of the payment that paid.',
        }),
      }),
    },
    requestBody: { required: true, content: { 'application/json': { schema: HeldWordBody } } },
    responses: {
      '200': jsonResponse('What stands in the record', HeldBody),
      '400': jsonResponse('Malformed, or the receipt of a licence', ErrorBody),
      '401': jsonResponse('Not signed by the wallet that paid', ErrorBody),
      '404': jsonResponse('No such record: unknown, not settled, or not shown', ErrorBody),
      '409': jsonResponse('The payer named another page before', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, params, body, address }) => {
    const word = parseWith(HeldWordBody, body);
    const own = { ...deps, reading: deps.reports.database };
    const { heldAtMs: heldAt, ...held } = await noteHeld(own, params['jti'] ?? '', word, address);
    return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: { ...held, heldAt } };
  },
};
