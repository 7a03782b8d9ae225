/**
 * One price, wherever it is told: each row is a place that tells what a page costs, and what it tells is what the resolver says, to the micro.
 * A row that says nothing of some questions answers null for them.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildResource } from '../../modules/kernel/hosts/host.ts';
import { compilePattern, matches } from '../../modules/kernel/pages/scope.ts';
import type { Asked, Outcome } from '../../modules/pricing/rules/compiled.ts';
import type { ManifestItem } from '../../modules/pricing/rules/manifest.ts';
import { manifestOf } from '../../modules/pricing/rules/manifest.ts';
import { listPage } from '../../modules/pricing/rules/priceList.ts';
import type { CompiledPricing, Price, Pricing } from '../../modules/pricing/rules/pricing.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import { prepareQuote } from '../../modules/quotes/use/issue.ts';
import { quoteMany } from '../../modules/quotes/use/many.ts';
import { buildOffer } from '../../modules/quotes/use/offers/build.ts';
import { buildPageOffer } from '../../modules/quotes/use/offers/page.ts';
import { readQuoteToken, signQuoteToken } from '../../modules/quotes/use/token.ts';
import type { Answer } from '../../packages/publisher/src/answers.ts';
import { offerAnswer, paidHeaders, refusalAnswer } from '../../packages/publisher/src/answers.ts';
import type { Quote as WiredQuote } from '../../packages/publisher/src/client.ts';
import { crawlerErrorOf } from '../../packages/publisher/src/core/crawlerError.ts';
import { dollars, microOf } from '../../packages/publisher/src/core/usdc.ts';
import { baseSepoliaNetwork } from '../../platform/chain/presets.ts';
import { routerAddress } from '../../platform/chain/router/split.ts';
import { anyAsked, anyPricing } from '../support/rules/arbitrary.ts';
import { areNested, askedFor, rslOf } from '../support/rules/rsl.ts';

type Question = Asked & { readonly slug: string };
/** What a place tells; null: it says nothing of this. */
type Told = (pricing: CompiledPricing, asked: Question, rules: Pricing) => Outcome | null | Promise<Outcome | null>;

const network = baseSepoliaNetwork({ rpcUrls: ['http://127.0.0.1:1'], router: routerAddress });
const nothing = { find: () => undefined, findPrevious: () => undefined, load: () => Promise.resolve() };
const SECRETS = ['s'.repeat(32)];

const QUOTING = {
  networks: { list: [network], first: network },
  isAway: () => false,
  quoteTokenSecrets: SECRETS,
  credits: nothing,
  snapshots: { isBlocked: () => false },
};
const SITE = {
  ...({ tenantId: 'site', status: 'active', plan: 'studio' } as const),
  version: 1,
  licenseIssuer: null,
  networks: null,
  hosts: ['a.example'],
  forms: [],
};

/** The prepared quote of a page, as GET quote and verify make it. */
function preparedOf(pricing: CompiledPricing, { path, slug, kind, atMs, operator, category, terms }: Question) {
  const page = { pricing, resource: buildResource('a.example', path), slug, kind, asker: { operator, category, terms }, atMs };
  return prepareQuote({ credits: nothing }, { tenantId: 'site', networks: [network] }, page).found;
}

const priced = (micro: bigint | number | string): Outcome => ({ priceMicro: BigInt(micro) });
/** What stands in place of a price where there is none. */
const without = (found: string): Outcome => (found === 'refused' ? 'refused' : 'free');

/** The quote of a page as the publisher's package has it from the wire. */
function wiredOf(pricing: CompiledPricing, asked: Question): WiredQuote | string {
  const ready = preparedOf(pricing, asked);
  if (typeof ready === 'string') return ready;
  const facts = { quote: ready.base, terms: ready.terms, destinations: ready.destinations };
  const x402 = buildPageOffer({ baseUrl: 'https://svc.example', clock: () => asked.atMs, quoteTokenSecrets: SECRETS }, facts);
  return JSON.parse(JSON.stringify({ ...ready.base, x402 })) as WiredQuote;
}

/** What the package answers an agent for a page; null: the page itself. */
function answerFor(quote: WiredQuote | string, named: { readonly max?: string; readonly exact?: string } = {}): Answer | null {
  if (typeof quote === 'string') return quote === 'refused' ? refusalAnswer(403) : null;
  const crawlerError = crawlerErrorOf(quote.price, { max: named.max, exact: named.exact });
  return offerAnswer(quote, { error: undefined, crawlerError, accept: '*/*', isHead: false });
}

const PLACES: Readonly<Record<string, Told>> = {
  'the body of a quote': (pricing, asked) => {
    const ready = preparedOf(pricing, asked);
    return typeof ready === 'string' ? without(ready) : priced(ready.base.price);
  },
  'the legs of a quote': (pricing, asked) => {
    const ready = preparedOf(pricing, asked);
    return typeof ready === 'string'
      ? without(ready)
      : priced(ready.terms.legs.reduce((sum, { amountMicro }) => sum + amountMicro, 0n));
  },
  'the token of a quote': (pricing, asked) => {
    const ready = preparedOf(pricing, asked);
    if (typeof ready === 'string') return without(ready);
    return priced(readQuoteToken(SECRETS, signQuoteToken(SECRETS, ready.tokenBase, 'q', 1))?.priceMicro ?? -1n);
  },
  'the offers of a 402': (pricing, asked) => {
    const ready = preparedOf(pricing, asked);
    if (typeof ready === 'string') return without(ready);
    const { header, body } = buildOffer({ quote: ready.base, terms: ready.terms, destinations: ready.destinations });
    const { accepts } = JSON.parse(Buffer.from(header, 'base64').toString()) as { accepts: { amount: string }[] };
    const old = (body['accepts'] as { maxAmountRequired: string }[]).map(({ maxAmountRequired }) => maxAmountRequired);
    const [amount = '-1', ...others] = new Set([...accepts.map((one) => one.amount), ...old]);
    return priced(others.length === 0 ? amount : -1n);
  },
  'the header crawler-price of a 402': (pricing, asked) => {
    const answer = answerFor(wiredOf(pricing, asked));
    if (answer === null) return 'free';
    const price = answer.headers['crawler-price'];
    if (answer.status === 403) return price === undefined ? 'refused' : priced(-1);
    return priced(microOf(price ?? '') ?? -1);
  },
  'the offer in the headers of a 402': (pricing, asked) => {
    const answer = answerFor(wiredOf(pricing, asked));
    if (answer === null) return 'free';
    const header = answer.headers['payment-required'];
    if (answer.status === 403) return header === undefined ? 'refused' : priced(-1);
    const { accepts } = JSON.parse(Buffer.from(header ?? '', 'base64').toString()) as { accepts: { amount: string }[] };
    return priced(accepts[0]?.amount ?? -1);
  },
  'what crawler-max-price and crawler-exact-price are held against': (pricing, asked) => {
    const quote = wiredOf(pricing, asked);
    if (typeof quote === 'string') return without(quote);
    const errorAt = (name: 'max' | 'exact', micro: number) =>
      answerFor(quote, { [name]: dollars(micro) })?.headers['crawler-error'];
    const { micro } = pricing.resolve(asked) as { readonly micro: bigint };
    const price = Number(micro);
    const errors = [price - 1, price, price + 1].map((named) => [errorAt('max', named), errorAt('exact', named)]);
    const expected = [
      ['InvalidCrawlerMaxPrice', 'InvalidCrawlerExactPrice'],
      [undefined, undefined],
      [undefined, 'InvalidCrawlerExactPrice'],
    ];
    return priced(isDeepStrictEqual(errors, expected) ? micro : -1);
  },
  'the header crawler-charged of a page that was paid': (pricing, asked) => {
    const ready = preparedOf(pricing, asked);
    if (typeof ready === 'string') return without(ready);
    const chargedMicro = readQuoteToken(SECRETS, signQuoteToken(SECRETS, ready.tokenBase, 'q', 1))?.priceMicro;
    return priced(microOf(paidHeaders({ chargedMicro: String(chargedMicro) })['crawler-charged'] ?? '') ?? -1);
  },
  'POST /_svc/quotes': async (pricing, { path, kind, operator, category, terms, atMs }) => {
    const many = { ...QUOTING, clock: () => atMs } as unknown as Parameters<typeof quoteMany>[0];
    const pricings = [{ version: 1, pricing, validFromMs: 0, validUntilMs: null }];
    const page = { resource: `https://a.example${path}`, kind, asker: { operator, category, terms } };
    const [told] = await quoteMany(many, [{ ...page, tenant: { ...SITE, pricings } }], 1_000);
    if (told?.state === 'priced') return priced(told.quote.price);
    if (told?.state === 'free') return 'free';
    return told?.code === 'agent_refused' ? 'refused' : priced(-1);
  },
  'license.xml, for each use': (pricing, asked, rules) => {
    const [use] = asked.terms;
    if (use === undefined || !areNested(rules)) return null;
    return askedFor(rslOf(pricing, asked.atMs, true), { path: asked.path, kind: asked.kind, use });
  },
  'what a scope is priced by': (pricing, asked) => pricing.outcome(asked),
  'the list of prices': (pricing, asked) => {
    if (!isNobody(asked)) return null;
    const { price } = listPage(pricing, { path: asked.path, title: null, importedSlug: null, isCredited: false }, asked.atMs);
    if (price.state === 'free' || price.state === 'refused') return price.state;
    const micro = asked.kind === 'read' ? price.readMicro : price.citationMicro;
    return micro === null ? 'refused' : micro === 0n ? 'free' : priced(micro);
  },
  'the classes of a site': (pricing, asked) => {
    if (!isNobody(asked) || isNamedFree(pricing, asked)) return null;
    return firstFor(asked, pricing.classes(asked.atMs))?.[asked.kind] ?? null;
  },
  'the manifest of a site': (pricing, asked) => {
    if (!isNobody(asked) || isNamedFree(pricing, asked) || asked.kind !== 'read') return null;
    const classes = pricing.classes(asked.atMs);
    const destination = { network: 'eip155:8453', asset: '0xa', extra: { name: 'USDC', version: '2' }, payTo: null };
    const facts = {
      host: 'a.example',
      classes,
      destinations: [destination],
      baseUrl: 'https://svc.example',
      pages: [],
      lastUpdatedMs: 0,
    };
    const { items, exceptions = [] } = manifestOf(facts) as {
      items: (ManifestItem & { pattern: string; accepts: { amount: string }[] })[];
      exceptions?: { pattern: string; read: string }[];
    };
    const told = [...items.map(({ pattern, accepts }) => ({ pattern, read: accepts[0]?.amount ?? '' })), ...exceptions];
    const pattern = firstFor(asked, classes)?.pattern;
    const read = told.find((one) => one.pattern === pattern)?.read;
    return read === undefined ? null : /^\d+$/.test(read) ? priced(read) : without(read);
  },
};

/** Of patterns in their order the first that matches. */
function firstFor<T extends { readonly pattern: string }>({ path }: Asked, patterns: readonly T[]): T | undefined {
  return patterns.find(({ pattern }) => matches(compilePattern(pattern), path));
}

function isNobody({ operator, category, terms }: Asked): boolean {
  return operator === null && category === null && terms.length === 0;
}

function isNamedFree({ freeSlugs }: CompiledPricing, { slug }: Question): boolean {
  return freeSlugs.includes(slug);
}

function outcomeOf(price: Price): Outcome {
  if (price.kind === 'free' || price.kind === 'refused') return price.kind;
  return priced(price.micro);
}

const anyQuestion = anyPricing.chain((pricing) =>
  fc.record({ pricing: fc.constant(pricing), asked: anyAsked(pricing), isPlain: fc.boolean() }),
);
const NOBODY = { operator: null, category: null, terms: [] } as const;
/** Of places that speak of one reader or kind alone: they are asked about nothing else. */
const SPEAKS_OF: Readonly<Record<string, Partial<Asked> | ((asked: Asked) => Partial<Asked>)>> = {
  'license.xml, for each use': ({ terms }) => ({ ...NOBODY, terms: [USES.find((use) => terms.includes(use)) ?? 'ai-index'] }),
  'the list of prices': NOBODY,
  'the classes of a site': NOBODY,
  'the manifest of a site': { ...NOBODY, kind: 'read' },
};
const RUNS = 250;
const USES = ['search', 'ai-input', 'ai-train'] as const;

describe.each(Object.entries(PLACES))('%s', (name, toldBy) => {
  test('tells what the gate charges, whatever the rules, the agent, the kind and the time', async () => {
    let said = 0;
    await fc.assert(
      fc.asyncProperty(anyQuestion, async ({ pricing, asked: given, isPlain }) => {
        const { slug } = given;
        fc.pre(slug !== null);
        const speaksOf = SPEAKS_OF[name] ?? (isPlain ? NOBODY : {});
        const asked = { ...given, ...(typeof speaksOf === 'function' ? speaksOf(given) : speaksOf), slug };
        const compiled = compilePricing(pricing, 1_000n);
        const told = await toldBy(compiled, asked, pricing);
        if (told === null) return;
        said++;
        expect(told).toEqual(outcomeOf(compiled.resolve(asked)));
      }),
      { numRuns: RUNS },
    );
    expect(said).toBeGreaterThan(RUNS / 2);
  });
});
