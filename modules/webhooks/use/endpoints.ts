import { randomUUID } from 'node:crypto';
import type { Sql, Transactional } from '../../../db/database.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { normaliseHost } from '../../kernel/hosts/host.ts';
import { isChannelUrl } from '../rules/channel.ts';
import type { EndpointSettings } from '../rules/endpoint.ts';
import { MAX_ENDPOINTS } from '../rules/endpoint.ts';
import { EVENT_TYPES } from '../rules/event.ts';
import type { EndpointChanges, EndpointRow } from '../store/endpoints.ts';
import {
  deleteEndpointRow,
  disableEndpointRow,
  enableEndpointRow,
  insertEndpoint,
  lockEndpoint,
  updateEndpointRow,
} from '../store/endpoints.ts';
import { notifyEndpoint } from '../store/retries.ts';
import { WEBHOOK_PORTS } from './post.ts';
import { createWebhookSecret, secretContext } from './secret.ts';

/** What managing endpoints works with. */
export interface EndpointDeps {
  readonly database: Transactional;
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

const MAX_FILTER_HOSTS = 100;
const MAX_DESCRIPTION = 200;

/**
 * Makes an endpoint and its secret, which is shown in this answer and never again. Throws `invalid_parameter` for a URL we may
 * not send to (a chat's is on its own hosts) and settings that make no sense, `conflict` when the tenant has ten endpoints, `not_found` without such a tenant.
 */
export async function createEndpoint(
  deps: EndpointDeps,
  tenantId: string,
  request: EndpointRequest,
): Promise<{ readonly endpointId: string; readonly secret: string }> {
  const settings: EndpointSettings = { ...DEFAULTS, ...request };
  checkUrl(deps, settings);
  checkSettings(settings);
  const endpointId = randomUUID();
  const secret = createWebhookSecret();
  const sealed = deps.secretBox.seal(secret, secretContext(tenantId, endpointId));
  const outcome = await insertEndpoint(
    deps.database,
    { ...settings, tenantId, endpointId, secretId: randomUUID(), sealed, keyId: deps.secretBox.keyId },
    MAX_ENDPOINTS,
  );
  if (outcome === 'no_tenant') throw new ServiceError('not_found', 'no such site');
  if (outcome === 'full') throw new ServiceError('conflict', `a site has at most ${MAX_ENDPOINTS} webhook endpoints`);
  return { endpointId, secret };
}

function checkUrl(deps: Pick<EndpointDeps, 'outbound'>, { url, channel }: EndpointSettings): void {
  if (!isChannelUrl(channel, url)) {
    throw new ServiceError('invalid_parameter', `a ${channel} URL must be one that ${channel} issued`, { parameter: 'url' });
  }
  requireReceiver(deps, url, channel === 'raw' ? WEBHOOK_PORTS : []);
}

/** Throws `invalid_parameter` for a URL that nothing is sent to; without ports of a chat, those of webhooks. */
export function requireReceiver({ outbound }: Pick<EndpointDeps, 'outbound'>, url: string, ports = WEBHOOK_PORTS): void {
  if (!outbound.checkUrl(url, ports).ok) {
    throw new ServiceError('invalid_parameter', 'a webhook URL must be https, on port 443 or 8443, with a public host name', {
      parameter: 'url',
    });
  }
}

function checkSettings({ eventTypes, hostFilter, profile, description }: EndpointChanges): void {
  const refuse = (parameter: string, sentence: string): never => {
    throw new ServiceError('invalid_parameter', sentence, { parameter });
  };
  const types: readonly string[] = EVENT_TYPES;
  if (eventTypes.length === 0 || !eventTypes.every((type) => types.includes(type))) {
    refuse('eventTypes', `event types are ${EVENT_TYPES.join(' and ')}, at least one of them`);
  }
  if (hostFilter !== null && (hostFilter.length === 0 || hostFilter.length > MAX_FILTER_HOSTS)) {
    refuse('hostFilter', `a host filter names 1 to ${MAX_FILTER_HOSTS} hosts, or is null for all`);
  }
  if (hostFilter?.some((host) => host !== normaliseHost(host) || !/^[a-z0-9.-]{3,253}$/.test(host))) {
    refuse('hostFilter', 'a host filter names hosts in lower case');
  }
  if (profile !== 'detailed' && profile !== 'summary') refuse('profile', 'a profile is detailed or summary');
  if (description.length > MAX_DESCRIPTION) refuse('description', `a description has at most ${MAX_DESCRIPTION} characters`);
}

/**
 * Changes an endpoint; members left out stay. A new profile takes effect on deliveries made from then on.
 * `enabled` true also resets the failure counters. Throws `invalid_parameter` and `not_found`; a second call changes nothing.
 */
export async function updateEndpoint(
  deps: Pick<EndpointDeps, 'database'>,
  tenantId: string,
  endpointId: string,
  changes: Partial<EndpointChanges> & { readonly enabled?: boolean },
): Promise<void> {
  await deps.database.transaction(async (sql) => {
    const endpoint = await getLockedEndpoint(sql, tenantId, endpointId);
    const { enabled, ...settings } = changes;
    const next: EndpointChanges = { ...endpoint, ...settings };
    checkSettings(next);
    await updateEndpointRow(sql, tenantId, endpointId, next);
    if (enabled === true && !endpoint.enabled) await enableEndpointRow(sql, tenantId, endpointId);
    if (enabled === false && (await disableEndpointRow(sql, tenantId, endpointId, 'owner'))) {
      await notifyEndpoint(sql, { tenantId, endpointId });
    }
  });
}

/** Deletes an endpoint: it is listed and counted no more, its open deliveries fail. Throws `not_found`, on a second call too. */
export async function deleteEndpoint(deps: Pick<EndpointDeps, 'database'>, tenantId: string, endpointId: string): Promise<void> {
  await deps.database.transaction(async (sql) => {
    if (!(await deleteEndpointRow(sql, tenantId, endpointId))) throw noEndpoint();
    await notifyEndpoint(sql, { tenantId, endpointId });
  });
}

/** Locks an endpoint for the rest of the database transaction. Throws `not_found`. */
export async function getLockedEndpoint(sql: Sql, tenantId: string, endpointId: string): Promise<EndpointRow> {
  const endpoint = await lockEndpoint(sql, tenantId, endpointId);
  if (endpoint === null) throw noEndpoint();
  return endpoint;
}

function noEndpoint(): ServiceError {
  return new ServiceError('not_found', 'no such webhook endpoint');
}
