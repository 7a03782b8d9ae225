import { z } from 'zod';
import { TERMS } from '../../modules/kernel/licence/period.ts';
import { AGENT_CATEGORIES, isOperator } from '../../modules/pricing/rules/rule.ts';
import { address, kind, micro, resource, SiteVersionHeaders } from './shared.ts';

const MAX_ERROR_CHARS = 200;
/** Pages of one POST /_svc/quotes. */
const MAX_QUOTES = 100;
const operator = z.string().max(253, 'is too long').refine(isOperator, 'must be a host name in lower case').meta({
  description: 'Host that the agent was proven to belong to. Leave it out for an unverified agent, whatever it claims.',
});
const category = z
  .enum(AGENT_CATEGORIES, `must be one of ${AGENT_CATEGORIES.join(', ')}`)
  .meta({ description: 'What the agent says it reads for.' });
const slug = z.string().max(512, 'is too long').meta({ description: 'The slug of an article.' });
const page = resource.meta({ description: 'The page; its host must belong to the site of the key.' });

/** A list of different known words, between commas. */
function wordsOf<T extends string>(known: readonly T[]) {
  return z
    .string()
    .max(200, 'is too long')
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(known, `must be words from ${known.join(', ')}`)).max(known.length, 'names a word twice'));
}

/** Query of GET /_svc/quote. */
export const QuoteQuery = z.object({
  resource: z.exactOptional(page),
  slug: z.exactOptional(slug),
  kind: z.exactOptional(kind),
  agent: z.exactOptional(operator),
  category: z.exactOptional(category),
  terms: z.exactOptional(
    wordsOf(TERMS).meta({
      description: 'Uses that the agent asks for, separated by commas; the most expensive one decides the price.',
      example: 'ai-input,search',
    }),
  ),
  build: z.exactOptional(z.literal('402', 'must be 402').meta({ description: 'Adds `x402`: a 402 answer ready to send.' })),
  signIn: z.exactOptional(
    z.literal('1', 'must be 1').meta({
      description:
        'With `build`: the offer declares what a wallet may sign that bought the page (x402 `sign-in-with-x`). Of gates that hand the header ' +
        'SIGN-IN-WITH-X on to POST /_svc/license/proof; its nonce is good once, or once for each 1 to 20 hex digits put behind it.',
    }),
  ),
  sign: z.exactOptional(
    z.enum(['1', 'host'], 'must be 1 or host').meta({
      description:
        'With `build`: the offer is signed (x402 `offer-receipt`), in our name, or in the host’s where its own server shows our keys ' +
        'at /.well-known/did.json. It costs a signature a network.',
    }),
  ),
  error: z.exactOptional(
    z
      .string()
      .max(MAX_ERROR_CHARS, 'is too long')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what is printed holds none of them
      .regex(/^[^\x00-\x1f\x7f-\x9f]+$/, 'must be printable text')
      .meta({
        description: 'With `build`: what its offer says as `error`, in header and body, such as why a payment was refused.',
      }),
  ),
});

/** Body of POST /_svc/quotes. */
export const QuotesRequest = z
  .object({
    pages: z
      .array(z.object({ resource: z.exactOptional(page), slug: z.exactOptional(slug), kind: z.exactOptional(kind) }))
      .min(1, 'names no page')
      .max(MAX_QUOTES, `has more than ${MAX_QUOTES} pages`),
    agent: z.exactOptional(operator),
    category: z.exactOptional(category),
    terms: z.exactOptional(
      z
        .array(z.enum(TERMS, `must be words from ${TERMS.join(', ')}`))
        .max(TERMS.length, 'names a word twice')
        .meta({ description: 'Uses that the agent asks for; the most expensive one decides the price.' }),
    ),
  })
  .meta({ id: 'QuotesRequest', description: 'Pages to price at once for one agent; each counts as a call.' });

const freeBecause = z.enum(['no_credits', 'free_slug', 'out_of_scope', 'no_price', 'free_rule']);

/** What an answer of GET /_svc/quote says about itself. */
export const ChangesHeaders = SiteVersionHeaders.extend({
  'X-SVC-Changes-In': z.exactOptional(
    z.string().meta({
      description:
        'Milliseconds until a price rule takes effect or expires: cache the answer no longer. Absent if prices change only by an edit.',
    }),
  ),
});

/** What a 204 of GET /_svc/quote says in its headers. */
export const FreeHeaders = ChangesHeaders.extend({
  'X-SVC-Free-Because': freeBecause.meta({
    description:
      'Why: no author is named to be paid for the page; its owner named it free, directly or by the credits API; it is no article of ' +
      'the site, or the site is not sold yet; the price of the site is 0; one of its price rules says so.',
  }),
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
      .meta({ description: 'The same price on further networks, the cheapest first; absent if there is only one.' }),
    quoteId: z.string(),
    issuedAt: z.int(),
    expiresAt: z.int(),
    quoteToken: z.string(),
    x402: z
      .exactOptional(z.object({ header: z.string(), body: z.looseObject({}), headers: z.record(z.string(), z.string()) }))
      .meta({ description: 'A 402 ready to be sent: the value of PAYMENT-REQUIRED, the body, and further headers by name.' }),
  })
  .meta({ id: 'Quote', description: 'What a page costs now, and who gets it. Times are epoch milliseconds.' });

/** Body of POST /_svc/quotes. */
export const QuotesBody = z
  .object({
    quotes: z.array(
      z.union([
        z.object({ state: z.literal('priced'), quote: QuoteBody }),
        z.object({ state: z.literal('free'), because: freeBecause }),
        z.object({ state: z.enum(['refused', 'failed']), code: z.string(), error: z.string() }),
      ]),
    ),
  })
  .meta({
    id: 'Quotes',
    description: 'One outcome per page, in the order of the request: a quote, why it is free, or why there is neither.',
  });
