import { z } from 'zod';
import type { Leg } from '../../modules/kernel/money/legs.ts';
import { pageOf } from '../../modules/paging/use/pages.ts';
import type { ListedPage, PagePrice, PriceStep } from '../../modules/pricing/rules/priceList.ts';
import type { FreeBecause } from '../../modules/pricing/rules/pricing.ts';
import type { PlannedChange, PriceEffect, PriceList } from '../../modules/reports/use/priceList.ts';
import { readPriceEffect, readPriceList } from '../../modules/reports/use/priceList.ts';
import { shownWallet } from '../../modules/reports/use/wallet.ts';
import { CATALOGUE_COST } from '../limits/limits.ts';
import { PageCredits, pageCreditsSchema } from '../mutations/credits.ts';
import { checked, line } from '../mutations/field.ts';
import { DefaultPayeeInput, decimal, prefixList, slugList } from '../mutations/prices.ts';
import { builder } from '../schema/builder.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { filterText } from '../schema/inputs.ts';
import { Tenant } from '../schema/site.ts';

const PagePriceState = builder.enumType('PagePriceState', {
  description: 'Whether a page costs something.',
  values: {
    PRICED: { value: 'priced', description: 'It costs what is said.' },
    ASKED: {
      value: 'asked',
      description: 'It costs what is said if the credits API of the site, which is not asked here, names who is paid.',
    },
    FREE: { value: 'free', description: 'It costs nothing.' },
    REFUSED: { value: 'refused', description: 'A price rule refuses it to agents that are not verified.' },
  } as const satisfies Record<string, { value: PagePrice['state']; description: string }>,
});

const FreeBecauseName = builder.enumType('FreeBecause', {
  description: 'Why a page costs nothing.',
  values: {
    NO_CREDITS: { value: 'no_credits', description: 'No author is named to be paid for it.' },
    FREE_SLUG: { value: 'free_slug', description: 'Its owner named it free.' },
    OUT_OF_SCOPE: { value: 'out_of_scope', description: 'It stands under no article prefix.' },
    NO_PRICE: { value: 'no_price', description: 'The price of the site is 0.' },
    FREE_RULE: { value: 'free_rule', description: 'A price rule of its owner says so.' },
  } as const satisfies Record<string, { value: FreeBecause; description: string }>,
});

const PagePriceType = builder.objectRef<PagePrice>('PagePrice').implement({
  description: 'What a page costs an agent that nobody verified, by the rules that quote it.',
  fields: (t) => ({
    state: t.field({ type: PagePriceState, description: 'Whether it costs something.', resolve: ({ state }) => state }),
    readMicro: t.field({
      type: 'Micro',
      nullable: true,
      description: 'What a read costs, 0 where citations alone do; null: nothing, or it is refused.',
      resolve: ({ readMicro }) => readMicro,
    }),
    citationMicro: t.field({
      type: 'Micro',
      nullable: true,
      description: 'What a citation costs, 0 where reads alone do; null: nothing, or it is refused.',
      resolve: ({ citationMicro }) => citationMicro,
    }),
    freeBecause: t.field({
      type: FreeBecauseName,
      nullable: true,
      description: 'Why it costs nothing; null: it does.',
      resolve: ({ freeBecause }) => freeBecause,
    }),
  }),
});

const PagePayee = builder.objectRef<Leg>('PagePayee').implement({
  description: 'Who gets a part of one read.',
  fields: (t) => ({
    authorId: t.string({
      nullable: true,
      description: 'Who it is; null: several share the wallet.',
      resolve: ({ authorId }) => authorId ?? null,
    }),
    wallet: t.string({ description: 'Where it is paid to.', resolve: ({ toAddress }) => shownWallet(toAddress) }),
    amountMicro: t.field({ type: 'Micro', description: 'How much of one read.', resolve: ({ amountMicro }) => amountMicro }),
    micro: t.field({
      type: 'Micro',
      description: 'How much of one read.',
      resolve: ({ amountMicro }) => amountMicro,
      deprecationReason: 'Use `amountMicro`.',
    }),
  }),
});

const PricedPage = builder.objectRef<ListedPage & { readonly credits?: unknown }>('PricedPage').implement({
  description: 'A page that the site names, with its price and who is paid.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Its path on the site, encoded as in addresses.' }),
    slug: t.exposeString('slug', { nullable: true, description: 'Its slug; null: it stands under no article prefix.' }),
    title: t.exposeString('title', { nullable: true, description: 'Its title.' }),
    importedSlug: t.exposeString('importedSlug', {
      nullable: true,
      description: 'The slug it was imported by, which takes it out of the catalogue; null: inline credits alone name it.',
    }),
    price: t.field({ type: PagePriceType, description: 'What it costs now.', resolve: ({ price }) => price }),
    credits: t.string({
      nullable: true,
      description: 'JSON text of its inline credits, as they were set; null: it has none. An effect leaves it out.',
      resolve: ({ credits }) => (credits === null || credits === undefined ? null : JSON.stringify(credits)),
    }),
    payees: t.field({
      type: [PagePayee],
      description: 'Who is paid for one read; empty: nobody, whom its import names (`pages`), or whom the credits API names.',
      resolve: ({ legs }) => [...legs],
    }),
  }),
});

const PriceStepType = builder.objectRef<PriceStep>('PriceStep').implement({
  description: 'Pages that cost the same before a change, and the same after it.',
  fields: (t) => ({
    before: t.field({ type: PagePriceType, description: 'What each costs now.', resolve: ({ before }) => before }),
    after: t.field({ type: PagePriceType, description: 'What each would cost.', resolve: ({ after }) => after }),
    pages: t.exposeInt('pages', { description: 'How many there are.' }),
    paths: t.exposeStringList('paths', { description: 'The first of their paths.' }),
  }),
});

const PriceEffectType = builder.objectRef<PriceEffect>('PriceEffect').implement({
  description: 'What a change of prices would do; it is not made.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Version of the site that this was computed from: give it as `ifVersion`.' }),
    pages: t.exposeInt('pages', { description: 'How many pages were looked at: those that the site names.' }),
    isWhole: t.exposeBoolean('isWhole', { description: 'False: the catalogue has more pages than are looked at.' }),
    steps: t.field({
      type: [PriceStepType],
      description: 'What becomes of the pages, also of those that stay as they are; those of most pages first.',
      resolve: ({ steps }) => [...steps],
    }),
    pageBefore: t.field({
      type: PricedPage,
      nullable: true,
      description: 'The page whose credits the change names, as it is.',
      resolve: ({ page }) => page?.before ?? null,
    }),
    pageAfter: t.field({
      type: PricedPage,
      nullable: true,
      description: 'The same page after the change.',
      resolve: ({ page }) => page?.after ?? null,
    }),
    formerMs: t.exposeInt('formerMs', { description: 'How long a price that a buyer saw before is accepted after the change.' }),
  }),
});

const PriceEffectInput = builder.inputType('PriceEffectInput', {
  description: 'A change of prices to look at; what is left out stays, as in the mutations.',
  fields: (t) => ({
    priceUsdc: t.string({ description: 'As of setPrices.' }),
    citationMultiplier: t.string({ description: 'As of setPrices; null: 5.' }),
    creditsApiUrl: t.string({ description: 'As of setPrices; null: none.' }),
    defaultPayee: t.field({ type: DefaultPayeeInput, description: 'As of setPrices; null: nobody.' }),
    articlePrefixes: t.stringList({ description: 'As of setArticlePrefixes; null: every path is an article.' }),
    freeSlugs: t.stringList({ description: 'As of setFreeSlugs; null: none.' }),
    pageCredits: t.field({ type: PageCredits, description: 'As of setPageCredits.' }),
    credits: t.field({ type: [PageCredits], description: 'As of setCredits: of all pages.' }),
    withoutCreditsOf: t.string({ description: 'A page, as of removePageCredits.' }),
  }),
});

const effectSchema = z
  .object({
    priceUsdc: decimal.optional(),
    citationMultiplier: decimal.nullish(),
    creditsApiUrl: line(2_048).nullish(),
    defaultPayee: z.object({ authorId: line(200), wallet: line(200) }).nullish(),
    articlePrefixes: prefixList.nullish(),
    freeSlugs: slugList.nullish(),
    pageCredits: pageCreditsSchema.nullish(),
    credits: z.array(pageCreditsSchema).max(5_000, 'has more than 5000 entries').nullish(),
    withoutCreditsOf: line(2_048).nullish(),
  })
  .transform(({ freeSlugs, pageCredits, credits, withoutCreditsOf, ...prices }): PlannedChange => {
    const inline = credits ? Object.fromEntries(credits.map((one) => [one.slug, one.credits])) : undefined;
    const pricing = {
      ...prices,
      ...(freeSlugs === undefined ? {} : { creditsFreeSlugs: freeSlugs }),
      ...(inline === undefined ? {} : { creditsInline: inline }),
    };
    const page = withoutCreditsOf ? { slug: withoutCreditsOf, credits: null } : pageCredits;
    const given = Object.entries(pricing).filter(([, value]) => value !== undefined);
    return { pricing: Object.fromEntries(given), ...(page ? { page } : {}) };
  });

const PricedPageConnection = connectionOf(PricedPage, 'PricedPage', 'pages with their prices, by path');

const PricedPageFilter = builder.inputType('PricedPageFilter', {
  description: 'Which pages; everything given must hold.',
  fields: (t) => ({
    contains: t.string({ description: 'Whose path or title has this in it, whatever the case.', validate: filterText }),
    states: t.field({ type: [PagePriceState], description: 'In one of these states.' }),
  }),
});

builder.objectFields(Tenant, (t) => ({
  pricedPages: t.field({
    type: PricedPageConnection,
    nullable: true,
    description:
      'Every page that the site names, with what it costs now and who is paid; of a catalogue the first 20,000. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: (args) => ({ ...listCost(args), field: CATALOGUE_COST }),
    args: { ...pageArgs, filter: t.arg({ type: PricedPageFilter, description: 'Which ones.' }) },
    resolve: async (site, { filter, ...page }, { deps }) => {
      const { pages } = await readPriceList(deps, site.tenantId);
      const request = pageRequest(page, 'PATH');
      return connect(pageOf(matching(pages, filter?.contains ?? null, filter?.states ?? null), ({ path }) => path, request));
    },
  }),
  priceEffect: t.field({
    type: PriceEffectType,
    nullable: true,
    description: 'What a change of prices or credits would do to the pages that the site names; nothing is changed. For owners.',
    authScopes: { owner: true },
    complexity: CATALOGUE_COST,
    args: { change: t.arg({ type: PriceEffectInput, required: true, description: 'The change.' }) },
    resolve: (site, { change }, { deps }) => readPriceEffect(deps, site.tenantId, checked(effectSchema, change)),
  }),
}));

function matching(pages: PriceList['pages'], contains: string | null, states: readonly PagePrice['state'][] | null) {
  const sought = contains?.toLowerCase() ?? '';
  return pages.filter(
    ({ path, title, price }) =>
      (states === null || states.includes(price.state)) &&
      (path.toLowerCase().includes(sought) || (title?.toLowerCase().includes(sought) ?? false)),
  );
}
