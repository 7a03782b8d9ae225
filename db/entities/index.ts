import { BuyerAccount, BuyerKey, OwnerToken } from './account.ts';
import { SigningKey } from './signingKey.ts';
import { HostClaim, Tenant, TenantHost, TenantPricing } from './tenant.ts';
import { WebhookEndpoint } from './webhook.ts';

/** Every table that is read and written as entities; the ledger's hot tables are SQL (ADR 0004). */
export const entities = [
  Tenant,
  TenantHost,
  TenantPricing,
  HostClaim,
  OwnerToken,
  BuyerAccount,
  BuyerKey,
  SigningKey,
  WebhookEndpoint,
] as const;

export { BuyerAccount, BuyerKey, HostClaim, OwnerToken, SigningKey, Tenant, TenantHost, TenantPricing };
