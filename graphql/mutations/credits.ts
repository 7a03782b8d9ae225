import { z } from 'zod';
import type { PriceChange } from '../../modules/quotes/use/managePrices.ts';
import { changePricing, setPageCredits } from '../../modules/quotes/use/managePrices.ts';
import { builder } from '../schema/builder.ts';
import { PageType } from '../types/settings.ts';
import { IF_VERSION, line, ownerMutation, TENANT_ID } from './field.ts';

const MAX_PAGES = 5_000;
const MAX_SLUG_CHARS = 2_048;

/** One contributor as an input names it: a leaf with a wallet, or a composite with members. */
interface ContributorInput {
  authorId: string;
  wallet?: string | null | undefined;
  weight?: number | null | undefined;
  members?: ContributorInput[] | null | undefined;
}

/** Credits of one page as an input names them. */
interface CreditsInput {
  title?: string | null | undefined;
  contributors: ContributorInput[];
}

const Contributor = builder.inputRef<ContributorInput>('ContributorInput').implement({
  description: 'Who gets a share: an author with a wallet, or a group with members, never both.',
  fields: (t) => ({
    authorId: t.string({ required: true, description: 'Who it is, as earnings and statements name the author.' }),
    wallet: t.string({ description: 'Where the share is paid to: 0x and 40 hexadecimal digits. Only without members.' }),
    weight: t.float({ description: 'The share against the others, positive; left out: 1.' }),
    members: t.field({
      type: [Contributor],
      description: 'Among whom a group shares, at most 8 levels deep. Only without a wallet.',
    }),
  }),
});

/** Credits of a page, by the contract of credits APIs. */
export const Credits = builder.inputRef<CreditsInput>('CreditsInput').implement({
  description: 'Who is paid for a page, at most 50 wallets.',
  fields: (t) => ({
    title: t.string({ description: "The page's title." }),
    contributors: t.field({ type: [Contributor], required: true, description: 'Who gets a share: at least one.' }),
  }),
});

const contributor: z.ZodType<object, unknown> = z.lazy(() =>
  z
    .object({
      authorId: line(200),
      wallet: z.string().nullish(),
      weight: z.number().nullish(),
      members: z.array(contributor).max(50, 'has more than 50 entries').nullish(),
    })
    .transform(withoutNulls),
);

/** Checks credits and leaves out what is null, as they are stored. */
export const creditsSchema: z.ZodType<object, unknown> = z
  .object({ title: line(500).nullish(), contributors: z.array(contributor).max(50, 'has more than 50 entries') })
  .transform(withoutNulls);

function withoutNulls(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined));
}

function creditsPayload(name: string) {
  return builder.objectRef<PriceChange>(name).implement({
    description: 'A new version of who is paid for what.',
    fields: (t) => ({
      version: t.exposeInt('version', { description: 'Version of the site. Quotes show the new legs within 2 seconds.' }),
      lostCredits: t.exposeInt('lostCredits', {
        description:
          'Pages that had inline credits before and have none now: agents read them free, unless their import or the credits API names authors.',
      }),
    }),
  });
}

/** A page and who is to be paid for it. */
export const PageCredits = builder.inputType('PageCreditsInput', {
  description: 'A page and who is paid for it.',
  fields: (t) => ({
    slug: t.string({ required: true, description: 'The page.' }),
    credits: t.field({ type: Credits, required: true, description: 'Who is paid for it.' }),
  }),
});

/** The same, as it is checked. */
export const pageCreditsSchema = z.object({ slug: line(MAX_SLUG_CHARS), credits: creditsSchema });

ownerMutation('setCredits', {
  description:
    'Replaces the inline credits of the whole site: pages that are not named have none afterwards (`lostCredits`). For one page: setPageCredits.',
  input: builder.inputType('SetCreditsInput', {
    description: 'Inline credits to set.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      pages: t.field({ type: [PageCredits], required: true, description: 'At most 5,000 pages, each once; empty: none at all.' }),
    }),
  }),
  schema: z.object({
    pages: z
      .array(pageCreditsSchema)
      .max(MAX_PAGES, `has more than ${MAX_PAGES} entries`)
      .refine((pages) => new Set(pages.map(({ slug }) => slug)).size === pages.length, 'names a slug twice'),
  }),
  payload: creditsPayload('SetCreditsPayload'),
  change: (deps, call, { pages }) =>
    changePricing(deps, call, 'credits.set', {
      creditsInline: pages.length === 0 ? null : Object.fromEntries(pages.map(({ slug, credits }) => [slug, credits])),
    }),
});

ownerMutation('setPageCredits', {
  description: 'Sets the inline credits of one page.',
  input: builder.inputType('SetPageCreditsInput', {
    description: 'A page and who is paid for it.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      slug: t.string({ required: true, description: 'The page.' }),
      credits: t.field({ type: Credits, required: true, description: 'Who is paid for it.' }),
    }),
  }),
  schema: pageCreditsSchema,
  payload: creditsPayload('SetPageCreditsPayload'),
  changed: { field: 'page', type: PageType, idOf: (_payload, { slug }) => slug },
  change: (deps, call, { slug, credits }) => setPageCredits(deps, call, slug, credits),
});

ownerMutation('removePageCredits', {
  description: 'Takes the inline credits of one page away; its credits come from the credits API then, or it is free.',
  input: builder.inputType('RemovePageCreditsInput', {
    description: 'A page whose inline credits are to go.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      slug: t.string({ required: true, description: 'The page.' }),
    }),
  }),
  schema: z.object({ slug: line(MAX_SLUG_CHARS) }),
  payload: creditsPayload('RemovePageCreditsPayload'),
  changed: { field: 'page', type: PageType, idOf: (_payload, { slug }) => slug },
  change: (deps, call, { slug }) => setPageCredits(deps, call, slug, null),
});
