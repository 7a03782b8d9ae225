import { microToJson } from '../../../modules/kernel/money/money.ts';
import type { ReconciliationException } from '../../../modules/reconciliation/use/report.ts';
import { readReconciliation } from '../../../modules/reconciliation/use/report.ts';
import { settlementRefKind } from '../../../modules/webhooks/rules/event.ts';
import type { KeyRoute } from '../../route.ts';
import { WindowParams } from '../../schemas/reports/earnings.ts';
import { PublisherReconciliation } from '../../schemas/reports/reconciliation.ts';
import { parseReport } from '../../schemas/reports/report.ts';
import { jsonResponse, keyErrors } from '../responses.ts';
import { frameBody, REPORT_HEADERS, siteOf } from './reportBody.ts';

/** GET /_svc/earnings/reconciliation: recorded legs against the transfers the chain shows, to the micro. */
export const reconciliationRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/earnings/reconciliation',
  isFiltered: true,
  access: { scope: 'earnings.read.all', freshness: 'now' },
  cost: 'heavy',
  isReport: true,
  operation: {
    operationId: 'getReconciliation',
    tags: ['Earnings'],
    summary: 'Recorded, settled and outstanding',
    security: [{ publisherKey: [] }],
    requestParams: { query: WindowParams },
    responses: { '200': jsonResponse('The three figures and what is open', PublisherReconciliation), ...keyErrors() },
  },
  handle: async ({ deps, caller, query }) => {
    const { query: asked } = parseReport(WindowParams, query);
    const report = await readReconciliation(deps.reports, siteOf(caller), asked);
    const { generatedAtMs, recorded, settled, outstanding, exceptions, truncatedExceptions } = report;
    const body = {
      ...frameBody(report),
      recorded: { events: recorded.events, grossMicroUsdc: microToJson(recorded.grossMicro) },
      settled: { legs: settled.legs, micro: microToJson(settled.micro) },
      outstanding: { legs: outstanding.legs, micro: microToJson(outstanding.micro) },
      exceptions: exceptions.map((leg) => exceptionOf(leg, generatedAtMs)),
      ...(truncatedExceptions ? { truncatedExceptions } : {}),
    };
    return { status: 200, headers: REPORT_HEADERS, body };
  },
};

function exceptionOf(leg: ReconciliationException, nowMs: number) {
  const { crossingId, host, slug, kind, toAddress, micro, recordedAt, reason, txHash } = leg;
  return {
    eventId: crossingId,
    host,
    slug,
    kind,
    toAddress,
    micro: microToJson(micro),
    recordedAt: recordedAt.getTime(),
    ageMs: Math.max(0, nowMs - recordedAt.getTime()),
    reason,
    settlementRef: txHash,
    settlementRefKind: settlementRefKind(txHash, 'live'),
  };
}
