import { randomBytes } from 'node:crypto';
import { SECRET_PREFIX } from '../rules/signature.ts';

/** A new secret: `whsec_` and 24 random bytes in base64 (Standard Webhooks 1.0 asks for 24 to 64). */
export function createWebhookSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(24).toString('base64')}`;
}

/** What a sealed secret is bound to, so that it opens in no other row. */
export function secretContext(tenantId: string, endpointId: string): string {
  return `webhook:${tenantId}:${endpointId}`;
}
