/** A manifest is a projection of the resolver: whatever the rules, it tells no price that the page's own 402 would not ask. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern, matches } from '../../modules/kernel/pages/scope.ts';
import { NOBODY } from '../../modules/pricing/rules/compiled.ts';
import type { ManifestItem } from '../../modules/pricing/rules/manifest.ts';
import { manifestOf } from '../../modules/pricing/rules/manifest.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import { anyAsked, anyPricing } from '../support/rules/arbitrary.ts';

interface Manifest {
  readonly items: readonly (ManifestItem & {
    readonly pattern: string;
    readonly accepts: readonly { readonly amount: string }[];
  })[];
  readonly exceptions?: readonly { readonly pattern: string; readonly read: string }[];
}
const USDC = { network: 'eip155:8453', asset: '0xa', extra: { name: 'USDC', version: '2' }, payTo: null };
const anyQuestion = anyPricing.chain((pricing) => fc.record({ pricing: fc.constant(pricing), asked: anyAsked(pricing) }));

test('the first pattern of a manifest that fits a page has the price of its 402, and what it leaves out costs nothing or is refused', () => {
  fc.assert(
    fc.property(anyQuestion, ({ pricing, asked: { path, slug, atMs } }) => {
      const compiled = compilePricing(pricing, 1_000n);
      fc.pre(slug !== null && !compiled.freeSlugs.includes(slug));
      const classes = compiled.classes(atMs);
      const facts = {
        host: 'alpha.example',
        classes,
        destinations: [USDC],
        baseUrl: 'https://svc.example',
        pages: [],
        lastUpdatedMs: 0,
      };
      const manifest = manifestOf(facts) as Manifest;
      const order = classes.map(({ pattern }) => pattern);
      const told = [
        ...manifest.items.map(({ pattern, accepts }) => ({ pattern, read: accepts[0]?.amount })),
        ...(manifest.exceptions ?? []),
      ].toSorted((a, b) => order.indexOf(a.pattern) - order.indexOf(b.pattern));
      const price = compiled.resolve({ ...NOBODY, path, slug, kind: 'read', atMs });
      const asked = 'micro' in price ? String(price.micro) : price.kind;
      expect(told.find(({ pattern }) => matches(compilePattern(pattern), path))?.read).toBe(asked);
    }),
  );
});
