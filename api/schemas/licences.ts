import { z } from 'zod';
import { MAX_PERIOD_DAYS, MIN_PERIOD_DAYS, TERMS } from '../../modules/kernel/licence/period.ts';
import { MAX_PATTERN_CHARS, MAX_PATTERNS } from '../../modules/kernel/pages/scope.ts';
import { address, kind, resource } from './shared.ts';

const text = z.string('must be text');
const host = text.min(1, 'must not be empty').max(253, 'is too long');
/** Printable ASCII that begins with a slash; what a pattern may hold is the service's, so that each refusal has a sentence of its own. */
const path = text.meta({ pattern: `^/[ -~]{0,${MAX_PATTERN_CHARS - 1}}$` });
const pattern = text.meta({ pattern: `^(/|https?://[A-Za-z0-9.-]+(/|$))[ -~]*$` });

/** Body of POST /_svc/licenses/quote and POST /_svc/licenses; other members are ignored. */
export const LicenceRequestBody = z
  .looseObject(
    {
      scope: z
        .array(pattern, 'must be a list of path patterns')
        .min(1, 'must name a pattern')
        .max(MAX_PATTERNS, `has at most ${MAX_PATTERNS} patterns`)
        .meta({ description: 'Different path patterns (RFC 9309), or URLs of one host that hold them.', uniqueItems: true }),
      terms: z
        .array(text.meta({ enum: [...TERMS] }), 'must be a list of usage words')
        .min(1, 'must name a use')
        .max(10, 'is too long')
        .meta({ description: 'What the pages may be used for: words of RSL 1.0.', uniqueItems: true, maxItems: TERMS.length }),
      periodDays: z.number('must be a number of days').meta({
        description: 'How long it lasts; at least an hour.',
        minimum: MIN_PERIOD_DAYS,
        maximum: MAX_PERIOD_DAYS,
      }),
      kind: kind.default('read').meta({ description: 'What it opens; `citation` includes reading.' }),
      host: z.exactOptional(
        host.meta({ description: 'The site it is for; needed unless `resource`, a URL in `scope`, or the Host header says so.' }),
      ),
      resource: z.exactOptional(
        resource.meta({ description: 'A page of the site it is for, in place of `host`.', format: 'uri' }),
      ),
      startsAt: z.exactOptional(
        z.int('must be epoch milliseconds').meta({
          description: `When it begins, epoch milliseconds: now, or up to ${MAX_PERIOD_DAYS} days ahead. Left out: now.`,
        }),
      ),
      holder: z.exactOptional(
        address.meta({ description: 'The only wallet that may use its tokens; each use is signed by it.' }),
      ),
    },
    'must be an object',
  )
  .meta({ id: 'LicenceRequest' });

/** What a payment must meet: an entry of an x402 version 1 offer. */
const PaymentRequirements = z
  .looseObject({
    scheme: z.literal('exact'),
    network: z.string().meta({ description: 'The network by its name in x402 version 1.' }),
    maxAmountRequired: z.string().meta({ description: 'Exactly what is paid, in micro-USDC.' }),
    resource: z.string(),
    description: z.string(),
    mimeType: z.string(),
    payTo: z.string().meta({ description: 'The recipient: an author, or the split that pays all of them.' }),
    maxTimeoutSeconds: z.int(),
    asset: z.string().meta({ description: 'The contract of USDC.' }),
    extra: z.looseObject({ name: z.string(), version: z.string() }).meta({ description: 'The EIP-712 domain of the asset.' }),
  })
  .meta({ id: 'PaymentRequirements' });

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
    accepts: z.array(PaymentRequirements),
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
        z
          .array(path, 'must be a list of paths')
          .min(1, 'must name a path')
          .max(MAX_PATTERNS, `has at most ${MAX_PATTERNS} paths`)
          .meta({ description: 'Pages to narrow the token to: paths, or patterns within those it was bought with.' }),
      ),
      holder: z.exactOptional(address.meta({ description: 'The only wallet that may use this token.' })),
      host: z.exactOptional(host.meta({ description: 'The site it is for, where the caller says so.' })),
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
