import { BuyerKey, OwnerToken } from './account.ts';
import { SigningKey } from './signingKey.ts';
import { Tenant } from './tenant.ts';
import { WebhookEndpoint } from './webhook.ts';

/** Every table that is read and written as entities; the ledger's hot tables are SQL (ADR 0004). */
export const entities = [Tenant, OwnerToken, BuyerKey, SigningKey, WebhookEndpoint] as const;

export { BuyerKey, OwnerToken, SigningKey, Tenant };
