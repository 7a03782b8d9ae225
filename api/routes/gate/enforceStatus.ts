import { enforcementStatus } from '../../../modules/gate/use/enforcement.ts';
import type { EnforcementStatus } from '../../../modules/hosts/rules/enforcementStatus.ts';
import type { KeyRoute } from '../../route.ts';
import { EnforcementStatusResponse } from '../../schemas/enforcement.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/** GET /_svc/enforce-status: who enforces on each host, and whether somebody must act; `attention` is for a CI's exit code. */
export const enforceStatusRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/enforce-status',
  access: { scope: 'tenant.read', freshness: 'now' },
  operation: {
    operationId: 'getEnforceStatus',
    tags: ['Enforce'],
    summary: 'Who enforces on each host',
    security: [{ publisherKey: [] }],
    responses: { '200': jsonResponse('A row a host', EnforcementStatusResponse), ...keyErrors() },
  },
  handle: async ({ deps, caller }) => {
    const { hosts, attention } = await enforcementStatus(deps, caller.tenant.tenantId);
    const headers = { 'cache-control': 'private, no-store' };
    return { status: 200, headers, body: { hosts: hosts.map(rowOf), attention } };
  },
};

function rowOf(status: EnforcementStatus) {
  const { host, mode, confidence, basedOn, nextAction, attention, recordToFix, tracks } = status;
  const failedOpenAt = isoTime(status.failedOpenAtMs);
  return {
    host,
    mode,
    confidence,
    basedOn,
    lastCheckedAt: isoTime(status.lastCheckedAtMs),
    keyRejectedAt: isoTime(status.keyRejectedAtMs),
    nextAction,
    attention,
    ...(recordToFix === null ? {} : { recordToFix }),
    tracks: { ...tracks, ...(failedOpenAt === null ? {} : { failedOpenAt }) },
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
