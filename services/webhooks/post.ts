import type { AttemptRecord } from '../../db/webhooks/attempts.ts';
import type { LeasedDelivery } from '../../db/webhooks/leases.ts';
import { isChannelUrl } from '../../domain/webhook/channel.ts';
import type { AttemptResult } from '../../domain/webhook/schedule.ts';
import { judgeAttempt } from '../../domain/webhook/schedule.ts';
import type { WebhookDeps } from './deps.ts';
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
  const answer = await (isRaw ? deps.outbound : deps.chatOutbound).send({
    url: delivery.url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1.0',
      ...(isRaw ? ownHeaders(deps, delivery, delivery.body, startedAtMs) : {}),
    },
    body: delivery.body,
    timeoutMs: deps.limits.requestTimeoutMs,
    maxBodyBytes: KEPT_BYTES,
    read: 'start',
    extraPorts: isRaw ? WEBHOOK_PORTS : [],
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

/** The headers of the specification and of Standard Webhooks; a chat gets none of them. */
function ownHeaders(
  deps: WebhookDeps,
  delivery: LeasedDelivery,
  body: string,
  startedAtMs: number,
): Readonly<Record<string, string>> {
  return {
    'svc-id': delivery.deliveryId,
    'svc-event': delivery.type,
    ...signHeaders(delivery.deliveryId, body, signingKeysOf(deps.secretBox, delivery), Math.floor(startedAtMs / 1_000)),
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
