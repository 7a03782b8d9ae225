import type { Transactional } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { EndpointRef } from '../store/receiver.ts';
import { notifyEndpoint, pauseEndpointRow, readWaits, resumeEndpointRow, skipWaits } from '../store/retries.ts';
import { getLockedEndpoint } from './endpoints.ts';
import type { Notices } from './notices.ts';
import type { Wake } from './wake.ts';

const HOUR_MS = 3_600_000;
/** A pause ends by itself, and pauses that follow one another end with it, so that no delivery waits for good. */
const MOST_HOURS = 168;

const PAUSED_LONG_ENOUGH = `the endpoint was paused for ${MOST_HOURS} hours; resume it, and pause it again an hour after it was sent to again`;

/** What an owner, or an operator, wants done with the deliveries that wait at an endpoint. */
export type RetryOrder =
  /**
   * Nothing is sent for 1 to 168 whole hours, and what waits uses no attempt. Again: counts from now, but ends 168 hours after the first
   * pause began, also where it was resumed for less than an hour.
   */
  | { readonly kind: 'pause'; readonly hours: number }
  /** A pause ends. Again: changes nothing, and tells nobody. */
  | { readonly kind: 'resume' }
  /** Every attempt that waits is made now, and uses one of its eight. */
  | { readonly kind: 'skip' };

/** What waits at an endpoint after an order. */
export interface RetriesNow {
  readonly endpointId: string;
  /** Until when nothing is sent; null: it is not paused. */
  readonly pausedUntil: number | null;
  /** Of how many deliveries the order brought the next attempt forward. */
  readonly deliveries: number;
}

/**
 * Pauses or resumes an endpoint, or skips the wait of what waits there. The rows are changed, then its workflow is signalled; with Temporal away
 * that is made up for within a minute. Throws not_found, invalid_parameter for hours beyond 1 to 168, and conflict for a disabled
 * endpoint, for a pause after 168 hours of pauses, and for a skip at a paused one.
 */
export async function orderRetries(
  deps: { readonly database: Transactional },
  call: SiteCall,
  endpointId: string,
  order: RetryOrder,
): Promise<RetriesNow> {
  const endpoint = { tenantId: call.tenantId, endpointId };
  return await changeSite(deps, call, {
    action: `endpoint.${order.kind}`,
    target: endpointId,
    look: (sql) => readWaits(sql, endpoint),
    make: (database) =>
      database.transaction(async (sql) => {
        const { enabled } = await getLockedEndpoint(sql, call.tenantId, endpointId);
        if (!enabled) throw new ServiceError('conflict', 'the endpoint is disabled; enable it first');
        let hasChanged = false;
        if (order.kind === 'pause') {
          hasChanged = await pauseEndpointRow(sql, endpoint, { forMs: hoursOf(order) * HOUR_MS, mostMs: MOST_HOURS * HOUR_MS });
          if (!hasChanged) throw new ServiceError('conflict', PAUSED_LONG_ENOUGH);
        }
        if (order.kind === 'resume') hasChanged = await resumeEndpointRow(sql, endpoint);
        const { pausedUntil = null } = (await readWaits(sql, endpoint)) ?? {};
        if (order.kind === 'skip' && pausedUntil !== null)
          throw new ServiceError('conflict', 'the endpoint is paused; resume it first');
        const skipped = order.kind === 'skip' ? await skipWaits(sql, endpoint) : { deliveries: 0, hasChanged };
        if (skipped.hasChanged) await notifyEndpoint(sql, endpoint);
        const { deliveries } = skipped;
        return { endpointId, pausedUntil: pausedUntil?.getTime() ?? null, deliveries };
      }),
  });
}

function hoursOf({ hours }: { readonly hours: number }): number {
  if (Number.isInteger(hours) && hours >= 1 && hours <= MOST_HOURS) return hours;
  throw new ServiceError('invalid_parameter', `hours: a pause lasts 1 to ${MOST_HOURS} whole hours`, { parameter: 'hours' });
}

/** What to do with a notification of deliveries: keep the endpoint that it names, if any, for the pass of its shard, and wake the dispatchers. */
export function createNotified(deps: { readonly wake: Wake; readonly notices: Notices }): (payload?: string) => void {
  return (payload = '') => {
    const endpoint = endpointOf(payload);
    if (endpoint !== null) deps.notices.add({ ...endpoint, dueAtMs: 0 });
    deps.wake.wake();
  };
}

function endpointOf(payload: string): EndpointRef | null {
  const [tenantId, endpointId] = payload.split(' ');
  return tenantId && endpointId ? { tenantId, endpointId } : null;
}
