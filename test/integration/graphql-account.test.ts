/** GraphQL for the owner of a buyer account: itself and no site; a site's key or owner sees no account, and an agent's key nothing. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseBudgetAlerts } from '../../modules/budgets/store/alerts.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintAccountToken } from '../../modules/identity/use/accounts/token.ts';
import { WALLETS } from '../support/api.ts';
import { expectClean, startTestGraphql } from '../support/graphql.ts';
import { insertPurchases } from '../support/reports.ts';

const HOOK = 'https://hooks.example.com/budget';
const SET = `mutation ($url: String) { setBudgetAlerts(input: { url: $url }) { __typename
  ... on SetBudgetAlertsPayload { url secret } ... on Refusal { code } } }`;
const ALERTS = '{ account { accountId alerts { url setAt alerts { percent period spentMicro state } } notices { kind } } }';

let graph: Awaited<ReturnType<typeof startTestGraphql>>;
beforeAll(async () => {
  graph = await startTestGraphql();
});
afterAll(() => graph.stop());

async function openAccount() {
  const { deps } = graph.api;
  const { accountId, token: agent } = await createBuyerAccount(deps, { name: 'reader' });
  const { token: owner } = await mintAccountToken(deps, { accountId, isOwner: true });
  return { accountId, owner, agent };
}

test('an owner sees the own account alone, sets where alerts go and gets the secret once', async () => {
  const [mine, theirs] = [await openAccount(), await openAccount()];
  const empty = await graph.ask(mine.owner, ALERTS);
  expect(empty.data).toEqual({
    account: { accountId: mine.accountId, alerts: { url: null, setAt: null, alerts: [] }, notices: [] },
  });
  const set = await graph.ask(mine.owner, SET, { url: HOOK });
  expect(set.data.setBudgetAlerts).toEqual({
    __typename: 'SetBudgetAlertsPayload',
    url: HOOK,
    secret: expect.stringMatching(/^whsec_/),
  });
  const day = { period: 'day', periodStart: new Date(0), periodEnd: new Date(86_400_000) } as const;
  await graph.api.deps.database.transaction((sql) =>
    raiseBudgetAlerts(sql, { accountId: mine.accountId, ...day, limitMicro: 1_000n, beforeMicro: 0n, spentMicro: 600n }),
  );
  const { data } = await graph.ask(mine.owner, ALERTS);
  expect(data.account.alerts).toMatchObject({ url: HOOK, alerts: [{ percent: 50, spentMicro: '600', state: 'waiting' }] });
  expect((await graph.ask(theirs.owner, ALERTS)).data.account.alerts).toEqual({ url: null, setAt: null, alerts: [] });
  expect((await graph.ask(mine.owner, SET, {})).data.setBudgetAlerts).toMatchObject({ url: null, secret: null });
  const inward = await graph.ask(mine.owner, SET, { url: 'http://10.0.0.1/' });
  expect(inward.data.setBudgetAlerts).toEqual({ __typename: 'InvalidInput', code: 'invalid_parameter' });
  expectClean(graph, inward);
});

const SPENDING = `query ($n: Int, $after: String, $filter: SpendingFilter) { account {
  spending(first: $n, after: $after, filter: $filter) { totalCount pageInfo { endCursor hasNextPage }
    nodes { host resource purpose amountMicro outcome paymentState txHash licenceJti } }
  spendingSums(filter: $filter) { payments settledMicro openMicro }
  spendingBy(groupBy: HOST, filter: $filter) { key sums { payments settledMicro } } } }`;

test('an owner lists what the account spent, page by page, in as many statements for a long page as for a short one', async () => {
  const [mine, theirs, site, other] = [await openAccount(), await openAccount(), await graph.api.site(), await graph.api.site()];
  for (const [{ accountId }, { tenantId, host }, micro] of [
    ...([
      [mine, site, 1_000],
      [mine, site, 2_000],
      [mine, other, 40_000],
      [theirs, site, 7],
    ] as const),
  ]) {
    const bought = {
      tenantId,
      host,
      slug: 'a',
      resource: `https://${host}/a`,
      kind: 'read',
      steps: 1,
      atMs: Date.now(),
    } as const;
    const legs = [{ toAddress: WALLETS[0] as string, amountMicro: micro }];
    const [paymentId] = await insertPurchases(graph.api.deps.database, [{ ...bought, legs }]);
    await graph.api.deps.database.query(
      `insert into account_spending (account_id, tenant_id, payment_id, host, resource_key, kind, purpose, amount_micro)
       values ($1, $2, $3, $4, 'x', 'read', 'page', $5)`,
      [accountId, tenantId, paymentId, host, micro],
    );
  }
  const statements: number[] = [];
  const seen: string[] = [];
  for (const first of [1, 2]) {
    graph.count();
    const { data, errors } = await graph.ask(mine.owner, SPENDING, { n: first });
    expect(errors).toEqual([]);
    statements.push(graph.count());
    expect(data.account.spending).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
    expect(data.account.spendingSums).toEqual({ payments: 3, settledMicro: '43000', openMicro: '0' });
    expect(data.account.spendingBy).toEqual([
      { key: other.host, sums: { payments: 1, settledMicro: '40000' } },
      { key: site.host, sums: { payments: 2, settledMicro: '3000' } },
    ]);
  }
  expect(statements).toEqual([4, 4]);
  for (let after: string | null = null; ; ) {
    const { data } = await graph.ask(mine.owner, SPENDING, { n: 2, after });
    const { nodes, pageInfo } = data.account.spending;
    seen.push(...nodes.map(({ amountMicro }: { amountMicro: string }) => amountMicro));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  expect(seen.toSorted()).toEqual(['1000', '2000', '40000']);
  const { data } = await graph.ask(mine.owner, SPENDING, {
    n: 5,
    filter: { host: other.host.toUpperCase(), outcome: 'settled' },
  });
  expect(data.account.spending.nodes).toMatchObject([
    { host: other.host, purpose: 'PAGE', amountMicro: '40000', outcome: 'settled', paymentState: 'SETTLED', licenceJti: null },
  ]);
  expect((await graph.ask(theirs.owner, SPENDING, { n: 5 })).data.account.spendingSums.settledMicro).toBe('7');
});

const BUDGET =
  '{ account { budget { version totalMicro hostMicro leftMicro isStopped } approvals { approvalId state } keys { keyId name last4 } } }';
const change = (name: string, fields: string): string => {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  return `mutation ($input: ${title}Input!) { it: ${name}(input: $input) { __typename ... on ${title}Payload { ${fields} } ... on Refusal { code } } }`;
};
const CHANGES = [
  [change('setBudget', 'budget { version totalMicro }'), { ifVersion: 0, period: 'day', totalMicro: '1000000' }],
  [change('decideApproval', 'approval { state }'), { approvalId: randomUUID(), isApproved: true }],
  [change('mintAgentKey', 'token key { keyId last4 }'), { name: 'mine' }],
  [change('revokeAgentKey', 'keyId'), { keyId: randomUUID() }],
] as const;

test('an owner sets the budget at the version it was decided by, says yes to a purchase, and makes and takes keys of agents', async () => {
  const { accountId, owner } = await openAccount();
  const [[SET_BUDGET, limits], [DECIDE], [MINT], [REVOKE]] = CHANGES;
  expect((await graph.ask(owner, BUDGET)).data.account).toMatchObject({ budget: null, approvals: [], keys: [{ name: null }] });
  expect((await graph.ask(owner, SET_BUDGET, { input: limits })).data.it).toMatchObject({ budget: { version: 1 } });
  expect((await graph.ask(owner, SET_BUDGET, { input: limits })).data.it).toEqual({ __typename: 'Conflict', code: 'conflict' });
  const tooMuch = { ...limits, ifVersion: 1, totalMicro: '1000000000000001' };
  expect((await graph.ask(owner, SET_BUDGET, { input: tooMuch })).data.it.__typename).toBe('InvalidInput');

  const [asked] = await graph.api.deps.database.query<{ approval_id: string }>(
    `insert into account_approval (account_id, host, resource, resource_key, kind, amount_micro, ends_at)
     values ($1, 'a.example', 'https://a.example/a', 'x', 'read', 5, now() + interval '1 hour') returning approval_id`,
    [accountId],
  );
  const word = { approvalId: asked?.approval_id, isApproved: true };
  expect((await graph.ask(owner, DECIDE, { input: word })).data.it).toMatchObject({ approval: { state: 'approved' } });
  const stranger = await openAccount();
  expect((await graph.ask(stranger.owner, DECIDE, { input: word })).data.it).toMatchObject({ __typename: 'NotFound' });

  const minted = (await graph.ask(owner, MINT, { input: { name: 'research' } })).data.it;
  expect((await graph.ask(minted.token, BUDGET)).errors[0]?.extensions.code).toBe('FORBIDDEN');
  const { data } = await graph.ask(owner, BUDGET);
  expect(data.account).toMatchObject({
    budget: { version: 1, totalMicro: '1000000', hostMicro: null, leftMicro: '1000000', isStopped: false },
    approvals: [{ state: 'approved' }],
    keys: [{ name: null }, { name: 'research', last4: minted.token.slice(-4) }],
  });
  const key = { keyId: minted.key.keyId };
  expect((await graph.ask(stranger.owner, REVOKE, { input: key })).data.it).toMatchObject({ __typename: 'NotFound' });
  expect((await graph.ask(owner, REVOKE, { input: key })).data.it).toMatchObject(key);
  expect((await graph.ask(minted.token, BUDGET)).status).toBe(401);
});

test('a budget is told alike by GraphQL and by REST, without what can count no more, whoever asks first', async () => {
  const [{ accountId, owner }, { tenantId, host }] = [await openAccount(), await graph.api.site()];
  const { database } = graph.api.deps;
  const bought = { tenantId, host, slug: 'a', resource: `https://${host}/a`, kind: 'read', steps: 1, atMs: Date.now() } as const;
  const amounts = [1_000, 20_000, 300_000];
  const ids = await insertPurchases(
    database,
    amounts.map((amountMicro) => ({ ...bought, legs: [{ toAddress: WALLETS[0] as string, amountMicro }] })),
  );
  await database.query(
    `insert into account_spending (account_id, tenant_id, payment_id, host, resource_key, kind, purpose, amount_micro)
     select $1, $2, payment, $3, 'x', 'read', 'page', micro from unnest($4::uuid[], $5::bigint[]) as paid (payment, micro)`,
    [accountId, tenantId, host, ids, amounts],
  );
  const fail = (paymentId: string | undefined, isWatched: boolean) =>
    database.query(
      "update payment_state set state = 'failed', reason = 'settlement_failed', watched = $2, tx_hash = null where payment_id = $1",
      [paymentId, isWatched],
    );
  for (const id of [ids[1], ids[2]]) await fail(id, true);
  const limits = { ifVersion: 0, period: 'month', totalMicro: '1000000' };
  await graph.ask(owner, CHANGES[0][0], { input: limits });
  await fail(ids[2], false);
  const asked = '{ account { budget { spentMicro leftMicro } } }';
  const told = { spentMicro: '21000', leftMicro: '979000' };
  expect((await graph.ask(owner, asked)).data.account.budget).toEqual(told);
  const rest = await graph.api.request('/_svc/accounts/budget', { key: owner });
  expect(rest.body.budget).toMatchObject({ spentMicro: 21_000, leftMicro: 979_000 });
  await graph.ask(owner, CHANGES[0][0], { input: { ...limits, ifVersion: 1 } });
  expect((await graph.ask(owner, asked)).data.account.budget).toEqual(told);
});

test('an agent’s key, a site’s key and a site’s owner are refused everything of an account', async () => {
  const { agent } = await openAccount();
  const site = await graph.api.site();
  for (const bearer of [agent, site.key, await graph.owner(site.tenantId)]) {
    const asked = [
      [ALERTS, {}],
      [SET, { url: HOOK }],
      [SPENDING, {}],
      [BUDGET, {}],
      ...CHANGES.map(([text, input]) => [text, { input }] as const),
    ] as const;
    for (const [text, variables] of asked) {
      const answer = await graph.ask(bearer, text, variables);
      expect(Object.values(answer.data ?? { it: null })).toEqual([null]);
      expect(answer.errors.map(({ extensions }) => [extensions.code, extensions.reason])).toEqual([
        ['FORBIDDEN', 'scope_missing'],
      ]);
      expectClean(graph, answer);
    }
  }
});

test('an account sees and changes nothing of a site, by whatever id it asks', async () => {
  const { owner, agent } = await openAccount();
  const site = await graph.api.site();
  const id = Buffer.from(`Tenant ${site.tenantId} site`).toString('base64url');
  const asked = [
    '{ tenant { tenantId version keys { nodes { keyId } } } }',
    `{ tenant(tenantId: "${site.tenantId}") { tenantId } }`,
    `{ node(id: "${id}") { id } }`,
    `mutation { setPrices(input: { tenantId: "${site.tenantId}", priceUsdc: "0.01" }) { __typename } }`,
    `mutation { createSite(input: { host: "mine.example" }) { __typename } }`,
  ];
  for (const bearer of [owner, agent]) {
    for (const query of asked) {
      const answer = await graph.ask(bearer, query);
      expect(Object.values(answer.data ?? { it: null })).toEqual([null]);
      expect(answer.errors.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
      expectClean(graph, answer);
    }
  }
  const { data } = await graph.ask(owner, '{ viewer { isOwner userId keyId scopes tenantIds accountId } }');
  expect(data.viewer).toMatchObject({ isOwner: false, userId: null, keyId: null, scopes: null, tenantIds: [] });
});

test('a token of another service, one that ended and an invented key are nobody', async () => {
  const { deps } = graph.api;
  const somebody = { accountId: randomUUID(), isOwner: true };
  const elsewhere = await mintAccountToken({ ...deps, baseUrl: 'https://other.example' }, somebody);
  const ended = await mintAccountToken({ ...deps, clock: () => Date.now() - 3_700_000 }, somebody);
  for (const bearer of [elsewhere.token, ended.token, 'svc_buyer_nonsense', 'a.b.c']) {
    const answer = await graph.ask(bearer, ALERTS);
    expect([answer.status, answer.errors[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
  }
});
