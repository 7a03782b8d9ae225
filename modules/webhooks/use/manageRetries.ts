import type { Transactional } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { EndpointRef } from '../store/receiver.ts';
import { notifyEndpoint, pauseEndpointRow, readWaits, skipWaits } from '../store/retries.ts';
import type { RetryStarter } from './deps.ts';
import { getLockedEndpoint } from './endpoints.ts';
import type { Wake } from './wake.ts';

const HOUR_MS = 3_600_000;
/** A pause ends by itself, so that no delivery waits for good. */
const MOST_HOURS = 168;

/** What an owner, or an operator, wants done with the deliveries that wait at an endpoint. */
export type RetryOrder =
  /** Nothing is sent for 1 to 168 whole hours, and what waits uses no attempt. Again: counts from now. */
  | { readonly kind: 'pause'; readonly hours: number }
  /** A pause ends. Again: changes nothing. */
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
 * endpoint, and for a skip at a paused one.
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
        if (order.kind === 'pause') await pauseEndpointRow(sql, endpoint, hoursOf(order) * HOUR_MS);
        if (order.kind === 'resume') await pauseEndpointRow(sql, endpoint, 0);
        const { pausedUntil = null } = (await readWaits(sql, endpoint)) ?? {};
        if (order.kind === 'skip' && pausedUntil !== null)
          throw new ServiceError('conflict', 'the endpoint is paused; resume it first');
        const deliveries = order.kind === 'skip' ? await skipWaits(sql, endpoint) : 0;
        await notifyEndpoint(sql, endpoint);
        return { endpointId, pausedUntil: pausedUntil?.getTime() ?? null, deliveries };
      }),
  });
}

function hoursOf({ hours }: { readonly hours: number }): number {
  if (Number.isInteger(hours) && hours >= 1 && hours <= MOST_HOURS) return hours;
  throw new ServiceError('invalid_parameter', `hours: a pause lasts 1 to ${MOST_HOURS} whole hours`, { parameter: 'hours' });
}

/** What to do with a notification of deliveries: wake the dispatchers, and signal the endpoint that it names, if any. */
export function createNotified(deps: {
  readonly wake: Wake;
  readonly retries: RetryStarter;
  readonly warn: (message: string, fields: object) => void;
}): (payload?: string) => void {
  return (payload = '') => {
    deps.wake.wake();
    const endpoint = endpointOf(payload);
    if (endpoint === null) return;
    deps.retries.due(endpoint, 0).catch((error: unknown) => {
      deps.warn('the workflow of an endpoint was not signalled; it is found within a minute', { ...endpoint, error });
    });
  };
}

function endpointOf(payload: string): EndpointRef | null {
  const [tenantId, endpointId] = payload.split(' ');
  return tenantId && endpointId ? { tenantId, endpointId } : null;
}
