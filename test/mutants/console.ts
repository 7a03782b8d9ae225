import type { Mutant } from './mutant.ts';

const attacks = 'test/integration/console-attacks.test.ts';
const sessions = 'test/integration/console-sessions.test.ts';
const provider = 'test/integration/console-oidc.test.ts';
const downloads = 'test/integration/console-downloads.test.ts';
const connect = 'test/integration/console-connect.test.ts';

/** Bugs of the console: who is let in by a cookie, and who may use it. */
export const CONSOLE_MUTANTS: readonly Mutant[] = [
  {
    id: 'any-origin-may-change',
    rule: 24,
    bug: 'a call of another site is taken where the browser does not say where it comes from',
    edits: [{ file: 'api/console/ownPage.ts', search: 'if (isNamed && !isOwnOrigin(origin, baseUrl)) refuse();', replace: '' }],
    test: { file: attacks, name: 'a call from elsewhere' },
  },
  {
    id: 'changes-without-csrf-token',
    rule: 24,
    bug: 'the cookie alone is enough for a change',
    edits: [{ file: 'api/console/call.ts', search: 'requireCsrf(call.request, session.csrf);', replace: '' }],
    test: { file: attacks, name: 'a call from elsewhere' },
  },
  {
    id: 'planted-cookie-becomes-a-session',
    rule: 24,
    bug: 'a sign-in keeps the session that the browser came with',
    edits: [
      {
        file: 'api/console/sessionRoutes.ts',
        search: 'if (former !== null) await endSession(deps, former);',
        replace: '',
      },
    ],
    test: { file: attacks, name: 'a cookie that somebody planted never becomes a session' },
  },
  {
    id: 'console-may-be-framed',
    rule: 24,
    bug: 'a page of another site shows the console under its own buttons',
    edits: [{ file: 'api/console/assets.ts', search: `    "frame-ancestors 'none'",\n`, replace: '' }],
    test: { file: attacks, name: 'no page may frame the console' },
  },
  {
    id: 'demo-for-any-name',
    rule: 24,
    bug: 'the demo signs in whoever reaches this machine by a name of his own',
    edits: [
      {
        file: 'api/console/sessionRoutes.ts',
        search: 'if (deps.demoToken === null || !isLoopback(request.headers.host))',
        replace: 'if (deps.demoToken === null)',
      },
    ],
    test: { file: attacks, name: 'the demo is signed in on this machine alone' },
  },
  {
    id: 'session-outlives-its-token',
    rule: 24,
    bug: 'a session goes on when the token it came from was revoked',
    edits: [
      {
        file: 'modules/identity/use/console/sessions.ts',
        search: 'if (token !== null) return ownerOfToken(deps, token);',
        replace: 'if (token !== null) return ownerOfToken(deps, { ...token, revokedAt: null });',
      },
    ],
    test: { file: sessions, name: 'a revoked token and a closed site end the session' },
  },
  {
    id: 'session-for-good',
    rule: 24,
    bug: 'a session that is used never ends',
    edits: [
      {
        file: 'modules/identity/use/console/sessions.ts',
        search: 'stored && Math.min(stored.usedAt.getTime() + IDLE_MS, stored.expiresAt.getTime())',
        replace: 'stored && stored.usedAt.getTime() + IDLE_MS',
      },
    ],
    test: { file: sessions, name: 'a session unused for twelve hours is over' },
  },
  {
    id: 'sessions-without-number',
    rule: 24,
    bug: 'who signs in again and again fills the table',
    edits: [{ file: 'modules/identity/store/consoleSessions.ts', search: '.offset(most - 1)', replace: '.offset(1_000_000)' }],
    test: { file: sessions, name: 'of one person so many sessions live' },
  },
  {
    id: 'answer-of-another-attempt',
    rule: 24,
    bug: 'what a provider answered to one browser signs in another',
    edits: [
      { file: 'modules/identity/use/console/providerSignIn.ts', search: " || answered.get('state') !== away.state", replace: '' },
      {
        file: 'platform/tokens/oidcLogin.ts',
        search: "if (answered.getAll('state').join() !== attempt.state) return null;",
        replace: '',
      },
      {
        file: 'platform/tokens/oidcLogin.ts',
        search: 'validateAuthResponse(server, client, answered, attempt.state)',
        replace: "validateAuthResponse(server, client, answered, answered.get('state') ?? '')",
      },
    ],
    test: { file: provider, name: 'an answer with another state' },
  },
  {
    id: 'comes-back-to-anywhere',
    rule: 24,
    bug: 'a sign-in at the provider ends at an address that somebody else chose',
    edits: [{ file: 'modules/identity/use/console/providerSignIn.ts', search: ' && SCREEN.test(asked)', replace: '' }],
    test: { file: provider, name: 'the screen to come back to is one of the console and nothing else' },
  },
  {
    id: 'nodes-of-any-scope',
    rule: 24,
    bug: 'a key finds by id what its scopes do not let it see',
    edits: [{ file: 'graphql/schema/node.ts', search: 'else if (reads !== null) requireReader(context, reads);', replace: '' }],
    test: {
      file: 'test/integration/graphql-nodes.test.ts',
      name: 'a key finds by id what its scopes let it see, and nothing more',
    },
  },
  {
    id: 'answer-is-good-twice',
    rule: 24,
    bug: 'an answer of the provider is asked for again when it is shown again',
    edits: [
      {
        file: 'modules/identity/use/console/providerSignIn.ts',
        search: 'const user = isFirst ? await',
        replace: 'const user = isFirst || true ? await',
      },
    ],
    test: { file: provider, name: 'an answer signs in the browser alone that left for it' },
  },
  {
    id: 'downloads-of-any-site',
    rule: 6,
    bug: 'a session downloads the files of a site of somebody else',
    edits: [
      {
        file: 'api/console/downloads.ts',
        search: 'ownedTenant(owner, named)',
        replace: 'named ?? ownedTenant(owner, null)',
      },
    ],
    test: { file: downloads, name: 'a file of another’s site' },
  },
  {
    id: 'figures-of-another-question',
    rule: 24,
    bug: 'while a new question is on its way, the figures of the one before stand below its words',
    edits: [
      {
        file: 'console/core/data.ts',
        search: 'if (now?.key === key && now.data !== null) return',
        replace: 'if (now?.data != null) return',
      },
    ],
    test: { file: 'test/e2e/console-waiting.test.ts', name: 'no figure of the former answer' },
  },
  {
    id: 'reversed-sales-look-earned',
    rule: 5,
    bug: 'a sale that was taken back is listed like any other',
    edits: [{ file: 'console/screens/payments/words.ts', search: 'newest.sequence % 2 === 1', replace: 'newest.sequence < 0' }],
    test: { file: 'test/integration/console-payments.test.ts', name: 'a sale that was taken back stays among the payments' },
  },
  {
    id: 'csv-names-a-former-source',
    rule: 23,
    bug: 'the CSV names a page as a credits API did that the site left',
    edits: [
      {
        file: 'modules/reports/store/earnings/exportLegs.ts',
        search: 'join credits_copy k on k.api_url = named.credits_api_url',
        replace: 'join credits_copy k on k.api_url <> named.credits_api_url',
      },
    ],
    test: { file: 'test/integration/report-api.test.ts', name: 'the CSV has one row a leg with every column' },
  },
  {
    id: 'connection-code-is-good-twice',
    rule: 24,
    bug: 'a code of a connection is exchanged again',
    edits: [
      {
        file: 'modules/operations/use/connectSite.ts',
        search: 'if (!(await isFirst(deps.database, CODE, permission))) {',
        replace: 'if (permission === undefined) {',
      },
    ],
    test: { file: connect, name: 'a code is good once' },
  },
  {
    id: 'connection-code-without-its-verifier',
    rule: 24,
    bug: 'whoever has a code of a connection exchanges it',
    edits: [
      {
        file: 'modules/operations/use/connectSite.ts',
        search: 'permission === null || proven !== permission.codeChallenge',
        replace: "permission === null || proven === ''",
      },
    ],
    test: { file: connect, name: 'a code is nothing without its verifier' },
  },
  {
    id: 'connection-finishes-twice',
    rule: 24,
    bug: 'what a code was exchanged for makes keys again and again',
    edits: [
      {
        file: 'modules/operations/use/connectSite.ts',
        search: 'if (!(await isFirst(sql, GRANT, permission))) refuse();',
        replace: '',
      },
    ],
    test: { file: connect, name: 'what a code was exchanged for finishes once' },
  },
  {
    id: 'connection-of-a-former-owner',
    rule: 24,
    bug: 'an owner whose credential was revoked connects a WordPress to the site',
    edits: [
      {
        file: 'modules/operations/use/connectSite.ts',
        search: 'const call = callOf(await ownerStill(deps, permission), permission.tenantId);',
        replace: "const call = callOf({ userId: permission.origin.userId, via: 'token', tenantIds: [] }, permission.tenantId);",
      },
    ],
    test: { file: connect, name: 'an owner whose credential was revoked' },
  },
  {
    id: 'connection-answers-any-page-of-the-host',
    rule: 24,
    bug: 'a code goes to a page of the host that sends it on to a stranger',
    edits: [
      {
        file: 'modules/operations/rules/connection.ts',
        search: "if (folder === undefined || redirect.search !== '?page=content-settlement') {",
        replace: "if (folder === undefined && redirect.pathname === '') {",
      },
    ],
    test: { file: 'test/unit/connection-rules.test.ts', name: 'no code goes to' },
  },
  {
    id: 'connection-names-a-stranger-as-source-of-authors',
    rule: 24,
    bug: 'the authors of a site are asked for at a host that was not connected',
    edits: [
      {
        file: 'modules/operations/rules/connection.ts',
        search: "credits.protocol === 'https:' && credits.host === host &&",
        replace: "credits.protocol === 'https:' &&",
      },
    ],
    test: { file: 'test/unit/connection-rules.test.ts', name: 'authors are asked for at the host that is connected' },
  },
  {
    id: 'connection-takes-over-a-site-unasked',
    rule: 24,
    bug: 'one press after a link of a stranger has him name who is paid for a site that sells another host',
    edits: [
      {
        file: 'console/screens/connect/choice.ts',
        search: 'sites.find((site) => site.host === null)',
        replace: 'sites[0]',
      },
    ],
    test: { file: 'test/unit/connection-rules.test.ts', name: 'the site that is chosen for an owner' },
  },
];
