import type { Mutant } from './mutant.ts';

const graphql = 'test/integration/graphql-thread.test.ts';
const variables = 'test/integration/graphql-variables.test.ts';
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
    edits: [{ file: 'platform/pacing/slices.ts', search: 'while (performance.now() < until);', replace: 'while (until > 0);' }],
    test: { file: 'test/unit/slices.test.ts', name: 'between slices of a millisecond everything else goes on' },
  },
  {
    id: 'all-calls-in-one-turn',
    rule: 10,
    bug: 'all calls that arrive at once begin in one turn of the event loop, before a quote that memory answers',
    edits: [{ file: 'platform/pacing/eventLoop.ts', search: 'return nowMs < endsAtMs;', replace: 'return true;' }],
    test: { file: 'test/unit/loop.test.ts', name: 'of many calls that arrive at once a few begin in each turn' },
  },
  {
    id: 'full-thread-draws-the-next',
    rule: 10,
    bug: 'a thread that holds the memory of a large document draws that of the next site, and has no room for it',
    edits: [{ file: 'modules/reports/use/statement/threads.ts', search: ' || heldBytes > MOST_HELD_BYTES', replace: '' }],
    test: { file: 'test/unit/statement-drawing.test.ts', name: 'a thread draws the next document as it drew the first' },
  },
  {
    id: 'scope-without-budget',
    rule: 10,
    bug: 'one answer may compare as many patterns with as many pages as are asked',
    edits: [
      { file: 'modules/kernel/pages/cover.ts', search: 'if (this.#spent > MAX_WORK) {', replace: 'if (this.#spent < 0) {' },
    ],
    test: { file: 'test/property/licence.test.ts', name: 'no piece of the work looks at more than' },
  },
  {
    id: 'one-caller-holds-all-places',
    rule: 10,
    bug: 'one caller may hold all places where scopes are priced',
    edits: [
      {
        file: 'modules/storefront/use/licences/scopes.ts',
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
        file: 'modules/storefront/use/licences/catalogues.ts',
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
    edits: [
      {
        file: 'modules/identity/use/accounts/signIn.ts',
        search: 'if (!isTagged(pepper, tagText(address, facts), tag) || nowMs >= expiresAtMs) return null;',
        replace: '',
      },
    ],
    test: { file: accounts, name: 'an invented, foreign, ended or used one costs no call of the node' },
  },
  {
    id: 'nonce-of-anybody',
    rule: 12,
    bug: 'a nonce is good for another address than it was given to',
    edits: [
      {
        file: 'modules/identity/rules/nonce.ts',
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
        file: 'modules/identity/use/accounts/signIn.ts',
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
        file: 'modules/identity/use/accounts/codeWallets.ts',
        search: 'const waitMs = Math.max(all.waitMs, own.waitMs);',
        replace: 'const { waitMs } = all;',
      },
    ],
    test: { file: accounts, name: 'wallets of code have turns of their own' },
  },
  {
    id: 'one-node-signs-in',
    rule: 12,
    bug: 'one node of two says that a wallet of code confirms a signature, and a stranger has its account',
    edits: [
      {
        file: 'platform/chain/signature/message.ts',
        search: 'return yes >= needed;',
        replace: 'return yes >= 1;',
      },
    ],
    test: { file: accounts, name: 'a wallet of code signs in, and proves a licence, by the word of two nodes' },
  },
  {
    id: 'sign-in-forgets-the-other-urls',
    rule: 12,
    bug: 'wallets of code that sign in are asked over a connection that has lost how many URLs it has',
    edits: [
      {
        file: 'modules/identity/use/accounts/codeWallets.ts',
        search: '    ...rpc,\n',
        replace: '    ...rpc,\n    urlCount: 1,\n',
      },
    ],
    test: { file: accounts, name: 'a wallet of code signs in, and proves a licence, by the word of two nodes' },
  },
  {
    id: 'proofs-of-licences-without-turns',
    rule: 10,
    bug: 'all proofs of licences by wallets of code share one turn: whoever invents some denies every holder his pages',
    edits: [
      {
        file: 'modules/licences/use/check.ts',
        search: 'isConfirmed(deps, licenceJti ?? jti, signed)',
        replace: "isConfirmed(deps, 'licences', signed)",
      },
    ],
    test: { file: accounts, name: 'proofs of a licence by a wallet of code take these turns' },
  },
  {
    id: 'wallet-of-code-burns-our-nodes',
    rule: 10,
    bug: 'a wallet of code that signs in is asked with all the gas there is',
    edits: [
      {
        file: 'platform/chain/signature/message.ts',
        search: 'CONTRACT_AUTH_GAS.toString(16)',
        replace: '(2 ** 24 - 1).toString(16)',
      },
    ],
    test: { file: accounts, name: 'a wallet of code signs in with its owner’s signature' },
  },
  {
    id: 'audit-page-with-ties',
    rule: 10,
    bug: 'a page of the audit holds every report of its last millisecond',
    edits: [
      { file: 'modules/reports/store/earnings/pages.ts', search: '.slice(again, again + limit)', replace: '.slice(again)' },
    ],
    test: { file: reports, name: 'of 15,000 reports of one millisecond a page of 1 has 1' },
  },
  {
    id: 'audit-ties-lost',
    rule: 23,
    bug: 'the next page of the audit begins below the millisecond that the one before was cut in',
    edits: [
      {
        file: 'modules/reports/store/earnings/pages.ts',
        search: 'cursor.shown > 0 ? cursor.atMs + 1 : cursor.atMs',
        replace: 'cursor.atMs',
      },
    ],
    test: { file: reports, name: 'reports of one millisecond go on from page to page' },
  },
  {
    id: 'pages-of-now-for-the-price-of-then',
    rule: 16,
    bug: 'a licence is sold over the pages that its scope covers when it is paid, at the price of what was offered',
    edits: [
      {
        file: 'modules/storefront/use/licences/freeze.ts',
        search: 'if (pages === null || digestOfPages(pages) !== offer.pagesDigest) {',
        replace: 'if (pages === null) {',
      },
      {
        file: 'modules/storefront/use/licences/freeze.ts',
        search: 'if (count !== offer.pageCount) return null;',
        replace: 'void count;',
      },
    ],
    test: { file: offers, name: 'when the pages of a scope change between offer and payment' },
  },
  {
    id: 'digest-without-paths',
    rule: 16,
    bug: 'a page that was moved is taken for the one that was offered',
    edits: [
      {
        file: 'modules/storefront/use/licences/freeze.ts',
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
        file: 'modules/storefront/use/licences/offer.ts',
        search: 'MAX_TIMEOUT_SECONDS * 1000 + 60_000',
        replace: 'MAX_TIMEOUT_SECONDS * 288_000',
      },
    ],
    test: { file: offers, name: 'take no more room than their requests' },
  },
  {
    id: 'every-list-costs-one',
    rule: 10,
    bug: 'a list on a row costs one row, whatever it holds',
    edits: [
      {
        file: 'graphql/limits/measure.ts',
        search: 'Math.min(mostOf(parent.name, field.name), this.#bucketsOf(node, field, around)) : rows',
        replace: '1 : rows',
      },
    ],
    test: {
      file: 'test/property/graphql-cost.test.ts',
      name: 'a query within the cost never comes to more values than it costs',
    },
  },
  {
    id: 'queries-go-back-up',
    rule: 10,
    bug: 'a query may lead from a leg to all legs of its crossing, and from each of them again',
    edits: [
      { file: 'graphql/limits/measure.ts', search: 'inside.belowLists.has(type.name)', replace: "inside.belowLists.has('')" },
    ],
    test: {
      file: 'test/property/graphql-cost.test.ts',
      name: 'a query within the cost never comes to more values than it costs',
    },
  },
  {
    id: 'lists-read-longer-than-priced',
    rule: 10,
    bug: 'what a query comes to is not counted while it is executed',
    edits: [
      {
        file: 'graphql/limits/budget.ts',
        search: 'this.#values += Array.isArray',
        replace: 'this.#values += 0 * +Array.isArray',
      },
    ],
    test: { file: graphql, name: 'an answer that would have too many bytes, or values' },
  },
  {
    id: 'answers-of-any-length',
    rule: 10,
    bug: 'texts are not counted while a query is executed, nor the answer when it is made',
    edits: [
      { file: 'graphql/limits/budget.ts', search: 'if (bytes > most) this.refusal', replace: 'if (bytes < 0) this.refusal' },
    ],
    test: { file: graphql, name: 'an answer that would have too many bytes, or values' },
  },
  {
    id: 'who-was-beside-is-blamed',
    rule: 10,
    bug: 'all questions in a thread that took too much are told that they did, and their sites wait',
    edits: [{ file: 'graphql/thread/host.ts', search: ' && thread.waiting.size === 1 ?', replace: ' ?' }],
    test: { file: graphql, name: 'a query that takes all memory ends its thread' },
  },
  {
    id: 'ends-threads-once-for-each',
    rule: 10,
    bug: 'of several hostile queries of one site each ends a thread of its own',
    edits: [{ file: 'graphql/thread/host.ts', search: 'this.#requireNoPenalty(call); // another', replace: '// another' }],
    test: { file: graphql, name: 'two hostile queries of one site end the thread together' },
  },
  {
    id: 'variables-of-any-size',
    rule: 10,
    bug: 'variables are looked at by the library before they are bounded',
    edits: [{ file: 'graphql/request/body.ts', search: '  requireBounded(variables);', replace: '  requireBounded(null);' }],
    test: { file: variables, name: 'variables of 100 kB of members that no input has' },
  },
  {
    id: 'every-wrong-member-is-told',
    rule: 10,
    bug: 'each wrong member of a variable is told, each time with the whole variable',
    edits: [{ file: 'graphql/limits/plugins.ts', search: 'maxErrors: 1,', replace: 'maxErrors: 1e6,' }],
    test: { file: variables, name: 'variables of 400 pages of 200 such members' },
  },
  {
    id: 'ends-threads-as-it-likes',
    rule: 10,
    bug: 'a site whose query ended the thread may ask the next one at once',
    edits: [{ file: 'graphql/thread/host.ts', search: 'Date.now() + PENALTY_MS', replace: '0' }],
    test: { file: graphql, name: 'a query that takes all memory ends its thread' },
  },
];
