import { BuyerAccount, BuyerKey, OwnerToken } from './account.ts';
import { ApiKey, ApiKeyHash } from './key.ts';
import { SigningKey } from './signingKey.ts';
import { HostClaim, Tenant, TenantHost, TenantPricing } from './tenant.ts';
import { EndpointLease, WebhookEndpoint, WebhookSecret } from './webhook.ts';

/** Every table that is read and written as entities; the ledger's hot tables are SQL (ADR 0004). */
export const entities = [
  Tenant,
  TenantHost,
  TenantPricing,
  HostClaim,
  ApiKey,
  ApiKeyHash,
  OwnerToken,
  BuyerAccount,
  BuyerKey,
  SigningKey,
  WebhookEndpoint,
  WebhookSecret,
  EndpointLease,
] as const;

export { ApiKey, ApiKeyHash, BuyerAccount, BuyerKey, HostClaim, OwnerToken, SigningKey, Tenant, TenantHost, TenantPricing };
