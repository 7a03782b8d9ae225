import { noteBodies } from '../../modules/receipts/use/bodies.ts';
import type { KeyRoute } from '../route.ts';
import { jsonResponse, keyErrors } from '../routes/responses.ts';
import { parseWith } from '../schemas/parse.ts';
import { ServedBodies, ServedBodiesNoted } from './schemas.ts';

/** POST /_svc/receipts/bodies: a site says what it served for payments of its own. */
export const bodiesRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/receipts/bodies',
  access: { scope: 'tenant.read', freshness: 'epoch' },
  cost: 'medium',
  bodyLimitBytes: 16_384,
  operation: {
    operationId: 'noteServedBodies',
    tags: ['Receipts'],
    summary: 'Report what was served',
    description:
      'The SHA-256 of pages as they were sent, for their records, and how each answer ended. The first word about a page stands; later answers ' +
      'are counted by their `at`. A payment that is not the site’s, not a page’s, a test’s, or older than 25 hours is left out; so are words after the eighth about one payment, and those of a test key.',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: ServedBodies } } },
    responses: { '200': jsonResponse('How many were recorded', ServedBodiesNoted), ...keyErrors() },
  },
  handle: async ({ deps, caller, body }) => {
    const isTest = caller.key.mode === 'mock'; // what live buyers are owed is not decided by a test
    const bodies = parseWith(ServedBodies, body).map(({ receiptId: paymentId, sha256, bytes, at, outcome }) => ({
      paymentId: paymentId.toLowerCase(),
      page: sha256 === undefined || bytes === undefined ? null : { sha256, bytes },
      atMs: at ?? null,
      outcome: outcome ?? null,
    }));
    const noted = isTest ? 0 : await noteBodies(deps, caller.tenant.tenantId, bodies);
    return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: { noted } };
  },
};
