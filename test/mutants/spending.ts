import type { Mutant } from './mutant.ts';

const account = 'test/integration/graphql-account.test.ts';
const alerts = 'test/integration/budget-alerts.test.ts';
const spending = 'test/integration/spending.test.ts';
const sending = 'test/workflow/budget-alerts.test.ts';
const owning = 'test/integration/account-budget.test.ts';
const refusedToAgents = 'what only an owner may is refused';
const agreeing = 'list, sums, groups and file tell the same payments';

/** Bugs around what an account spent and is told of its budget, and around who sees an account. */
const usage = 'modules/budgets/store/usage.ts';

export const SPENDING_MUTANTS: readonly Mutant[] = [
  {
    id: 'spending-of-every-account',
    rule: 25,
    bug: 'the sums of an account are those of all accounts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
    edits: [{ file: usage, search: '`a.account_id = ${account}`', replace: '`${account}::uuid is not null`' }],
    test: { file: spending, name: agreeing },
  },
  {
    id: 'failed-is-forgotten-in-spending',
    rule: 3,
    bug: 'a payment that failed counts no more, though its authorization can still be used',
    edits: [
      {
        file: 'modules/budgets/store/standing.ts',
        search: 'spendingState({ state, isWatched })',
        replace: 'spendingState({ state, isWatched: isWatched && false })',
      },
    ],
    test: { file: spending, name: 'what failed counts while its authorization may still be used' },
  },
  {
    id: 'spending-file-skips-its-pages',
    rule: 22,
    bug: 'each page of the file begins at the start again',
    edits: [{ file: 'modules/budgets/use/usage.ts', search: 'after = rows.at(-1)?.cursor ?? null;', replace: 'after = null;' }],
    test: { file: spending, name: 'a file of more than a page has every row once' },
  },
  {
    id: 'agents-own-their-account',
    rule: 24,
    bug: 'an agent’s key sees the whole account by GraphQL, and changes where it is told of its budget',
    edits: [{ file: 'graphql/request/access.ts', search: '  requireOwnAccount(account);\n', replace: '' }],
    test: { file: account, name: 'an agent’s key, a site’s key and a site’s owner are refused' },
  },
  {
    id: 'hanging-receivers-look-sound',
    rule: 10,
    bug: 'an account whose receiver hangs takes the places of receivers that answer, with every new limit or by taking its address away',
    edits: [
      {
        file: 'modules/budgets/store/alerts.ts',
        search: 'attempts + (leased_until > clock_timestamp())::int',
        replace: 'attempts',
      },
    ],
    test: { file: alerts, name: 'receivers that hang take their places' },
  },
  {
    id: 'agents-redirect-alerts',
    rule: 24,
    bug: 'an agent’s key sends the alerts of its owner elsewhere',
    edits: [
      {
        file: 'api/routes/accounts/alerts.ts',
        search: '    requireOwnAccount(account);\n    const { url } = parse',
        replace: '    const { url } = parse',
      },
    ],
    test: { file: alerts, name: 'an agent’s key neither sets nor sees' },
  },
  {
    id: 'accounts-are-owners-of-sites',
    rule: 25,
    bug: 'the token of a buyer account is taken for that of an owner who has every site it names',
    edits: [
      {
        file: 'graphql/schema/site.ts',
        search: '  if (account) throw noSites();\n',
        replace: '  if (account) return asked;\n',
      },
    ],
    test: { file: account, name: 'an account sees and changes nothing of a site' },
  },
  {
    id: 'alerts-go-inward',
    rule: 25,
    bug: 'alerts are sent to any address, those of our own network included',
    edits: [{ file: 'modules/budgets/use/alerts.ts', search: '  requireReceiver(deps, url);\n', replace: '' }],
    test: { file: alerts, name: 'nothing is sent to plain http' },
  },
  {
    id: 'hanging-account-takes-all-places',
    rule: 21,
    bug: 'every alert of one account is sent at once, so that a receiver who hangs holds up all others',
    edits: [
      {
        file: 'modules/budgets/store/alerts.ts',
        search: 'and not exists (select from account_alert',
        replace: 'and true or exists (select from account_alert',
      },
    ],
    test: { file: sending, name: 'accounts whose receivers hang hold one place each' },
  },
  {
    id: 'alert-by-another-id-each-time',
    rule: 21,
    bug: 'an alert that is sent again has another id, so that its receiver acts on it twice',
    edits: [
      {
        file: 'modules/budgets/use/sendAlerts.ts',
        search: 'const message = { id, type',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
        replace: 'const message = { id: `${id}_${leased.leaseId}`, type',
      },
    ],
    test: { file: sending, name: 'a worker killed between POST and record' },
  },
  {
    id: 'threshold-told-by-each-payment',
    rule: 8,
    bug: 'a threshold counts as crossed by every payment above it',
    edits: [
      {
        file: 'modules/budgets/rules/alert.ts',
        search: 'isReached(spentMicro, limitMicro, percent) && !isReached(beforeMicro, limitBeforeMicro, percent)',
        replace: 'isReached(spentMicro, limitMicro, percent)',
      },
    ],
    test: { file: 'test/unit/budget-alerts.test.ts', name: 'however spending grows' },
  },
  {
    id: 'every-token-is-an-owners',
    rule: 24,
    bug: 'a token that does not say what it may is taken for its owner’s',
    edits: [
      { file: 'modules/identity/use/accounts/token.ts', search: 'isOwner: may === OWNER', replace: 'isOwner: may !== null' },
    ],
    test: { file: owning, name: 'a token that does not say what it may' },
  },
  {
    id: 'every-client-is-an-owner',
    rule: 24,
    bug: 'any OAuth client of an account gets a token that changes the budget',
    edits: [
      {
        file: 'modules/identity/use/accounts/oauth.ts',
        search: 'isOwner: client.isOwner',
        replace: 'isOwner: client.clientId !== ""',
      },
    ],
    test: { file: owning, name: refusedToAgents },
  },
  {
    id: 'agents-set-their-budget',
    rule: 24,
    bug: 'an agent’s key changes the budget that it buys within',
    edits: [
      {
        file: 'api/routes/accounts/budget.ts',
        search: '    requireOwnAccount(account);\n    const { ifVersion',
        replace: '    const { ifVersion',
      },
    ],
    test: { file: owning, name: refusedToAgents },
  },
  {
    id: 'agents-approve-themselves',
    rule: 24,
    bug: 'an agent’s key says yes to its own purchase',
    edits: [
      {
        file: 'api/routes/accounts/approvals.ts',
        search: '    requireOwnAccount(account);\n    const { decision }',
        replace: '    const { decision }',
      },
    ],
    test: { file: owning, name: refusedToAgents },
  },
  {
    id: 'approvals-of-anybody',
    rule: 25,
    bug: 'an owner decides about a purchase of another account',
    edits: [
      {
        file: 'modules/budgets/store/approvals.ts',
        search: "      .where('accountId', '=', asked.accountId)\n",
        replace: '',
      },
    ],
    test: { file: owning, name: 'an owner decides about the own purchases alone' },
  },
  {
    id: 'keys-of-anybody',
    rule: 25,
    bug: 'an owner revokes a key of another account',
    edits: [
      {
        file: 'modules/identity/store/accounts.ts',
        search: "updateTable('buyer_key').set(revoked).where('accountId', '=', accountId)",
        replace: "updateTable('buyer_key').set(revoked)",
      },
    ],
    test: { file: owning, name: 'an owner makes twenty keys at most' },
  },
  {
    id: 'keys-counted-side-by-side',
    rule: 19,
    bug: 'keys made at once are counted without a lock, so that there are more than there may be',
    edits: [
      {
        file: 'modules/identity/store/accounts.ts',
        search: '.forNoKeyUpdate()',
        replace: '.forKeyShare()',
      },
    ],
    test: { file: owning, name: 'an owner makes twenty keys at most' },
  },
  {
    id: 'budget-at-any-version',
    rule: 24,
    bug: 'a budget is set over a change that its setter has not seen',
    edits: [
      {
        file: 'modules/budgets/store/budgets.ts',
        search: '(before?.budget?.version ?? 0) !== version',
        replace: '(before?.budget?.version ?? 0) < version',
      },
    ],
    test: { file: owning, name: 'of two owners who change one version at once' },
  },
];
