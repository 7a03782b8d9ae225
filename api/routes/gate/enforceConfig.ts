import { enforcementConfig } from '../../../modules/gate/use/enforcement.ts';
import { answerTagged } from '../../etag.ts';
import type { KeyRoute } from '../../route.ts';
import { EnforceConfigQuery, EnforcementConfig } from '../../schemas/enforcement.ts';
import { parseWith } from '../../schemas/parse.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/**
 * GET /_svc/enforce-config: what the gate decides by; the same bytes and ETag until somebody edits the tenant, or addresses of robots that were
 * asked for were read again.
 */
export const enforceConfigRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/enforce-config',
  access: { scope: 'tenant.read', freshness: 'now' },
  operation: {
    operationId: 'getEnforceConfig',
    tags: ['Enforce'],
    summary: 'Settings for the in-app enforcer',
    security: [{ publisherKey: [] }],
    requestParams: { query: EnforceConfigQuery },
    responses: {
      '200': jsonResponse('The decision inputs and the manifest; cacheable by its ETag', EnforcementConfig),
      '304': { description: 'Not edited since the given ETag' },
      ...keyErrors(),
    },
  },
  handle: async ({ deps, caller, query, header }) => {
    const asked = parseWith(EnforceConfigQuery, Object.fromEntries(query), 'invalid_parameter');
    const config = await enforcementConfig(deps, caller, asked);
    return answerTagged(header, JSON.stringify(config), 'private, max-age=300');
  },
};
