import type { Outbound, OutboundRequest } from '../../../platform/outbound/outbound.ts';
import { isChannelUrl } from '../rules/channel.ts';
import type { AttemptResult } from '../rules/retrySchedule.ts';
import { judgeAttempt } from '../rules/retrySchedule.ts';
import type { AttemptRecord } from '../store/attempts.ts';
import type { LeasedDelivery } from '../store/leases.ts';
import type { WebhookDeps } from './deps.ts';
import type { SigningKey } from './sign.ts';
import { signHeaders } from './sign.ts';
import { signingKeysOf } from './signingKeys.ts';

/** Port 8443 is allowed for receivers beside 443. */
export const WEBHOOK_PORTS: readonly number[] = [8443];
const KEPT_BYTES = 2_048;

/**
 * Sends a leased delivery once, with the time and the signatures of this moment over its bytes. Nothing is sent for a
 * disabled endpoint. Throws only when a secret cannot be opened or the bytes are missing: our fault, no attempt.
 */
export async function postDelivery(deps: WebhookDeps, delivery: LeasedDelivery): Promise<AttemptResult> {
  const startedAtMs = Date.now();
  const none = { status: null, retryAfter: null, startedAtMs, responseStart: '' };
  if (!delivery.enabled) return { ...none, reason: 'endpoint_disabled', durationMs: 0 };
  if (delivery.body === null) throw new Error(`delivery ${delivery.deliveryId} has no bytes`);
  if (!isChannelUrl(delivery.channel, delivery.url)) return { ...none, reason: 'invalid_url', durationMs: 0 };
  const isRaw = delivery.channel === 'raw';
  const { url, body } = delivery;
  const { requestTimeoutMs: timeoutMs } = deps.limits;
  if (!isRaw) return await post(deps.chatOutbound, { url, body, headers: {}, extraPorts: [], timeoutMs });
  const signed = { id: delivery.deliveryId, type: delivery.type, url, body, keys: signingKeysOf(deps.secretBox, delivery) };
  return await postSigned(deps.outbound, signed, timeoutMs);
}

/** A message to a receiver who was given a secret. */
export interface SignedMessage {
  readonly id: string;
  readonly type: string;
  readonly url: string;
  readonly body: string;
  /** Of its secrets, the newest first. */
  readonly keys: readonly SigningKey[];
}

/** Sends a message once, with the headers of the specification and of Standard Webhooks and the signatures of this moment. */
export async function postSigned(
  outbound: Pick<Outbound, 'send'>,
  { id, type, url, body, keys }: SignedMessage,
  timeoutMs: number,
): Promise<AttemptResult> {
  const signatures = signHeaders(id, body, keys, Math.floor(Date.now() / 1_000));
  const headers = { 'svc-id': id, 'svc-event': type, ...signatures };
  return await post(outbound, { url, body, headers, extraPorts: WEBHOOK_PORTS, timeoutMs });
}

/** Sends bytes once; at most 2 KiB of the answer are kept. */
async function post(
  outbound: Pick<Outbound, 'send'>,
  { headers, ...request }: Required<Pick<OutboundRequest, 'url' | 'body' | 'headers' | 'extraPorts' | 'timeoutMs'>>,
): Promise<AttemptResult> {
  const none = { status: null, retryAfter: null, startedAtMs: Date.now(), responseStart: '' };
  const answer = await outbound.send({
    ...request,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'svc-webhooks/1.0', ...headers },
    maxBodyBytes: KEPT_BYTES,
    read: 'start',
  });
  if (!answer.ok) return { ...none, reason: answer.reason, durationMs: answer.durationMs };
  return {
    ...none,
    status: answer.status,
    reason: null,
    retryAfter: answer.headers['retry-after'] ?? null,
    durationMs: answer.durationMs,
    responseStart: startOfText(answer.body),
  };
}

/** What to write about an attempt: its verdict by the schedule, jitter drawn here. */
export function recordOf(delivery: LeasedDelivery, result: AttemptResult): AttemptRecord {
  const verdict = judgeAttempt(delivery.attempt - delivery.scheduleFrom, result, Math.random());
  return {
    tenantId: delivery.tenantId,
    deliveryId: delivery.deliveryId,
    endpointId: delivery.endpointId,
    leaseId: delivery.leaseId,
    slot: delivery.slot,
    attempt: delivery.attempt,
    profile: delivery.profile,
    startedAtMs: result.startedAtMs,
    durationMs: result.durationMs,
    status: result.status,
    reason: verdict.kind === 'delivered' ? null : verdict.reason,
    responseStart: result.responseStart,
    state: verdict.kind === 'retry' ? 'pending' : verdict.kind,
    dueAtMs: verdict.kind === 'retry' ? Date.now() + verdict.delayMs : null,
    counts: verdict.kind !== 'failed' || verdict.counts,
    isGone: verdict.kind === 'failed' && verdict.isGone,
  };
}

/** At most 2 KiB of UTF-8 that Postgres takes, whatever the bytes were. */
function startOfText(bytes: Uint8Array): string {
  if (bytes.length === 0) return '';
  const text = Buffer.from(bytes).toString('utf8').replaceAll('\u0000', '');
  const kept = Buffer.from(text, 'utf8');
  if (kept.length <= KEPT_BYTES) return text;
  return kept
    .subarray(0, KEPT_BYTES)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
