import { provePurchase } from '../../../modules/settlement/use/reread/prove.ts';
import type { KeyRoute } from '../../route.ts';
import { LicenseProofBody, LicenseProofResult } from '../../schemas/license.ts';
import { parseWith } from '../../schemas/parse.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/** POST /_svc/license/proof: the licence of a wallet that shows it bought a page; a bad proof is an answer, not an error. */
export const licenseProofRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/license/proof',
  access: { scope: 'tenant.read', freshness: 'epoch' },
  cost: 'medium',
  bodyLimitBytes: 65_536,
  operation: {
    operationId: 'proveLicense',
    tags: ['Enforce'],
    summary: 'Reissue a wallet’s licence',
    description:
      'Sent by a gate for a request with the header SIGN-IN-WITH-X (x402 `sign-in-with-x`), which a wallet signed for the challenge of an offer. ' +
      'A wallet that bought the page, or a licence that covers it, gets a short licence for it without paying.',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: LicenseProofBody } } },
    responses: { '200': jsonResponse('Its licence, or why there is none', LicenseProofResult), ...keyErrors() },
  },
  handle: async ({ deps, caller, body }) => {
    const answer = await provePurchase(deps, caller, parseWith(LicenseProofBody, body));
    return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: answer };
  },
};
