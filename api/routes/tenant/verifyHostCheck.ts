import { checkHostNow } from '../../../modules/hosts/use/challenges.ts';
import type { KeyRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { VerifyHostCheckBody, VerifyHostNotVerified, VerifyHostVerified } from '../../schemas/verifyHost.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/**
 * POST /_svc/verify-host/check: checks a host now; 409 with a reason while it is not proven, 429 over the caps. The key that saw
 * its host verified has lost `domain.manage` by that, and may still ask about verified hosts.
 */
export const checkHostRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/verify-host/check',
  access: { scope: 'domain.manage', freshness: 'now', orLost: true },
  cost: 'heavy',
  bodyLimitBytes: 65_536,
  operation: {
    operationId: 'checkHost',
    tags: ['Enforce'],
    summary: 'Check a host now',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: VerifyHostCheckBody } } },
    responses: {
      '200': jsonResponse('Ownership is proven', VerifyHostVerified),
      '409': jsonResponse('Not verified yet, and why', VerifyHostNotVerified),
      '429': jsonResponse('Throttled; see Retry-After. Nothing set up is lost', ErrorBody),
      ...keyErrors(),
    },
  },
  handle: async ({ deps, caller, body }) => {
    const headers = { 'cache-control': 'private, no-store' };
    const { key, tenant } = caller;
    const mayWrite = key.scopes.includes('domain.manage');
    const request = { tenantId: tenant.tenantId, host: parseWith(VerifyHostCheckBody, body).host, mayWrite };
    const { host, outcome } = await checkHostNow(deps, request);
    if (outcome.verified) return { status: 200, headers, body: { verified: true, host } };
    const { reason } = outcome;
    return { status: 409, headers: { ...headers, 'x-svc-error-code': reason }, body: { verified: false, reason } };
  },
};
