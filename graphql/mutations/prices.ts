import { z } from 'zod';
import type { CreditsTokenState } from '../../modules/quotes/use/credits/token.ts';
import { setCreditsToken } from '../../modules/quotes/use/credits/token.ts';
import type { PriceChange } from '../../modules/quotes/use/managePrices.ts';
import { changePricing } from '../../modules/quotes/use/managePrices.ts';
import { builder } from '../schema/builder.ts';
import { IF_VERSION, line, ownerMutation, TENANT_ID } from './field.ts';

const MAX_LIST = 1_000;
const MAX_FREE = 5_000;
const MAX_SLUG_CHARS = 2_048;
/** A decimal as prices are written. */
export const decimal = z.string().regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be a decimal like "0.05", at most 6 places');

/** Article prefixes and free slugs as they may be set. */
export const prefixList = z.array(line(MAX_SLUG_CHARS)).max(MAX_LIST, `has more than ${MAX_LIST} entries`);
export const slugList = z.array(line(MAX_SLUG_CHARS)).max(MAX_FREE, `has more than ${MAX_FREE} entries`);

/** What every change of prices answers. */
export function pricePayload(name: string) {
  return builder.objectRef<PriceChange>(name).implement({
    description: 'A new version of what the site charges.',
    fields: (t) => ({
      version: t.exposeInt('version', {
        description:
          'Version of the site. Quotes show the new prices within 2 seconds; those made before stay good for their life.',
      }),
    }),
  });
}

/** Who is to be paid for pages that name nobody. */
export const DefaultPayeeInput = builder.inputType('DefaultPayeeInput', {
  description: 'Who is paid for the pages that name nobody.',
  fields: (t) => ({
    authorId: t.string({ required: true, description: 'Who it is, as earnings and statements name the author.' }),
    wallet: t.string({ required: true, description: 'Where the money goes: 0x and 40 hexadecimal digits.' }),
  }),
});

ownerMutation('setPrices', {
  description:
    'Sets what a read costs, how many reads a citation costs, where credits come from, and who is paid without any. What is left out stays.',
  input: builder.inputType('SetPricesInput', {
    description: 'Prices to set; at least one member.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      priceUsdc: t.string({
        description: 'USD of a read as a decimal, at most 6 places, the lowest price or more; "0" makes every page free.',
      }),
      citationMultiplier: t.string({ description: 'How many reads a citation costs, a decimal; null: 5.' }),
      creditsApiUrl: t.string({ description: "The site's credits API, https and without a query; null: none." }),
      defaultPayee: t.field({
        type: DefaultPayeeInput,
        description: 'Who is paid for pages that name nobody, neither inline nor by the credits API; null: such pages are free.',
      }),
    }),
  }),
  schema: z
    .object({
      priceUsdc: decimal.optional(),
      citationMultiplier: decimal.nullish(),
      creditsApiUrl: line(2_048).nullish(),
      defaultPayee: z.object({ authorId: line(200), wallet: line(200) }).nullish(),
    })
    .transform((input) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)))
    .refine((input) => Object.keys(input).length > 0, 'names nothing to set'),
  payload: pricePayload('SetPricesPayload'),
  change: (deps, call, pricing) => changePricing(deps, call, 'price.set', pricing),
});

const SetCreditsTokenPayload = builder.objectRef<CreditsTokenState>('SetCreditsTokenPayload').implement({
  description: 'The token is kept; it is never shown again.',
  fields: (t) => ({
    origin: t.exposeString('origin', { nullable: true, description: 'Where it is sent; null: there is none any more.' }),
  }),
});

ownerMutation('setCreditsToken', {
  description:
    "Sets the bearer token that the site's credits API is asked with. It goes to the origin of the API as it is now, and to no other.",
  input: builder.inputType('SetCreditsTokenInput', {
    description: 'A token to set.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      token: t.string({
        description: 'Sent as Authorization: Bearer, 1 to 1,024 printable characters without a space; null: none.',
      }),
    }),
  }),
  schema: z.object({ token: z.string().nullish() }),
  payload: SetCreditsTokenPayload,
  change: (deps, call, { token }) => setCreditsToken(deps, call, token ?? null),
});

ownerMutation('setArticlePrefixes', {
  description: 'Sets under which paths articles stand; only they are charged for.',
  input: builder.inputType('SetArticlePrefixesInput', {
    description: 'Article prefixes to set.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      prefixes: t.stringList({ description: 'Paths that begin with a slash, at most 1,000; null: every path is an article.' }),
    }),
  }),
  schema: z.object({ prefixes: prefixList.nullish() }),
  payload: pricePayload('SetArticlePrefixesPayload'),
  change: (deps, call, { prefixes }) => changePricing(deps, call, 'prefixes.set', { articlePrefixes: prefixes ?? null }),
});

ownerMutation('setFreeSlugs', {
  description: 'Sets which articles are free whatever the price.',
  input: builder.inputType('SetFreeSlugsInput', {
    description: 'Free slugs to set.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      slugs: t.stringList({ description: 'Slugs, at most 5,000; null: none.' }),
    }),
  }),
  schema: z.object({ slugs: slugList.nullish() }),
  payload: pricePayload('SetFreeSlugsPayload'),
  change: (deps, call, { slugs }) => changePricing(deps, call, 'slugs.set_free', { creditsFreeSlugs: slugs ?? null }),
});

ownerMutation('setReadAgain', {
  description:
    'Sets for how long a page opens again, without another payment, to the wallet that paid for it. What holds now counts for pages bought before, too.',
  input: builder.inputType('SetReadAgainInput', {
    description: 'How long to set.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      hours: t.int({ description: 'Hours from the payment, 1 to 8,784; null: for as long as the licence that came with it.' }),
    }),
  }),
  schema: z.object({ hours: z.int().nullish() }),
  payload: pricePayload('SetReadAgainPayload'),
  change: (deps, call, { hours }) => changePricing(deps, call, 'price.set_read_again', { readAgainHours: hours ?? null }),
});
