import { z } from 'zod';
import { address, kind, resource } from './shared.ts';

const text = z.string('must be text');

/** Body of POST /_svc/licenses/quote and POST /_svc/licenses; other members are ignored. */
export const LicenceRequestBody = z
  .looseObject(
    {
      scope: z.array(text, 'must be a list of path patterns').min(1, 'must name a pattern').max(100, 'has at most 100 patterns'),
      terms: z.array(text, 'must be a list of usage words').min(1, 'must name a use').max(10, 'is too long'),
      periodDays: z.number('must be a number of days'),
      kind: kind.default('read'),
      host: z.exactOptional(text.min(1, 'must not be empty').max(253, 'is too long')),
      resource: z.exactOptional(resource),
      startsAt: z.exactOptional(z.int('must be epoch milliseconds')),
      holder: z.exactOptional(address),
    },
    'must be an object',
  )
  .meta({ id: 'LicenceRequest' });

const leg = z.object({ toAddress: z.string(), amountMicro: z.number() });
const period = z.object({ from: z.number(), until: z.number() });

/** Success of POST /_svc/licenses/quote. */
export const LicenceQuote = z
  .object({
    priceMicro: z.number(),
    patterns: z.array(z.string()),
    terms: z.array(z.string()),
    period,
    resourceCount: z.number(),
    legs: z.array(leg),
  })
  .meta({ id: 'LicenceQuote' });

/** The 402 of POST /_svc/licenses: the x402 version 1 object, with what is offered; version 2 stands in PAYMENT-REQUIRED. */
export const LicenceOffer = z
  .looseObject({
    x402Version: z.literal(1),
    error: z.string(),
    accepts: z.array(z.looseObject({})),
    licence: LicenceQuote,
  })
  .meta({ id: 'LicenceOffer' });

/** Success of POST /_svc/licenses. */
export const BoughtLicence = z
  .object({ license: z.string(), jti: z.exactOptional(z.string()), priceMicro: z.number() })
  .meta({ id: 'BoughtLicence' });

/** A licence of an account. */
export const HeldLicence = z
  .object({
    jti: z.string(),
    host: z.string().nullable(),
    patterns: z.array(z.string()),
    grantedPatterns: z.array(z.string()),
    terms: z.array(z.string()),
    kind: z.string(),
    period,
    priceMicro: z.number(),
    resourceCount: z.number(),
    legs: z.array(leg),
    settlementRef: z.string().nullable(),
    settlementRefKind: z.enum(['txHash', 'transferId', 'mock', 'none']),
    boughtAt: z.number(),
  })
  .meta({ id: 'HeldLicence' });

/** Success of GET /_svc/licenses/held. */
export const HeldLicences = z.object({ licences: z.array(HeldLicence) }).meta({ id: 'HeldLicences' });

/** Body of POST /_svc/licenses/{jti}/access; other members are ignored. */
export const AccessBody = z
  .looseObject(
    {
      paths: z.exactOptional(
        z.array(text, 'must be a list of paths').min(1, 'must name a path').max(100, 'has at most 100 paths'),
      ),
      holder: z.exactOptional(address),
      host: z.exactOptional(text.min(1, 'must not be empty').max(253, 'is too long')),
    },
    'must be an object',
  )
  .meta({ id: 'AccessBody' });

/** Success of POST /_svc/licenses/{jti}/access. */
export const AccessToken = z
  .object({ license: z.string(), patterns: z.array(z.string()), expiresAt: z.number(), periodUntil: z.number() })
  .meta({ id: 'AccessToken' });

/** The legs behind an offer's recipient, as the contract reads them. */
export const OfferLegs = z
  .object({
    payTo: z.string(),
    router: z.string(),
    legsHash: z.string(),
    legs: z.array(z.object({ toAddress: z.string(), weight: z.string() })),
  })
  .meta({ id: 'OfferLegs' });
