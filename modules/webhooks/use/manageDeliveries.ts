import type { Database, Transactional } from '../../../db/database.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { ReplayCursor } from './redeliver.ts';
import { pingEndpoint, recover, redeliver, replay } from './redeliver.ts';

/** What sending anew needs. */
export interface SiteDeliveryDeps {
  readonly database: Database;
}

/** Sends a test event to an endpoint. Throws as `pingEndpoint`. Each call makes an event of its own. */
export function pingSiteEndpoint(
  deps: SiteDeliveryDeps,
  call: SiteCall,
  endpointId: string,
): Promise<{ readonly eventId: string; readonly deliveryId: string }> {
  return send(deps, call, { action: 'endpoint.ping', target: endpointId }, (database) =>
    pingEndpoint({ database }, call.tenantId, endpointId),
  );
}

/** Delivers the event of a delivery once more, under a new delivery id. Throws as `redeliver`. Each call makes a further one. */
export function redeliverSiteEvent(
  deps: SiteDeliveryDeps,
  call: SiteCall,
  deliveryId: string,
): Promise<{ readonly deliveryId: string }> {
  return send(deps, call, { action: 'delivery.redeliver', target: deliveryId }, (database) =>
    redeliver({ database }, call.tenantId, deliveryId),
  );
}

/** Delivers every event of a range to an endpoint, at most 1,000 a call. Throws as `replay`. Each call makes further deliveries. */
export function replaySiteEvents(
  deps: SiteDeliveryDeps,
  call: SiteCall,
  endpointId: string,
  range: { readonly fromMs: number; readonly toMs: number; readonly after?: ReplayCursor },
): Promise<{ readonly deliveries: number; readonly next: ReplayCursor | null }> {
  return send(deps, call, { action: 'endpoint.replay', target: endpointId }, async (database) => ({
    ...(await replay({ database }, call.tenantId, endpointId, range)),
    range,
  }));
}

/** Makes exhausted deliveries of an endpoint pending again, at most 1,000 a call. Throws as `recover`. */
export function recoverSiteDeliveries(
  deps: SiteDeliveryDeps,
  call: SiteCall,
  endpointId: string,
  sinceMs: number,
): Promise<{ readonly deliveries: number; readonly isMore: boolean }> {
  return send(deps, call, { action: 'endpoint.recover', target: endpointId }, async (database) => ({
    ...(await recover({ database }, call.tenantId, endpointId, sinceMs)),
    sinceMs,
  }));
}

/** What is sent anew was nothing before; what was made is what the log shows. */
function send<T extends object>(
  deps: SiteDeliveryDeps,
  call: SiteCall,
  { action, target }: { readonly action: string; readonly target: string },
  make: (database: Transactional) => Promise<T>,
): Promise<T> {
  return changeSite(deps, call, { action, target, look: async (_sql, made) => made ?? null, make });
}
