import type { Mutant } from './mutant.ts';

const rule = 'modules/pricing/rules/formerPrice.ts';
const rules = 'test/unit/former-price.test.ts';
const prices = 'test/integration/former-prices.test.ts';
const imported = 'test/integration/imported-credits.test.ts';
const shown = 'a payment that was taken for a former price keeps its answer when it is shown again with a later quote';

/** Bugs of prices that change between offer and payment. */
export const PRICE_MUTANTS: readonly Mutant[] = [
  {
    id: 'former-price-for-good',
    rule: 17,
    bug: 'whoever saw a lower price once may pay it for ever',
    edits: [{ file: rule, search: 'nowMs - validUntilMs <= PRICING_GRACE_MS', replace: 'PRICING_GRACE_MS > 0' }],
    test: { file: rules, name: 'one for a price that ended within ten minutes is made for that price, to the last millisecond' },
  },
  {
    id: 'former-price-of-another-page',
    rule: 17,
    bug: 'a page is sold for what another page cost',
    edits: [{ file: rule, search: 'terms.resourceKey === quoted.resourceKey && ', replace: '' }],
    test: { file: rules, name: 'a former price of another page sells nothing to it' },
  },
  {
    id: 'former-price-of-the-other-kind',
    rule: 17,
    bug: 'a citation is sold for the price of a read',
    edits: [{ file: rule, search: ' && terms.kind === quoted.kind', replace: '' }],
    test: { file: rules, name: 'a former price of a citation of the page sells nothing to it' },
  },
  {
    id: 'former-price-of-other-authors',
    rule: 17,
    bug: 'a version is taken whose authors were not paid',
    edits: [
      {
        file: rule,
        search: 'return payTo === to && priceMicro === value;',
        replace: 'return to !== null && priceMicro === value;',
      },
    ],
    test: { file: rules, name: 'a former price of other authors sells nothing to it' },
  },
  {
    id: 'former-price-at-least',
    rule: 17,
    bug: 'a payment is taken for a price that its owner never asked',
    edits: [{ file: rule, search: 'priceMicro === value', replace: 'priceMicro <= value' }],
    test: { file: rules, name: 'a former price of one micro less sells nothing to it' },
  },
  {
    id: 'legs-of-the-price-found',
    rule: 4,
    bug: 'legs are compared with those of the price that was found, not with those of the quote that was sent',
    edits: [
      {
        file: 'modules/settlement/use/accept/verify.ts',
        search: 'sameLegs(request.legs, quoted.legs)',
        replace: 'sameLegs(request.legs, met.terms.legs)',
      },
    ],
    test: {
      file: prices,
      name: 'after an edit of the authors a payment to the former ones is theirs, with the legs of the quote that was sent',
    },
  },
  {
    id: 'repeat-meets-the-price-of-now',
    rule: 12,
    bug: 'a payment that was taken for a former price is refused when it is shown again after its ten minutes',
    edits: [
      {
        file: 'modules/settlement/use/accept/verify.ts',
        search: '(own && termsTaken(own, quoted)) ?? quoted',
        replace: 'own === undefined ? own : quoted',
      },
    ],
    test: { file: prices, name: shown },
  },
  {
    id: 'repeat-for-the-other-kind',
    rule: 12,
    bug: 'a payment that bought a read is shown for a citation, and answered',
    edits: [{ file: 'modules/settlement/use/accept/verify.ts', search: ' || known.kind !== quoted.kind', replace: '' }],
    test: { file: prices, name: shown },
  },
  {
    id: 'price-below-the-floor-is-set',
    rule: 19,
    bug: 'a price below the lowest is taken, and charged higher than it is shown',
    edits: [{ file: 'modules/tenants/use/tenants.ts', search: 'if (setsPrice && limits', replace: 'if (!setsPrice && limits' }],
    test: { file: 'test/integration/api-quote.test.ts', name: 'a price above 0 and below the floor is refused by name' },
  },
  {
    id: 'default-payee-for-good',
    rule: 17,
    bug: 'a page that was sold for the default payee goes on paying him after its credits API named its authors',
    edits: [
      {
        file: 'modules/quotes/use/issue.ts',
        search: 'const credits = requireCredits(find(key), key);',
        replace: "const credits = ofVersion.has(name) ? 'none' : requireCredits(find(key), key);",
      },
    ],
    test: {
      file: 'test/unit/default-payee.test.ts',
      name: 'a page is sold for the default payee while its credits API names nobody',
    },
  },
  {
    id: 'checksum-unread',
    rule: 18,
    bug: 'a wallet with a wrong checksum is taken, printed with a right one and paid for good',
    edits: [
      {
        file: 'modules/kernel/money/wallet.ts',
        search: 'if (right === text) return wallet;',
        replace: 'if (right) return wallet;',
      },
    ],
    test: { file: 'test/integration/wallet-doors.test.ts', name: 'a wallet with a wrong checksum is refused' },
  },
  {
    id: 'token-to-any-origin',
    rule: 24,
    bug: 'the token of a credits API is sent wherever the API is said to be',
    edits: [{ file: 'modules/quotes/use/credits/token.ts', search: ' || token.origin !== new URL(apiUrl).origin', replace: '' }],
    test: {
      file: 'test/integration/credits-api.test.ts',
      name: 'an API is asked with its site’s token, which no redirect, no other origin',
    },
  },
  {
    id: 'offer-while-undecided',
    rule: 15,
    bug: 'a payment that is undecided is answered with an offer, and its buyer signs another',
    edits: [{ file: 'modules/settlement/use/accept/verify.ts', search: " || error.code === 'settlement_pending'", replace: '' }],
    test: {
      file: prices,
      name: 'a refusal carries no offer where none may be paid: undecided, an outage, or a page without a price',
    },
  },
  {
    id: 'slow-credits-look-like-an-outage',
    rule: 15,
    bug: 'a gate takes a slow credits API for a service that is away, and gives pages free',
    edits: [
      {
        file: 'api/routes/gate/quote.ts',
        search: 'findPage(deps, request), CREDITS_PATIENCE_MS)',
        replace: 'findPage(deps, request))',
      },
    ],
    test: {
      file: 'test/integration/credits-api.test.ts',
      name: 'a quote does not wait for a slow credits API longer than gates wait for a quote, and has its answer the next time',
    },
  },
  {
    id: 'imported-pages-are-free',
    rule: 4,
    bug: 'pages that were imported with authors are given away',
    edits: [
      {
        file: 'modules/identity/use/tenantSnapshots.ts',
        search: 'hasImportedCredits ? row.version : null',
        replace: 'hasImportedCredits ? null : null',
      },
    ],
    test: { file: imported, name: 'a page that is imported with authors is sold for them' },
  },
  {
    id: 'unread-import-is-free',
    rule: 15,
    bug: 'while imported credits cannot be read, their page is free or sold for the default payee',
    edits: [
      {
        file: 'modules/quotes/use/credits/imports.ts',
        search: "return { known: 'failed', untilMs",
        replace: "return { known: 'none', untilMs",
      },
    ],
    test: { file: imported, name: 'an import that cannot be read makes its page an outage' },
  },
  {
    id: 'former-import-is-forgotten',
    rule: 17,
    bug: 'a payment to the authors that a page had before an import is refused',
    edits: [
      {
        file: 'db/migrations/0001_tenants.sql',
        search: 'where former.credits is distinct from changed.credits',
        replace: 'where false',
      },
    ],
    test: { file: imported, name: 'after an import or a removal a payment to the former authors is theirs for ten minutes' },
  },
  {
    id: 'removed-import-is-forgotten',
    rule: 17,
    bug: 'a payment to the authors of a page that was removed from the catalogue is refused',
    edits: [
      {
        file: 'db/migrations/0001_tenants.sql',
        search: 'now() from former where credits is not null',
        replace: 'now() from former where false',
      },
    ],
    test: { file: imported, name: 'after an import or a removal a payment to the former authors is theirs for ten minutes' },
  },
  {
    id: 'import-of-another-version',
    rule: 17,
    bug: 'an import changes nothing until the process is started again',
    edits: [
      {
        file: 'modules/quotes/use/credits/imports.ts',
        search: 'heldOf(page);\n    return found && (',
        replace: 'heldOf({ ...page, catalogueVersion: 0 });\n    return found && (',
      },
      {
        file: 'modules/quotes/use/credits/imports.ts',
        search: 'const name = nameOf(page);\n      await reads',
        replace: 'const name = nameOf({ ...page, catalogueVersion: 0 });\n      await reads',
      },
    ],
    test: { file: imported, name: 'after an import or a removal a payment to the former authors is theirs for ten minutes' },
  },
  {
    id: 'decided-by-a-version-that-is-gone',
    rule: 17,
    bug: 'a change is made though the site is not any more what its owner saw',
    edits: [
      {
        file: 'modules/tenants/use/change.ts',
        search: 'expected === undefined || version === expected',
        replace: 'expected !== -1',
      },
    ],
    test: { file: 'test/integration/price-effect.test.ts', name: 'of two changes decided by one version' },
  },
  {
    id: 'a-form-hides-a-page',
    rule: 17,
    bug: 'a page that its site names is sold as another one, for the other one’s authors, since its address ends like a form',
    edits: [
      {
        file: 'modules/quotes/use/issue.ts',
        search: 'articles.length === 0 || isNamed(asked)',
        replace: 'articles.length === 0',
      },
    ],
    test: { file: 'test/integration/page-forms.test.ts', name: 'an address that the site names is a page of its own' },
  },
  {
    id: 'a-form-is-nobodys',
    rule: 17,
    bug: 'a form of a sold article is free, since nobody is named for its address',
    edits: [{ file: 'modules/quotes/use/issue.ts', search: 'all.find(isNamed) ??', replace: '' }],
    test: { file: 'test/integration/page-forms.test.ts', name: 'a page is quoted as the article' },
  },
  {
    id: 'form-of-a-form-is-priced-as-the-article',
    rule: 15,
    bug: 'an exact rule for a form is passed by with another form behind it, at the price of the article',
    edits: [{ file: 'modules/quotes/use/issue.ts', search: '[surest, path] = [one, next];', replace: 'surest = one;' }],
    test: { file: 'test/integration/page-forms.test.ts', name: 'a form of a form has the price' },
  },
];
