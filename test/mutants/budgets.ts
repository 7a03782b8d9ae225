import type { Mutant } from './mutant.ts';

const budget = 'test/integration/budget.test.ts';
const rules = 'test/unit/budget.test.ts';
const settings = 'test/integration/account-budget.test.ts';
const chain = 'test/integration/spending-chain.test.ts';
const ownerAlone = 'what only an owner may is refused';

/** Bugs around what an account may spend: each lets a micro too much through, or keeps one from it that it has. */
export const BUDGET_MUTANTS: readonly Mutant[] = [
  {
    id: 'keys-before-accounts',
    rule: 9,
    bug: 'who names a request key holds it while he waits for his account, and payments of no account that name it wait with him',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: '      lockSpenders(sql, spending),',
        replace: '      lockRequestKeys(sql, all).then(() => lockSpenders(sql, spending)),',
      },
    ],
    test: { file: 'test/integration/budget.test.ts', name: 'a payment of no account waits for no account’s lock' },
  },
  {
    id: 'budget-without-lock',
    rule: 6,
    bug: 'two processes decide about one account at once, each as if the other spent nothing',
    edits: [{ file: 'modules/budgets/store/budgets.ts', search: '.forNoKeyUpdate()', replace: '.forKeyShare()' }],
    test: { file: budget, name: 'fifty payments at once over two processes' },
  },
  {
    id: 'claims-before-budget',
    rule: 6,
    bug: 'what a budget refuses has its authorization claimed all the same',
    edits: [
      {
        file: 'modules/settlement/store/intake.ts',
        search: 'claimAuthorizations(sql, payments),\n      listSiblings',
        replace: 'claimAuthorizations(\n        sql,\n        all.map(({ payment }) => payment),\n      ),\n      listSiblings',
      },
    ],
    test: { file: budget, name: 'what a budget refuses leaves nothing behind' },
  },
  {
    id: 'late-failure-is-free',
    rule: 3,
    bug: 'a payment that failed counts no more, though its authorization may still settle',
    edits: [{ file: 'modules/budgets/rules/decide.ts', search: 'payment.isWatched || isUndecided', replace: 'isUndecided' }],
    test: { file: budget, name: 'counts while its authorization may still move money' },
  },
  {
    id: 'nothing-is-released',
    rule: 3,
    bug: 'a payment that can move nothing any more counts for good',
    edits: [{ file: 'modules/budgets/rules/decide.ts', search: "? 'spent' : 'released'", replace: "? 'spent' : 'spent'" }],
    test: { file: budget, name: 'is released by the payment that needs the room' },
  },
  {
    id: 'released-twice',
    rule: 3,
    bug: 'what moved nothing is taken off the counters at every look',
    edits: [
      {
        file: 'modules/budgets/store/closing.ts',
        search: "    .where('o.state', '=', 'open')\n",
        replace: '',
      },
    ],
    test: { file: budget, name: 'counts while its authorization may still move money' },
  },
  {
    id: 'budget-of-a-host-ignored',
    rule: 6,
    bug: 'one host gets all that an account may spend',
    edits: [
      {
        file: 'modules/budgets/rules/decide.ts',
        search: 'budget.hostMicro !== null && spent.hostMicro',
        replace: 'budget.hostMicro === 0n && spent.hostMicro',
      },
    ],
    test: { file: budget, name: 'a host gets no more than a host may get' },
  },
  {
    id: 'budget-to-a-micro-more',
    rule: 6,
    bug: 'the last payment of a budget may cost a micro more than is left',
    edits: [
      {
        file: 'modules/budgets/rules/decide.ts',
        search: 'amountMicro > budget.totalMicro',
        replace: 'amountMicro > budget.totalMicro + 1n',
      },
    ],
    test: { file: rules, name: 'the total may be spent to the micro' },
  },
  {
    id: 'stop-from-memory',
    rule: 24,
    bug: 'whether an account is stopped is remembered from its first payment on',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: '/** A budget as it is stored. */',
        replace: 'const remembered = new Map<string, boolean>();\n/** A budget as it is stored. */',
      },
      {
        file: 'modules/budgets/store/budgets.ts',
        search: '  const budget = budgetFromRow(row);\n',
        replace:
          '  const budgetIsStopped = remembered.get(row.accountId) ?? row.budgetIsStopped === true;\n  if (row.budgetPeriod !== null) remembered.set(row.accountId, budgetIsStopped);\n  const budget = budgetFromRow({ ...row, budgetIsStopped });\n',
      },
    ],
    test: { file: budget, name: 'an account that is stopped buys nothing from the very next call on' },
  },
  {
    id: 'week-from-thursday',
    rule: 6,
    bug: 'a week begins on the day on which 1970 began',
    edits: [{ file: 'modules/budgets/rules/period.ts', search: '[7 * DAY_MS, FIRST_MONDAY_MS]', replace: '[7 * DAY_MS, 0]' }],
    test: { file: rules, name: 'periods are of UTC' },
  },
  {
    id: 'midnight-counts-once',
    rule: 6,
    bug: 'a change of period counts the present one alone, and drops what came after midnight',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: 'const spans = [periodOf(period, present.startMs - 1), present, periodOf(period, present.endMs)];',
        replace: 'const spans = [present];',
      },
    ],
    test: { file: budget, name: 'a change of period at midnight' },
  },
  {
    id: 'period-not-counted-anew',
    rule: 6,
    bug: 'whoever changes the period begins with nothing spent',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: 'if (before?.budget?.period !== period) await',
        replace: 'if (before?.budget === undefined) await',
      },
    ],
    test: { file: budget, name: 'another period counts what it holds so far' },
  },
  {
    id: 'approval-is-good-twice',
    rule: 6,
    bug: 'one word of the owner lets any number of payments through',
    edits: [{ file: 'modules/budgets/store/approvals.ts', search: "state: 'used' }", replace: "state: 'approved' }" }],
    test: { file: budget, name: 'one yes is good for one payment' },
  },
  {
    id: 'approval-taken-back-in-vain',
    rule: 24,
    bug: 'an owner is told that a yes is taken back while a payment is let through on it',
    edits: [
      {
        file: 'modules/budgets/store/approvals.ts',
        search: '.forNoKeyUpdate()',
        replace: '.forKeyShare()',
      },
    ],
    test: { file: budget, name: 'a yes that a payment is let through on' },
  },
  {
    id: 'approval-of-another-page',
    rule: 6,
    bug: 'the word of the owner about one page lets every page of that price through',
    edits: [
      {
        file: 'modules/budgets/store/approvals.ts',
        search: "    .where('resourceKey', '=', anyOf(place('resourceKeys')))\n",
        replace: '',
      },
      { file: 'modules/budgets/store/spending.ts', search: '    yes.resourceKey === ask.resourceKey &&\n', replace: '' },
    ],
    test: { file: budget, name: 'one yes is good for one payment' },
  },
  {
    id: 'decided-by-the-other-page',
    rule: 6,
    bug: 'one authorization shown at once for two pages is decided for the first alone',
    edits: [
      {
        file: 'modules/budgets/store/spending.ts',
        search: '  let tried = asks.map((ask) => desk.decide(ask));',
        replace: '  let tried = asks.map((ask, index) => (index === 0 ? desk.decide(ask) : null));',
      },
    ],
    test: { file: budget, name: 'one authorization shown at once for two pages' },
  },
  {
    id: 'wallet-spends-elsewhere',
    rule: 6,
    bug: 'the wallet of an account spends past its budget wherever no account is named',
    edits: [
      {
        file: 'modules/settlement/use/accept/newPayment.ts',
        search: 'return [...new Set([buyer, walletAccountId])]',
        replace: 'return [...new Set([buyer, walletAccountId && null])]',
      },
    ],
    test: { file: budget, name: 'the wallet of an account spends its budget wherever it pays' },
  },
  {
    id: 'agent-changes-budget',
    rule: 24,
    bug: 'an agent’s key sets what the account may spend',
    edits: [
      {
        file: 'api/routes/accounts/budget.ts',
        search: '    requireOwnAccount(account);\n    const { ifVersion',
        replace: '    const { ifVersion',
      },
    ],
    test: { file: settings, name: ownerAlone },
  },
  {
    id: 'agent-approves-itself',
    rule: 24,
    bug: 'an agent’s key gives the owner’s word',
    edits: [
      {
        file: 'api/routes/accounts/approvals.ts',
        search: '    requireOwnAccount(account);\n    const { decision }',
        replace: '    const { decision }',
      },
    ],
    test: { file: settings, name: ownerAlone },
  },
  {
    id: 'every-client-owns',
    rule: 24,
    bug: 'the token of any client of an account is its owner’s',
    edits: [
      { file: 'modules/identity/use/accounts/oauth.ts', search: 'isOwner: client.isOwner };', replace: 'isOwner: true };' },
    ],
    test: { file: settings, name: ownerAlone },
  },
  {
    id: 'silent-token-owns',
    rule: 24,
    bug: 'a token that does not say what it may is taken for the owner’s',
    edits: [
      {
        file: 'modules/identity/use/accounts/token.ts',
        search: 'isOwner: may === OWNER }',
        replace: 'isOwner: may === undefined || may === OWNER }',
      },
    ],
    test: { file: settings, name: 'a token that does not say what it may' },
  },
  {
    id: 'strangers-revoke-keys',
    rule: 6,
    bug: 'the owner of one account takes away the key of another’s agent',
    edits: [
      {
        file: 'modules/identity/store/accounts.ts',
        search: "updateTable('buyer_key').set(revoked).where('accountId', '=', accountId)",
        replace: "updateTable('buyer_key').set(revoked)",
      },
    ],
    test: { file: settings, name: 'an owner makes twenty keys at most' },
  },
  {
    id: 'strangers-approve',
    rule: 6,
    bug: 'the owner of one account gives the word of another',
    edits: [
      {
        file: 'modules/budgets/store/approvals.ts',
        search: "      .where('accountId', '=', asked.accountId)\n",
        replace: '',
      },
    ],
    test: { file: settings, name: 'an owner decides about the own purchases alone' },
  },
  {
    id: 'budget-written-over',
    rule: 23,
    bug: 'a budget is set whatever its version is by now',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: "!== version) return 'changed';",
        replace: "< version) return 'changed';",
      },
    ],
    test: { file: budget, name: 'two changes of a budget at once' },
  },
  {
    id: 'used-up-is-not-told',
    rule: 6,
    bug: 'an owner whose agents are refused for want of budget is never told that it is used up',
    edits: [
      { file: 'modules/budgets/store/spending.ts', search: '  await tellOfRefusals(sql, desk, asks, tried);\n', replace: '' },
    ],
    test: { file: chain, name: 'a purchase that what is left does not pay' },
  },
  {
    id: 'any-refusal-is-used-up',
    rule: 6,
    bug: 'a price that no period would pay says that the budget is used up, once and too early',
    edits: [{ file: 'modules/budgets/rules/alert.ts', search: 'amountMicro <= limitMicro && spentMicro', replace: 'spentMicro' }],
    test: { file: chain, name: 'a purchase that what is left does not pay' },
  },
  {
    id: 'lower-limit-is-not-told',
    rule: 6,
    bug: 'a limit that is set below what was spent tells no threshold',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: '    if (now) await tellOfLimit(sql, now, before?.budget ?? null);\n',
        replace: '',
      },
    ],
    test: { file: chain, name: 'a limit that is set below what was spent' },
  },
  {
    id: 'every-limit-tells-all',
    rule: 6,
    bug: 'each change of a limit tells the thresholds again that the limit before had reached',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: 'before?.period === budget.period ? before.totalMicro : 0n',
        replace: '0n',
      },
    ],
    test: { file: chain, name: 'a limit that is set below what was spent' },
  },
  {
    id: 'graphql-counts-released',
    rule: 3,
    bug: 'what moved nothing stands in the budget that GraphQL tells until somebody else closes it',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: "sql.query<LedgerRow>(LESS_RELEASED, [accountIds, ['', ...hosts]])",
        replace: "sql.query<LedgerRow>(COUNTED, [accountIds, ['', ...hosts]])",
      },
    ],
    test: { file: 'test/integration/graphql-account.test.ts', name: 'a budget is told alike by GraphQL and by REST' },
  },
  {
    id: 'closed-in-one-go',
    rule: 21,
    bug: 'a look at a budget holds the account until everything that is decided is closed',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: '      await closeSpendings(sql, accountId, SLICE);',
        replace: '      await closeSpendings(sql, accountId, 5_000);',
      },
    ],
    test: { file: budget, name: 'what is read is what the budget holds' },
  },
  {
    id: 'late-settlement-is-free',
    rule: 3,
    bug: 'a payment that failed makes room for another before its authorization has ended',
    edits: [{ file: 'modules/budgets/rules/decide.ts', search: 'payment.isWatched || isUndecided', replace: 'isUndecided' }],
    test: { file: 'test/fault/evidence.test.ts', name: 'counts against its budget until it cannot settle any more' },
  },
];
