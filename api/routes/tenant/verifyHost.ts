import { listHosts, openHost } from '../../../modules/hosts/use/challenges.ts';
import type { KeyRoute } from '../../route.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { VerifyHostAlreadyAdded, VerifyHostList, VerifyHostOpenBody, VerifyHostOpened } from '../../schemas/verifyHost.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

const PATH = '/_svc/verify-host';
const HEADERS = { 'cache-control': 'private, no-store' };

/** POST /_svc/verify-host: opens or returns the challenge for a host; 409 when the host is verified already. */
export const openHostRoute: KeyRoute = {
  method: 'post',
  path: PATH,
  access: { scope: 'domain.manage', freshness: 'now' },
  bodyLimitBytes: 65_536,
  operation: {
    operationId: 'openHostChallenge',
    tags: ['Enforce'],
    summary: 'Open the challenge of a host',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: VerifyHostOpenBody } } },
    responses: {
      '201': jsonResponse('The challenge, opened or open already', VerifyHostOpened),
      '409': jsonResponse(
        'Verified already; `routingVerified` true: fleet-routed, and in-app enforcement must stay off',
        VerifyHostAlreadyAdded,
      ),
      '429': jsonResponse('Too many open challenges; see Retry-After', ErrorBody),
      ...keyErrors(),
    },
  },
  handle: async ({ deps, caller, body }) => {
    const { host, method } = parseWith(VerifyHostOpenBody, body);
    const outcome = await openHost(deps, { tenantId: caller.tenant.tenantId, host, method });
    if (outcome.kind === 'opened') return { status: 201, headers: HEADERS, body: { challenge: outcome.challenge } };
    const { kind, routingVerified } = outcome;
    return { status: 409, headers: { ...HEADERS, 'x-svc-error-code': kind }, body: { error: kind, routingVerified } };
  },
};

/** GET /_svc/verify-host: the challenges of the key's site. */
export const listHostsRoute: KeyRoute = {
  method: 'get',
  path: PATH,
  access: { scope: 'tenant.read', freshness: 'now' },
  operation: {
    operationId: 'listHostChallenges',
    tags: ['Enforce'],
    summary: 'List host challenges',
    security: [{ publisherKey: [] }],
    responses: { '200': jsonResponse('The challenges, newest first', VerifyHostList), ...keyErrors() },
  },
  handle: async ({ deps, caller }) => {
    const challenges = await listHosts(deps, caller.tenant.tenantId);
    return { status: 200, headers: HEADERS, body: { challenges } };
  },
};
