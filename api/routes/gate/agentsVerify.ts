import { verifyAgent } from '../../../modules/gate/use/agents/verify.ts';
import type { KeyRoute } from '../../route.ts';
import { AgentsVerifyAnswer, AgentsVerifyBody } from '../../schemas/agents.ts';
import { parseWith } from '../../schemas/parse.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/** POST /_svc/agents/verify: which agent signed a request of a page of this site. Every signature, good or bad, is a 200 with its outcome. */
export const agentsVerifyRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/agents/verify',
  access: { scope: 'tenant.read', freshness: 'snapshot' },
  cost: 'medium',
  bodyLimitBytes: 32_768,
  operation: {
    operationId: 'verifyAgent',
    tags: ['Enforce'],
    summary: 'Check which agent signed a request (Web Bot Auth)',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: AgentsVerifyBody } } },
    responses: { '200': jsonResponse('The verdict on the agent', AgentsVerifyAnswer), ...keyErrors() },
  },
  handle: async ({ deps, caller: { tenant }, body }) => {
    const { request } = parseWith(AgentsVerifyBody, body);
    const { tenantId, hosts } = tenant;
    const verdict = await verifyAgent(deps.agents, { tenantId, hosts, request });
    return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: verdict };
  },
};
