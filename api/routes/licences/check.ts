import { checkLicence } from '../../../modules/licences/use/check.ts';
import type { KeyRoute } from '../../route.ts';
import { LicenseCheckBody, LicenseCheckResult } from '../../schemas/license.ts';
import { parseWith } from '../../schemas/parse.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/** POST /_svc/license/check: whether a licence entitles to a page; a bad licence is `false`, not an error. */
export const licenseCheckRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/license/check',
  access: { scope: 'tenant.read', freshness: 'epoch' },
  bodyLimitBytes: 65_536,
  operation: {
    operationId: 'checkLicense',
    tags: ['Enforce'],
    summary: 'Check a licence',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: LicenseCheckBody } } },
    responses: { '200': jsonResponse('Whether the licence entitles the reader', LicenseCheckResult), ...keyErrors() },
  },
  handle: async ({ deps, caller, body }) => {
    const entitled = await checkLicence(deps, caller, parseWith(LicenseCheckBody, body));
    return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: { entitled } };
  },
};
