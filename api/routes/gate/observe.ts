import { noteCall } from '../../../modules/gate/use/liveness.ts';
import type { ObservationReport as Report } from '../../../modules/gate/use/observe.ts';
import { ServiceError } from '../../../modules/kernel/errors.ts';
import { holderOfKey } from '../../../platform/pacing/rates.ts';
import type { KeyRoute } from '../../route.ts';
import { ObservationReport, ObservationReports, ObserveAccepted, ObserveError } from '../../schemas/observe.ts';
import { parseWith } from '../../schemas/parse.ts';
import { SiteVersionHeaders } from '../../schemas/shared.ts';
import { jsonResponse, keyErrors, siteVersion } from '../responses.ts';

/** Reports of a list that count as much as another call. */
const REPORTS_A_POINT = 10;
/** What a gate says of a page that it gave away while it could not reach us. */
const SERVICE_AWAY = 'service_away';

/** POST /_svc/observe: 1 to 50 reports of a gate, durable before the 202; all of them or none. */
export const observeRoute: KeyRoute = {
  method: 'post',
  path: '/_svc/observe',
  access: { scope: 'tenant.read', freshness: 'snapshot' },
  errorShape: 'ok',
  bodyLimitBytes: 262_144,
  operation: {
    operationId: 'observe',
    tags: ['Enforce'],
    summary: 'Report gating decisions',
    security: [{ publisherKey: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: ObservationReport.or(ObservationReports) } } },
    responses: {
      '202': { ...jsonResponse('Written', ObserveAccepted), headers: SiteVersionHeaders },
      ...keyErrors(ObserveError),
    },
  },
  handle: async ({ deps, caller, body }) => {
    const isList = Array.isArray(body);
    const reports = isList ? parseWith(ObservationReports, body) : [parseWith(ObservationReport, body)];
    // A list counts by its length, too: fifty rows are not what one is.
    deps.rates?.count(holderOfKey(caller.key), Math.floor(reports.length / REPORTS_A_POINT));
    const checked = reports.map((report, index) => requireGateVerdict(report, isList ? `${index}.verdict` : 'verdict'));
    for (const resource of new Set(checked.map((report) => report.resource)))
      noteCall(deps.liveness, caller.tenant, resource, 'observed');
    const away = checked.filter(({ agent }) => agent?.classifyReason === SERVICE_AWAY);
    for (const resource of new Set(away.map((report) => report.resource)))
      noteCall(deps.liveness, caller.tenant, resource, 'failedOpen');
    await deps.observer.record(caller.tenant, checked);
    return { status: 202, headers: siteVersion(caller.tenant), body: { ok: true, accepted: reports.length } };
  },
};

type Parsed = ReturnType<typeof ObservationReport.parse>;

/** Throws money_verdict: those are written by the service alone, from settlements. */
function requireGateVerdict(report: Parsed, place: string): Report {
  const { verdict } = report;
  if (verdict === 'paid' || verdict === 'payment-failed') {
    throw new ServiceError('money_verdict', `${place}: ${verdict} is written by the service, not reported`, { parameter: place });
  }
  return { ...report, verdict };
}
