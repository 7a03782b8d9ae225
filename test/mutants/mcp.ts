import type { Mutant } from './mutant.ts';

const file = 'test/integration/mcp.test.ts';

/** Bugs around pages sold over MCP. */
export const MCP_MUTANTS: readonly Mutant[] = [
  {
    id: 'mcp-first-of-two-payments',
    rule: 12,
    bug: 'of two different payments in one call the first is taken',
    edits: [
      {
        file: 'modules/storefront/use/pages/presentedPayment.ts',
        search: 'if (others.every((other) => other.ok && isSame(other.payment))) return { ok: true, text, payment };',
        replace:
          'if (others.length > -1 || others.every((other) => other.ok && isSame(other.payment))) return { ok: true, text, payment };',
      },
    ],
    test: { file, name: 'two different payments in one call are refused' },
  },
  {
    id: 'mcp-offer-while-undecided',
    rule: 15,
    bug: 'an undecided payment is told with an offer that could be paid as well',
    edits: [
      {
        file: 'api/mcp/tools/buyPage.ts',
        search: 'if (error instanceof PaymentError && error.offer !== null) return offerResult(call, error.offer, error);',
        replace:
          "if (error instanceof PaymentError) return offerResult(call, error.offer ?? Buffer.from('{\"accepts\":[]}').toString('base64'), error);",
      },
    ],
    test: { file, name: 'an undecided payment is told without an offer' },
  },
  {
    id: 'mcp-money-before-page',
    rule: 15,
    bug: 'a page that its site does not have is charged',
    edits: [
      {
        file: 'modules/storefront/use/pages/page.ts',
        search: "if (probed.kind === 'absent') throw absentError(probed);",
        replace: 'void absentError;',
      },
    ],
    test: { file, name: 'page first, money second' },
  },
  {
    id: 'site-asked-without-money',
    rule: 10,
    bug: 'a site is asked for a page by whoever signs for money that he does not hold',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: 'const balance = await looks.balance;',
        replace: 'const balance = looks ? value : await looks.balance;',
      },
    ],
    test: { file: 'test/fault/limits.test.ts', name: 'what is looked at last is asked for nobody who did not sign' },
  },
  {
    id: 'spent-all-on-the-page',
    rule: 14,
    bug: 'who has spent all on a page is told that he cannot pay for it, and gets nothing',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: "if (balance < value && (await foresee(deps.database, item)).state === 'accepted') {",
        replace: 'if (balance < value && foresee) {',
      },
    ],
    test: { file: 'test/integration/settlement.test.ts', name: 'a payer who has spent all on a page' },
  },
  {
    id: 'one-node-says-no-money',
    rule: 14,
    bug: 'one lying node of two has payers with money refused',
    edits: [
      {
        file: 'modules/settlement/use/accept/settle.ts',
        search: 'const most = hasOthers(rpc) ?',
        replace: 'const most = hasOthers({}) ?',
      },
    ],
    test: { file: 'test/fault/second-source.test.ts', name: 'a payer is refused for want of money only where no node shows it' },
  },
  {
    id: 'request-key-of-two-payments',
    rule: 1,
    bug: 'two payments that come at once with one Idempotency-Key are both charged',
    edits: [
      {
        file: 'modules/settlement/use/accept/intake.ts',
        search: '...requestKeys.map(',
        replace: '...requestKeys.slice(9).map(',
      },
    ],
    test: { file: 'test/fault/limits.test.ts', name: 'a payment that its payer cannot cover leaves nothing' },
  },
  {
    id: 'request-key-unlocked',
    rule: 1,
    bug: 'two processes that are shown two payments with one Idempotency-Key at once charge both',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: "pg_advisory_xact_lock(hashtextextended(concat_ws(' ', tenant_id, key), 16))",
        replace: '1',
      },
    ],
    test: { file: 'test/integration/intake.test.ts', name: 'one request key shown with two payments' },
  },
  {
    id: 'request-key-of-a-refused-payment',
    rule: 1,
    bug: 'a payment that a budget refuses keeps its request key, and the one that comes after it is refused for a day',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: 'keysOf(items.filter(({ payment }) => madeIds.has(payment.paymentId)))',
        replace: 'keysOf(all)',
      },
    ],
    test: { file: 'test/integration/budget.test.ts', name: 'what a budget refuses leaves nothing behind' },
  },
  {
    id: 'stranger-asks-for-the-gate',
    rule: 15,
    bug: 'strangers who invent pages use up the questions that a site’s gate may have asked of its credits API',
    edits: [
      {
        file: 'modules/quotes/use/credits/book.ts',
        search: 'requireTurn(copy ? stale : unknown, key, by)',
        replace: "requireTurn(copy ? stale : unknown, key, 'site')",
      },
    ],
    test: { file: 'test/integration/credits-api.test.ts', name: 'pages that strangers invent leave no row' },
  },
  {
    id: 'one-address-asks-for-all',
    rule: 15,
    bug: 'one address that invents pages uses up what all who ask the service may have a site’s credits API asked',
    edits: [
      {
        file: 'modules/quotes/use/credits/lookups.ts',
        search: 'own?.waitMs ?? 0',
        replace: '0',
      },
    ],
    test: { file: 'test/integration/credits-api.test.ts', name: 'one address that invents pages' },
  },
  {
    id: 'invented-paths-without-rate',
    rule: 15,
    bug: 'one address that invents paths has the database asked about each of them',
    edits: [
      {
        file: 'modules/quotes/use/credits/book.ts',
        search: '() => void requireTurn(paths, page, by)',
        replace: '() => undefined',
      },
    ],
    test: { file: 'test/integration/imported-credits.test.ts', name: 'paths that addresses invent' },
  },
  {
    id: 'inventors-stop-sales',
    rule: 15,
    bug: 'addresses that invent pages use up what honest callers may ask a site’s credits API, and its sales stop',
    edits: [
      {
        file: 'modules/quotes/use/credits/lookups.ts',
        search: "isInventor ? 'inventors' : 'strangers'",
        replace: "'strangers'",
      },
    ],
    test: { file: 'test/integration/credits-api.test.ts', name: 'addresses that invent pages keep no other' },
  },
  {
    id: 'found-pages-cost',
    rule: 15,
    bug: 'pages that a credits API names use up the turns that are meant for those it does not',
    edits: [
      {
        file: 'modules/quotes/use/credits/lookups.ts',
        search: 'else if (rate) common.set',
        replace: 'else if (!rate) common.set',
      },
    ],
    test: { file: 'test/integration/credits-api.test.ts', name: 'addresses that invent pages keep no other' },
  },
  {
    id: 'one-request-an-address',
    rule: 15,
    bug: 'a page is asked about once for each address that wants it at the moment',
    edits: [
      {
        file: 'modules/quotes/use/credits/book.ts',
        search: 'await questions(name, () => {',
        replace: 'await questions(name + JSON.stringify(by), () => {',
      },
    ],
    test: { file: 'test/integration/credits-api.test.ts', name: 'a page that several addresses' },
  },
  {
    id: 'refreshes-without-rate',
    rule: 15,
    bug: 'one address has every stale copy of a site refreshed at once',
    edits: [
      {
        file: 'modules/quotes/use/credits/book.ts',
        search: 'requireTurn(copy ? stale : unknown, key, by)',
        replace: "requireTurn(copy ? stale : unknown, key, copy ? 'site' : by)",
      },
    ],
    test: { file: 'test/integration/credits-api.test.ts', name: 'stale copies that one address' },
  },
  {
    id: 'unknown-pages-are-free',
    rule: 15,
    bug: 'an address at which nothing is sold is told to be free, though nobody knows whether a page stands there',
    edits: [
      {
        file: 'api/mcp/quoted.ts',
        search: "if (because !== 'no_credits' && because !== 'out_of_scope')",
        replace: "if (because !== 'out_of_scope')",
      },
    ],
    test: { file: 'test/integration/mcp.test.ts', name: 'a page that is free costs nothing' },
  },
  {
    id: 'registered-client-owns',
    rule: 24,
    bug: 'a client that registered itself is the owner of its account',
    edits: [
      {
        file: 'modules/identity/use/accounts/clients.ts',
        search: 'newClient(deps, { ...request, accountId });',
        replace: 'newClient(deps, { ...request, accountId, isOwner: true });',
      },
    ],
    test: { file: 'test/integration/olp.test.ts', name: 'a client that has nothing finds where to register' },
  },
  {
    id: 'pending-says-sign-again',
    rule: 3,
    bug: 'a payment that is undecided is told to sign again, and is paid twice',
    edits: [
      {
        file: 'modules/kernel/errors.ts',
        search: "settlement_pending: ['payment', 'wait'],",
        replace: "settlement_pending: ['payment', 'sign_again'],",
      },
    ],
    test: { file: 'test/unit/refusal-doors.test.ts', name: 'an undecided payment is never told to sign again' },
  },
  {
    id: 'strangers-fill-the-audit',
    rule: 10,
    bug: 'what nobody signed is an observation of the site that a stranger names',
    edits: [
      {
        file: 'modules/settlement/use/answer/refuse.ts',
        search: "if (mode === 'live' && isVouched) await",
        replace: "if (mode === 'live' && (isVouched || true)) await",
      },
    ],
    test: { file: 'test/fault/limits.test.ts', name: 'what is looked at last is asked for nobody who did not sign' },
  },
  {
    id: 'mcp-budget-after-signature',
    rule: 12,
    bug: 'an account is offered what its budget will refuse',
    edits: [{ file: 'modules/storefront/use/pages/page.ts', search: 'if (refusal) throw refusal;', replace: 'void refusal;' }],
    test: { file, name: 'an account is told what its budget says' },
  },
  {
    id: 'mcp-accounts-without-number',
    rule: 19,
    bug: 'what a tool costs is counted for each account, and accounts of one address are free and without number',
    edits: [
      {
        file: 'api/handler.ts',
        search: 'calledFrom(holderOf(who), deps.addressOf(request))',
        replace: 'holderOf(who)',
      },
    ],
    test: { file, name: 'many accounts of one address' },
  },
];
