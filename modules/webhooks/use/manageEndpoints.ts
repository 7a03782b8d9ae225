import type { Database, Sql } from '../../../db/database.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { EndpointRow } from '../store/endpoints.ts';
import { lockEndpoint } from '../store/endpoints.ts';
import { listSecretTimes } from '../store/secrets.ts';
import type { EndpointDeps, EndpointRequest } from './endpoints.ts';
import { createEndpoint, deleteEndpoint, updateEndpoint } from './endpoints.ts';
import { rotateSecret } from './rotateSecret.ts';

/** What managing a site's endpoints needs. */
export interface SiteEndpointDeps extends Omit<EndpointDeps, 'database'> {
  readonly database: Database;
}

/** What an owner changes of an endpoint; members left out stay. */
export type EndpointChange = Parameters<typeof updateEndpoint>[3];

/** Makes an endpoint; its secret is shown in this answer and never again. Throws as `createEndpoint`. Again: a second endpoint. */
export async function createSiteEndpoint(
  deps: SiteEndpointDeps,
  call: SiteCall,
  request: EndpointRequest,
): Promise<{ readonly endpointId: string; readonly secret: string }> {
  return await changeSite(deps, call, {
    action: 'endpoint.create',
    target: ({ endpointId }) => endpointId,
    look: (sql, made) => (made === undefined ? Promise.resolve(null) : endpointState(sql, call.tenantId, made.endpointId)),
    make: (database) => createEndpoint({ ...deps, database }, call.tenantId, request),
  });
}

/** Changes, enables or disables an endpoint. Throws as `updateEndpoint`. The same again changes nothing. */
export async function changeSiteEndpoint(
  deps: Pick<SiteEndpointDeps, 'database'>,
  call: SiteCall,
  endpointId: string,
  change: EndpointChange & { readonly action: 'endpoint.update' | 'endpoint.enable' | 'endpoint.disable' },
): Promise<EndpointRow> {
  const { action, ...to } = change;
  return await changeSite(deps, call, {
    action,
    target: endpointId,
    look: (sql) => endpointState(sql, call.tenantId, endpointId),
    make: async (database) => {
      await updateEndpoint({ database }, call.tenantId, endpointId, to);
      return (await lockEndpoint(database, call.tenantId, endpointId)) as EndpointRow;
    },
  });
}

/** Deletes an endpoint: no more is sent to it. Throws not_found, on a second call too. */
export async function deleteSiteEndpoint(
  deps: Pick<SiteEndpointDeps, 'database'>,
  call: SiteCall,
  endpointId: string,
): Promise<void> {
  await changeSite(deps, call, {
    action: 'endpoint.delete',
    target: endpointId,
    look: (sql) => endpointState(sql, call.tenantId, endpointId),
    make: (database) => deleteEndpoint({ database }, call.tenantId, endpointId),
  });
}

/** Gives an endpoint a new secret, shown in this answer and never again. Throws as `rotateSecret`. Again: a further secret. */
export async function rotateSiteSecret(
  deps: Pick<SiteEndpointDeps, 'database' | 'secretBox'>,
  call: SiteCall,
  endpointId: string,
  overlapMs?: number,
): Promise<{ readonly secret: string }> {
  return await changeSite(deps, call, {
    action: 'endpoint.rotate_secret',
    target: endpointId,
    look: async (sql) => ({ secrets: await listSecretTimes(sql, call.tenantId, endpointId) }),
    make: (database) => rotateSecret({ ...deps, database }, call.tenantId, endpointId, overlapMs),
  });
}

/** An endpoint as the log shows it: of its URL only the origin, since paths of chat webhooks, and some of others, are secrets. */
async function endpointState(sql: Sql, tenantId: string, endpointId: string): Promise<unknown> {
  const endpoint = await lockEndpoint(sql, tenantId, endpointId);
  if (endpoint === null) return null;
  const { url, channel, eventTypes, hostFilter, profile, description, enabled, disabledReason } = endpoint;
  const { origin } = new URL(url);
  return { origin, channel, eventTypes, hostFilter, profile, description, enabled, disabledReason };
}
