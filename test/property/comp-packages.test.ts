import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CompPackages } from '../../api/schemas/comp.ts';
import type { LicenceTerm } from '../../modules/kernel/licence/period.ts';
import { compilePattern, matches } from '../../modules/kernel/pages/scope.ts';
import { NOBODY } from '../../modules/pricing/rules/compiled.ts';
import { packagesOf } from '../../modules/pricing/rules/compPackages.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import { anyAsked, anyPricing } from '../support/rules/arbitrary.ts';

const TERMS: readonly (readonly LicenceTerm[])[] = [
  ['all'],
  ['ai-index', 'ai-input', 'ai-train'],
  ['ai-train'],
  ['ai-input'],
  ['ai-index'],
  ['search'],
];
const facts = {
  host: 'alpha.example',
  licenseUrl: 'https://svc.example/l',
  reportUrl: 'https://svc.example/u',
  packager: 'svc.example',
};
const anyQuestion = anyPricing.chain((pricing) =>
  fc.record({ pricing: fc.constant(pricing), asked: anyAsked(pricing), functions: fc.subarray([0, 1, 2, 3, 4, 5]) }),
);

test('the first package with a page in it names the price that an agent nobody verified is quoted for these uses, and refused pages are in none', () => {
  let priced = 0;
  fc.assert(
    fc.property(anyQuestion, ({ pricing, asked: { path, slug, atMs }, functions }) => {
      const compiled = compilePricing(pricing, 1_000n);
      fc.pre(slug !== null && !(compiled.freeSlugs as readonly unknown[]).includes(slug));
      const classes = compiled.classes(atMs);
      const packages = packagesOf({ ...facts, classes, paths: [path], functions });
      expect(CompPackages.parse({ packages }).packages).toEqual(packages);
      const terms = functions.flatMap((number) => TERMS[number] ?? []);
      const price = compiled.resolve({ ...NOBODY, terms, kind: 'read', path, slug, atMs });
      const holding = classes.find(({ pattern }) => matches(compilePattern(pattern), path));
      const found = packages.find(({ ext }) => ext.pattern === holding?.pattern);
      if (found && found.scope.pricetype === 5) return;
      priced += 1;
      if (price.kind === 'refused') expect(found).toBeUndefined();
      else expect(found?.scope.unitprice).toBe(price.kind === 'free' ? 0 : Number(price.micro) / 1e6);
      const cited = compiled.resolve({ ...NOBODY, kind: 'citation', path, slug, atMs });
      if (found)
        expect(found.ext.citationprice).toBe(
          cited.kind === 'refused' ? undefined : cited.kind === 'free' ? 0 : Number(cited.micro) / 1e6,
        );
    }),
    { numRuns: 800 },
  );
  expect(priced).toBeGreaterThan(300);
});

test('a request for a section has the packages of pages below it and the one that holds there; without one it has all', () => {
  fc.assert(
    fc.property(anyQuestion, ({ pricing, asked: { path, atMs } }) => {
      const classes = compilePricing(pricing, 1_000n).classes(atMs);
      const idsOf = (paths: readonly string[]) => packagesOf({ ...facts, classes, paths, functions: [] }).map(({ id }) => id);
      const all = idsOf([]);
      expect(idsOf(['/'])).toEqual(all);
      const some = idsOf([path]);
      expect(all.filter((id) => some.includes(id))).toEqual(some);
      expect(new Set(all).size).toBe(all.length);
    }),
  );
});
