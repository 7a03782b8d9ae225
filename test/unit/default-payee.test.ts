import { expect, test } from 'vitest';
import { buildResource } from '../../modules/kernel/hosts/host.ts';
import { NOBODY } from '../../modules/pricing/rules/compiled.ts';
import { compilePricing } from '../../modules/pricing/rules/pricing.ts';
import type { KnownCredits } from '../../modules/quotes/use/credits/book.ts';
import { prepareQuote } from '../../modules/quotes/use/issue.ts';
import { baseSepoliaNetwork } from '../../platform/chain/presets.ts';
import { routerAddress } from '../../platform/chain/router/split.ts';
import { pricingOf } from '../support/rules/arbitrary.ts';

const HOUSE = `0x${'1'.repeat(40)}` as const;
const ANN = `0x${'2'.repeat(40)}` as const;

test('a page is sold for the default payee while its credits API names nobody, and no longer', () => {
  const pricing = compilePricing(
    pricingOf({ creditsApiUrl: 'https://credits.example', defaultPayee: { authorId: 'house', wallet: HOUSE } }),
    1_000n,
  );
  const site = { tenantId: 'site', networks: [baseSepoliaNetwork({ rpcUrls: ['http://127.0.0.1:1'], router: routerAddress })] };
  let known: KnownCredits = 'none';
  const credits = { find: () => known, findPrevious: () => undefined, load: () => Promise.resolve() };
  const resource = buildResource('a.example', '/page');
  const page = { pricing, resource, slug: 'page', kind: 'read', asker: NOBODY, atMs: 0 } as const;
  const payTo = () => {
    const ready = prepareQuote({ credits }, site, page).found;
    return typeof ready === 'string' ? ready : ready.terms.payTo;
  };
  expect([payTo(), payTo()]).toEqual([HOUSE, HOUSE]);
  known = { authors: [{ authorId: 'ann', wallet: ANN, weight: 1n, role: 'author' }] };
  expect(payTo()).toBe(ANN);
  known = 'free';
  expect(payTo()).toBe('free_slug');
});
