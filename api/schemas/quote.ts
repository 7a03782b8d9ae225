import { z } from 'zod';
import { address, kind, micro, resource } from './shared.ts';

/** Query of GET /_svc/quote. */
export const QuoteQuery = z.object({
  resource: z.exactOptional(resource.meta({ description: 'The page; its host must belong to the site of the key.' })),
  slug: z.exactOptional(z.string().max(512, 'is too long').meta({ description: 'The slug of an article.' })),
  kind: z.exactOptional(kind),
  build: z.exactOptional(z.literal('402', 'must be 402').meta({ description: 'Adds `x402`: a 402 answer ready to be sent.' })),
});

/** One author's share of one payment. */
export const Leg = z
  .object({
    toAddress: address,
    amountMicro: micro,
    role: z.enum(['author', 'coauthor', 'platform']),
    authorId: z.exactOptional(z.string()),
  })
  .meta({ id: 'Leg', description: "One author's share of one payment, in micro-USDC." });

const tokenDomain = z.object({ name: z.string(), version: z.string() });

/** Body of GET /_svc/quote. */
export const QuoteBody = z
  .looseObject({
    price: micro,
    currency: z.literal('USDC'),
    kind,
    slug: z.string(),
    title: z.exactOptional(z.string()),
    host: z.string(),
    resource: z.string(),
    payTo: address,
    payees: z.array(z.object({ authorId: z.string(), wallet: address, share: z.number().min(0).max(1) })),
    legs: z.array(Leg),
    network: z.string().meta({ description: 'CAIP-2 id', example: 'eip155:8453' }),
    asset: address,
    extra: tokenDomain,
    maxTimeoutSeconds: z.int(),
    otherNetworks: z
      .exactOptional(z.array(z.object({ network: z.string(), asset: address, payTo: address, extra: tokenDomain })))
      .meta({ description: 'The same price on further networks, the cheapest first; absent where there is one.' }),
    quoteId: z.string(),
    issuedAt: z.int(),
    expiresAt: z.int(),
    quoteToken: z.string(),
    x402: z.exactOptional(z.object({ header: z.string(), body: z.looseObject({}) })),
  })
  .meta({ id: 'Quote', description: 'What a page costs now, and who gets it. Times are epoch milliseconds.' });
