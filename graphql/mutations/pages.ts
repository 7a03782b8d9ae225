import { z } from 'zod';
import { importSitePages, removeSitePages, setSiteOffering } from '../../modules/storefront/use/managePages.ts';
import { builder } from '../schema/builder.ts';
import { Credits, creditsSchema } from './credits.ts';
import { IF_VERSION, line, ownerMutation, TENANT_ID } from './field.ts';

const MAX_PAGES = 5_000;
const MAX_PATH_CHARS = 2_048;

const Page = builder.inputType('PageInput', {
  description:
    'A page of the catalogue: read by itself if it is an article of the site, and sold within licences over scopes of pages.',
  fields: (t) => ({
    slug: t.string({ required: true, description: 'Names the page; an imported page of this slug is replaced.' }),
    path: t.string({ required: true, description: 'Its path on the site, decoded, beginning with a slash.' }),
    title: t.string({ description: 'Its title.' }),
    credits: t.field({
      type: Credits,
      description:
        'Who is paid for it, unless inline credits name the page. Without them the credits API is asked about a read, then the default payee is paid, and no scope with this page is sold.',
    }),
  }),
});

const ImportPagesPayload = builder.objectRef<{ readonly imported: number }>('ImportPagesPayload').implement({
  description: 'Pages that are in the catalogue now.',
  fields: (t) => ({ imported: t.exposeInt('imported', { description: 'How many pages this import had.' }) }),
});

ownerMutation('importPages', {
  description: 'Adds pages to the catalogue, or replaces those of the same slug.',
  input: builder.inputType('ImportPagesInput', {
    description: 'Pages to import.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      pages: t.field({ type: [Page], required: true, description: 'At most 5,000 pages, each slug and each path once.' }),
    }),
  }),
  schema: z.object({
    pages: z
      .array(
        z.object({
          slug: line(MAX_PATH_CHARS),
          path: line(MAX_PATH_CHARS),
          title: line(500).nullish(),
          credits: creditsSchema.nullish(),
        }),
      )
      .min(1, 'is empty')
      .max(MAX_PAGES, `has more than ${MAX_PAGES} entries`),
  }),
  payload: ImportPagesPayload,
  change: (deps, call, { pages }) =>
    importSitePages(
      deps,
      call,
      pages.map(({ slug, path, title, credits }) => ({
        slug,
        path,
        credits: credits ?? null,
        ...(title === null || title === undefined ? {} : { title }),
      })),
    ),
});

const RemovePagesPayload = builder.objectRef<{ readonly removed: number }>('RemovePagesPayload').implement({
  description: 'Pages that left the catalogue.',
  fields: (t) => ({ removed: t.exposeInt('removed', { description: 'How many there were.' }) }),
});

ownerMutation('removePages', {
  description: 'Removes imported pages from the catalogue; licences sold keep them.',
  input: builder.inputType('RemovePagesInput', {
    description: 'Imported pages to remove.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      slugs: t.stringList({ required: true, description: 'Slugs, at most 5,000.' }),
    }),
  }),
  schema: z.object({
    slugs: z.array(line(MAX_PATH_CHARS)).min(1, 'is empty').max(MAX_PAGES, `has more than ${MAX_PAGES} entries`),
  }),
  payload: RemovePagesPayload,
  change: (deps, call, { slugs }) => removeSitePages(deps, call, slugs),
});

const PeriodFactor = builder.inputType('PeriodFactorInput', {
  description: 'What a licence period costs.',
  fields: (t) => ({
    upToDays: t.float({ required: true, description: 'For periods of at most so many days.' }),
    factor: t.string({ required: true, description: 'How many single prices each page costs then, a decimal.' }),
  }),
});

const SetLicenceOfferingPayload = builder.objectRef<{ readonly sellsTraining: boolean }>('SetLicenceOfferingPayload').implement({
  description: 'What the site sells as a scope from now on; offers made before stay good for their life.',
  fields: (t) => ({ sellsTraining: t.exposeBoolean('sellsTraining', { description: 'True when `ai-train` is sold.' }) }),
});

ownerMutation('setLicenceOffering', {
  description: 'Sets whether the site sells licences for training, and what periods cost.',
  input: builder.inputType('SetLicenceOfferingInput', {
    description: 'What the site sells as a scope.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      sellsTraining: t.boolean({ required: true, description: 'Whether `ai-train` and `all` are sold.' }),
      periodFactors: t.field({
        type: [PeriodFactor],
        description: 'Ascending; null: 1 up to 30 days, half a price more per further 30.',
      }),
    }),
  }),
  schema: z.object({
    sellsTraining: z.boolean(),
    periodFactors: z
      .array(z.object({ upToDays: z.number(), factor: line(20) }))
      .max(50, 'has more than 50 entries')
      .nullish(),
  }),
  payload: SetLicenceOfferingPayload,
  change: async (deps, call, { sellsTraining, periodFactors }) => {
    await setSiteOffering(deps, call, { sellsTraining, periodFactors: periodFactors ?? null });
    return { sellsTraining };
  },
});
