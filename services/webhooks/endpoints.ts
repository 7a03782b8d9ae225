import { randomUUID } from 'node:crypto';
import type { Outbound } from '../../adapters/outbound.ts';
import type { SecretBox } from '../../adapters/secretBox.ts';
import type { Database } from '../../db/database.ts';
import { disableEndpointRow, enableEndpointRow, insertEndpoint } from '../../db/webhooks/endpoints.ts';
import type { LoggedDelivery } from '../../db/webhooks/log.ts';
import { listDeliveryRows } from '../../db/webhooks/log.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { EndpointSettings } from '../../domain/webhook/endpoint.ts';
import { MAX_ENDPOINTS } from '../../domain/webhook/endpoint.ts';
import { WEBHOOK_PORTS } from './post.ts';
import { createWebhookSecret, secretContext } from './secret.ts';

/** What managing endpoints works with. */
export interface EndpointDeps {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly outbound: Pick<Outbound, 'checkUrl'>;
}

/** What a caller says about a new endpoint; the rest has defaults: raw, settlement.completed, every host, detailed. */
export type EndpointRequest = Pick<EndpointSettings, 'url'> & Partial<EndpointSettings>;

const DEFAULTS: Omit<EndpointSettings, 'url'> = {
  channel: 'raw',
  eventTypes: ['settlement.completed'],
  hostFilter: null,
  profile: 'detailed',
  description: '',
};

/**
 * Makes an endpoint and its secret, which is shown in this answer and never again. Throws `invalid_parameter` for a URL we may
 * not send to or an empty list of event types, `conflict` when the tenant has ten endpoints, `not_found` without such a tenant.
 */
export async function createEndpoint(
  deps: EndpointDeps,
  tenantId: string,
  request: EndpointRequest,
): Promise<{ readonly endpointId: string; readonly secret: string }> {
  const settings: EndpointSettings = { ...DEFAULTS, ...request };
  const check = deps.outbound.checkUrl(settings.url, WEBHOOK_PORTS);
  if (!check.ok) {
    throw new ServiceError('invalid_parameter', 'a webhook URL is https, on port 443 or 8443, with a public host name', {
      parameter: 'url',
    });
  }
  if (settings.eventTypes.length === 0) {
    throw new ServiceError('invalid_parameter', 'at least one event type', { parameter: 'eventTypes' });
  }
  const endpointId = randomUUID();
  const secret = createWebhookSecret();
  const sealed = deps.secretBox.seal(secret, secretContext(tenantId, endpointId));
  const outcome = await insertEndpoint(
    deps.database,
    { ...settings, tenantId, endpointId, secretId: randomUUID(), sealed },
    MAX_ENDPOINTS,
  );
  if (outcome === 'no_tenant') throw new ServiceError('not_found', 'no such site');
  if (outcome === 'full') throw new ServiceError('conflict', `a site has at most ${MAX_ENDPOINTS} webhook endpoints`);
  return { endpointId, secret };
}

/** Enables an endpoint and resets its failure counters; throws `not_found`. A second call changes nothing. */
export async function enableEndpoint(deps: Pick<EndpointDeps, 'database'>, tenantId: string, endpointId: string): Promise<void> {
  if (!(await enableEndpointRow(deps.database, tenantId, endpointId))) {
    throw new ServiceError('not_found', 'no such webhook endpoint');
  }
}

/** Disables an endpoint: events made from now on are not for it, its open deliveries fail. Throws `not_found`. */
export async function disableEndpoint(deps: Pick<EndpointDeps, 'database'>, tenantId: string, endpointId: string): Promise<void> {
  if ((await disableEndpointRow(deps.database, tenantId, endpointId, 'owner')) === null) {
    throw new ServiceError('not_found', 'no such webhook endpoint');
  }
}

/** An endpoint's deliveries with their attempts, newest first; at most 100 a page, `before` is a delivery id. */
export async function listDeliveries(
  deps: Pick<EndpointDeps, 'database'>,
  tenantId: string,
  endpointId: string,
  page: { readonly limit?: number; readonly before?: string } = {},
): Promise<LoggedDelivery[]> {
  const limit = Math.min(page.limit ?? 50, 100);
  return await listDeliveryRows(deps.database, tenantId, endpointId, { limit, before: page.before ?? null });
}
