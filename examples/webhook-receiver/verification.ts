import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a delivery says; `data` depends on `type` and the endpoint's profile (docs/webhooks.md). */
export interface WebhookEvent {
  /** This delivery's id, the same in every attempt of it. */
  readonly id: string;
  readonly type: 'settlement.completed' | 'anomaly.detected';
  /** The occurrence's id: de-duplicate on this. */
  readonly eventId: string;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A delivery that must not be believed. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

const TOLERANCE_SECONDS = 300;

/**
 * Verifies a delivery and returns its event. `rawBody` is the body as it came, before any parsing; `header` is `Svc-Signature`;
 * `secret` is the endpoint's, `whsec_` included. Throws WebhookVerificationError for a signature that is missing, not ours, or
 * more than five minutes off. Copy this file: it needs nothing but node:crypto.
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  header: string | undefined,
  secret: string,
  nowSeconds: number = Date.now() / 1_000,
): WebhookEvent {
  const parts = (header ?? '').split(',').map((part) => part.split('=', 2));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(time)) throw new WebhookVerificationError('there is no Svc-Signature with a time');
  if (Math.abs(nowSeconds - Number(time)) > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError('the delivery was signed more than five minutes away from now');
  }
  const expected = createHmac('sha256', secret).update(`${time}.`).update(rawBody).digest();
  const isOurs = parts.some(([name, hex]) => {
    const given = Buffer.from(name === 'v1' ? (hex ?? '') : '', 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isOurs) throw new WebhookVerificationError('no signature is of this secret');
  return JSON.parse(Buffer.from(rawBody).toString('utf8')) as WebhookEvent;
}
