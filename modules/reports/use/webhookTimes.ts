import { countFailing } from '../store/lists/webhooks.ts';
import type { WebhookTimes as Times, EndpointTimes as TimesOfEndpoint } from '../store/webhookTimes.ts';
import { readWebhookTimes as readTimes, readTimesByEndpoint } from '../store/webhookTimes.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { readReport } from './request.ts';

/** How long webhooks took, and how many fail now. */
export interface WebhookTimes extends ReportFrame, Times {
  /** Deliveries of all events that were tried in vain and will be tried again, counted up to `MAX_FAILING`. */
  readonly failing: number;
  /** Each endpoint, those that failed most first; none unless asked for. */
  readonly endpoints: readonly EndpointTimes[];
}

/** The deliveries to one endpoint. */
export type EndpointTimes = TimesOfEndpoint & { readonly tenantId: string };

/** Most endpoints of a report, deleted ones included. */
export const MOST_ENDPOINTS_SHOWN = 100;

/** Counting of deliveries that fail stops here. */
export const MAX_FAILING = 1_000;

/** Times of the deliveries made with the events of a window; of one endpoint, or of all. Throws database_unavailable. */
export function readWebhookTimes(
  deps: ReportDeps,
  site: ReportSite,
  {
    endpointId,
    byEndpoint = false,
    ...asked
  }: AskedWindow & { readonly endpointId: string | null; readonly byEndpoint?: boolean },
): Promise<WebhookTimes> {
  const { tenantId } = site;
  return readReport(deps, site, asked, async (sql, frame) => ({
    ...frame,
    ...(await readTimes(sql, { tenantId, endpointId }, frame.window)),
    endpoints: byEndpoint
      ? (await readTimesByEndpoint(sql, { tenantId, endpointId }, frame.window, MOST_ENDPOINTS_SHOWN)).map((one) => ({
          ...one,
          tenantId,
        }))
      : [],
    failing: await countFailing(sql, { tenantId, endpointId }, MAX_FAILING),
  }));
}
