import type { Mutant } from './mutant.ts';

const bounds = 'test/integration/scope-bounds.test.ts';

const reports = 'test/integration/report-api.test.ts';
const offers = 'test/integration/licence-offers.test.ts';
const accounts = 'test/integration/account.test.ts';

/** Bugs around what one caller may cost all others. */
export const BOUND_MUTANTS: readonly Mutant[] = [
  {
    id: 'scope-in-one-piece',
    rule: 10,
    bug: 'a scope is priced in one piece, so that nothing else is answered meanwhile',
    edits: [{ file: 'services/slices.ts', search: 'while (performance.now() < until);', replace: 'while (until > 0);' }],
    test: { file: 'test/unit/slices.test.ts', name: 'between slices of a few milliseconds everything else goes on' },
  },
  {
    id: 'scope-without-budget',
    rule: 10,
    bug: 'one answer may compare as many patterns with as many pages as are asked',
    edits: [{ file: 'domain/cover.ts', search: 'if (this.#spent > MAX_WORK) {', replace: 'if (this.#spent < 0) {' }],
    test: { file: 'test/property/licence.test.ts', name: 'no piece of the work looks at more than' },
  },
  {
    id: 'one-caller-holds-all-places',
    rule: 10,
    bug: 'one caller may hold all places where scopes are priced',
    edits: [
      {
        file: 'services/licences/scopes.ts',
        search: 'mostOfOne: Math.max(1, Math.floor(atOnce / 2)),',
        replace: '',
      },
    ],
    test: { file: bounds, name: 'one address cannot hold all places' },
  },
  {
    id: 'catalogues-without-weight',
    rule: 10,
    bug: 'catalogues stay in memory whatever they weigh',
    edits: [
      {
        file: 'services/licences/catalogues.ts',
        search: 'sizeCalculation: ({ weight }) => weight',
        replace: 'sizeCalculation: () => 1',
      },
    ],
    test: { file: bounds, name: 'catalogues in memory are bounded by their pages' },
  },
  {
    id: 'chain-before-nonce',
    rule: 10,
    bug: 'the chain is asked about a signature of a challenge that was never given out',
    edits: [{ file: 'services/accounts/signIn.ts', search: 'if (!isOurs || nowMs >= expiresAtMs) return null;', replace: '' }],
    test: { file: accounts, name: 'an invented, foreign, ended or used one costs no call of the node' },
  },
  {
    id: 'nonce-of-anybody',
    rule: 12,
    bug: 'a nonce is good for another address than it was given to',
    edits: [
      {
        file: 'domain/signInNonce.ts',
        search: 'address.toLowerCase()',
        replace: 'address.length',
      },
    ],
    test: { file: accounts, name: 'an invented, foreign, ended or used one costs no call of the node' },
  },
  {
    id: 'challenge-good-twice',
    rule: 12,
    bug: 'a used challenge lets in again',
    edits: [
      {
        file: 'services/accounts/signIn.ts',
        search: 'if (!(await nonce.use(deps.database))) throw spent();',
        replace: 'await nonce.use(deps.database);',
      },
    ],
    test: { file: accounts, name: 'a challenge is good once, for five minutes' },
  },
  {
    id: 'wallets-of-code-without-cap',
    rule: 10,
    bug: 'one address may ask wallets of code as often as it likes',
    edits: [
      {
        file: 'services/accounts/codeWallets.ts',
        search: 'if (total >= perMinute || own >= perMinuteOfOne)',
        replace: 'if (total >= perMinute)',
      },
    ],
    test: { file: accounts, name: 'wallets of code have a lane of their own' },
  },
  {
    id: 'audit-page-with-ties',
    rule: 10,
    bug: 'a page of the audit holds every report of its last millisecond',
    edits: [{ file: 'db/reports/pages.ts', search: '.slice(again, again + limit)', replace: '.slice(again)' }],
    test: { file: reports, name: 'of 15,000 reports of one millisecond a page of 1 has 1' },
  },
  {
    id: 'audit-ties-lost',
    rule: 23,
    bug: 'the next page of the audit begins below the millisecond that the one before was cut in',
    edits: [{ file: 'db/reports/pages.ts', search: 'cursor.shown > 0 ? cursor.atMs + 1 : cursor.atMs', replace: 'cursor.atMs' }],
    test: { file: reports, name: 'reports of one millisecond go on from page to page' },
  },
  {
    id: 'pages-of-now-for-the-price-of-then',
    rule: 16,
    bug: 'a licence is sold over the pages that its scope covers when it is paid, at the price of what was offered',
    edits: [
      {
        file: 'services/licences/freeze.ts',
        search: 'if (pages === null || digestOfPages(pages) !== offer.pagesDigest) {',
        replace: 'if (pages === null) {',
      },
      { file: 'services/licences/freeze.ts', search: 'if (count !== offer.pageCount) return null;', replace: 'void count;' },
    ],
    test: { file: offers, name: 'when the pages of a scope change between offer and payment' },
  },
  {
    id: 'digest-without-paths',
    rule: 16,
    bug: 'a page that was moved is taken for the one that was offered',
    edits: [
      {
        file: 'services/licences/freeze.ts',
        search: 'JSON.stringify([path, slug])',
        replace: 'JSON.stringify([path.length === 0, slug])',
      },
    ],
    test: { file: offers, name: 'when the pages of a scope change between offer and payment' },
  },
  {
    id: 'open-offers-kept-for-a-day',
    rule: 10,
    bug: 'offers that nobody pays for stay for a day',
    edits: [
      {
        file: 'services/licences/offer.ts',
        search: 'MAX_TIMEOUT_SECONDS * 1000 + 60_000',
        replace: 'MAX_TIMEOUT_SECONDS * 288_000',
      },
    ],
    test: { file: offers, name: 'take no more room than their requests' },
  },
];
