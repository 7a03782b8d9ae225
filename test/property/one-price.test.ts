/**
 * One price, wherever it is told: each row is a place that tells what a page costs, and what it tells is what the resolver says, to the micro.
 * A row that says nothing of some questions answers null for them. Where the same is told for each use, the documents have properties of
 * their own: license.xml in rsl.test.ts, packages of CoMP in comp-packages.test.ts.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { baseSepoliaNetwork } from '../../chain/presets.ts';
import { routerAddress } from '../../chain/router/split.ts';
import type { ManifestItem } from '../../domain/discovery/manifest.ts';
import { manifestOf } from '../../domain/discovery/manifest.ts';
import { buildResource } from '../../domain/hosts/host.ts';
import { compilePattern, matches } from '../../domain/pages/scope.ts';
import { listPage } from '../../domain/pricing/priceList.ts';
import type { CompiledPricing, Price } from '../../domain/pricing/pricing.ts';
import { compilePricing } from '../../domain/pricing/pricing.ts';
import type { Asked, Outcome } from '../../domain/rules/compiled.ts';
import { buildOffer } from '../../services/offers/build.ts';
import { prepareQuote } from '../../services/quotes/issue.ts';
import { readQuoteToken, signQuoteToken } from '../../services/quotes/token.ts';
import { anyAsked, anyPricing } from '../support/rules/arbitrary.ts';

type Question = Asked & { readonly slug: string };
/** What a place tells; null: it says nothing of this. */
type Told = (pricing: CompiledPricing, asked: Question) => Outcome | null;

const network = baseSepoliaNetwork({ rpcUrls: ['http://127.0.0.1:1'], router: routerAddress });
const nothing = { find: () => undefined, findPrevious: () => undefined, load: () => Promise.resolve() };
const SECRETS = ['s'.repeat(32)];

/** The prepared quote of a page, as GET quote and verify make it. */
function preparedOf(pricing: CompiledPricing, { path, slug, kind, atMs, operator, category, terms }: Question) {
  const page = { pricing, resource: buildResource('a.example', path), slug, kind, asker: { operator, category, terms }, atMs };
  return prepareQuote({ credits: nothing }, { tenantId: 'site', networks: [network] }, page).found;
}

const priced = (micro: bigint | number | string): Outcome => ({ priceMicro: BigInt(micro) });
/** What stands in place of a price where there is none. */
const without = (found: string): Outcome => (found === 'refused' ? 'refused' : 'free');

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
  'what a scope is priced by': (pricing, asked) => pricing.outcome(asked),
  'the list of prices': (pricing, asked) => {
    if (!isNobody(asked)) return null;
    const { price } = listPage(pricing, { path: asked.path, title: null, importedSlug: null }, asked.atMs);
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

describe.each(Object.entries(PLACES))('%s', (_name, toldBy) => {
  test('tells what the gate charges, whatever the rules, the agent, the kind and the time', () => {
    let said = 0;
    fc.assert(
      fc.property(anyQuestion, ({ pricing, asked: given, isPlain }) => {
        const { slug } = given;
        fc.pre(slug !== null);
        const asked = { ...given, ...(isPlain ? NOBODY : {}), slug };
        const compiled = compilePricing(pricing, 1_000n);
        const told = toldBy(compiled, asked);
        if (told === null) return;
        said++;
        expect(told).toEqual(outcomeOf(compiled.resolve(asked)));
      }),
      { numRuns: 250 },
    );
    expect(said).toBeGreaterThan(20);
  });
});
