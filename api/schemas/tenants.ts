import { z } from 'zod';

const text = z.string().nullable();

const TenantSelfRow = z
  .object({
    id: z.string(),
    hosts: z.array(z.string()),
    origin_url: text,
    article_prefixes: z.array(z.string()).nullable(),
    price_usdc: z.number(),
    citation_multiplier: z.number().nullable(),
    credits_api_url: text,
    credits_inline: z.exactOptional(z.record(z.string(), z.unknown()).nullable()),
    credits_free_slugs: z.exactOptional(z.array(z.string()).nullable()),
    license_issuer: text,
    plan: text,
    status: z.string(),
    owner_user_id: text,
    created_at: z.string().meta({ format: 'date-time' }),
    updated_at: z.string().meta({ format: 'date-time' }),
    directory_listed: z.exactOptional(z.boolean()),
    wallet_public: z.exactOptional(z.boolean()),
    showcase_listed: z.exactOptional(z.boolean()),
    proof_public: z.exactOptional(z.boolean()),
  })
  .meta({ id: 'TenantSelfRow' });

/** Body of GET /_svc/tenants/self. */
export const PublisherTenants = z
  .object({
    tenants: z.array(TenantSelfRow),
    chainsEnabled: z.array(z.string()).meta({ description: 'CAIP-2 ids', example: ['eip155:8453'] }),
  })
  .meta({ id: 'PublisherTenants' });
