/** A budget by REST: its owner alone sets it, decides about purchases and makes keys for agents; an agent reads what is left. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_AGENT_KEYS } from '../../modules/budgets/use/keys.ts';
import { createAccountClient, createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintAccountToken } from '../../modules/identity/use/accounts/token.ts';
import type { TestAnswer } from '../support/api.ts';
import { startTestApi } from '../support/api.ts';

const BUDGET = '/_svc/accounts/budget';
const APPROVALS = '/_svc/accounts/approvals';
const KEYS = '/_svc/accounts/keys';
const LIMITS = { ifVersion: 0, period: 'week', totalMicro: 1_000_000, hostMicro: 200_000, approveAboveMicro: null };

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

async function openAccount() {
  const { accountId, token: agent } = await createBuyerAccount(api.deps, { name: 'reader' });
  return { accountId, agent, owner: (await mintAccountToken(api.deps, { accountId, isOwner: true })).token };
}

const send = (method: string, path: string, key: string, body?: unknown): Promise<TestAnswer> =>
  api.request(path, { method, key, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
const codeOf = ({ status, headers }: TestAnswer) => [status, headers.get('x-svc-error-code')];

/** The token that a client of an account gets. */
async function clientToken(accountId: string, isOwner: boolean): Promise<string> {
  const { clientId, clientSecret } = await createAccountClient(api.deps, { accountId, isOwner });
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const answer = await api.request('/_svc/oauth/token', {
    method: 'POST',
    body: 'grant_type=client_credentials',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  });
  return answer.body.access_token;
}

test('a budget is set at the version it was decided by, and its agent reads what is left', async () => {
  const { owner, agent } = await openAccount();
  expect((await send('GET', BUDGET, agent)).body).toEqual({ budget: null });
  const set = await send('PUT', BUDGET, owner, LIMITS);
  expect([set.status, set.body.budget]).toMatchObject([
    200,
    {
      version: 1,
      period: 'week',
      totalMicro: 1_000_000,
      hostMicro: 200_000,
      pageMicro: null,
      isStopped: false,
      leftMicro: 1_000_000,
    },
  ]);
  expect(codeOf(await send('PUT', BUDGET, owner, LIMITS))).toEqual([409, 'conflict']);
  const stopped = await send('PUT', BUDGET, owner, { ...LIMITS, ifVersion: 1, isStopped: true });
  expect(stopped.body.budget).toMatchObject({ version: 2, isStopped: true });
  const read = await send('GET', BUDGET, agent);
  expect(read.body).toEqual(stopped.body);
  expect(new Date(read.body.budget.periodStartsAt).getUTCDay()).toBe(1);
  const wrong = [
    { ...LIMITS, totalMicro: -1 },
    { ...LIMITS, totalMicro: 0.5 },
    { ...LIMITS, period: 'year' },
    { ...LIMITS, more: 1 },
    {},
  ];
  for (const body of wrong) expect(codeOf(await send('PUT', BUDGET, owner, body))).toEqual([400, 'malformed_body']);
});

test('of two owners who change one version at once, one is told that it was changed meanwhile', async () => {
  const { owner } = await openAccount();
  const answers = await Promise.all([1, 2, 3].map((n) => send('PUT', BUDGET, owner, { ...LIMITS, totalMicro: n })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
});

test('what only an owner may is refused to an agent’s key and to a client, unless the operator marked it', async () => {
  const { accountId, agent, owner } = await openAccount();
  const [buying, owning] = [await clientToken(accountId, false), await clientToken(accountId, true)];
  const asked = [
    ...([
      ['PUT', BUDGET, LIMITS],
      ['GET', APPROVALS, undefined],
      ['POST', `${APPROVALS}/${randomUUID()}`, { decision: 'approve' }],
    ] as const),
    ...([
      ['GET', KEYS, undefined],
      ['POST', KEYS, { name: 'mine' }],
      ['DELETE', `${KEYS}/${randomUUID()}`, undefined],
    ] as const),
    ...([
      ['GET', '/_svc/accounts/alerts', undefined],
      ['PUT', '/_svc/accounts/alerts', { url: null }],
    ] as const),
  ] as const;
  for (const [method, path, body] of asked) {
    for (const key of [agent, buying])
      expect([path, ...codeOf(await send(method, path, key, body))]).toEqual([path, 403, 'scope_missing']);
    for (const key of [owner, owning]) expect([401, 403]).not.toContain((await send(method, path, key, body)).status);
  }
  expect((await send('GET', BUDGET, buying)).status).toBe(200);
});

test('a token that does not say what it may is no owner’s', async () => {
  const { accountId } = await openAccount();
  const { kid } = api.deps.keyring.current();
  const iat = Math.floor(api.deps.clock() / 1_000);
  const svc = { v: 1, grant: 'account' };
  const { baseUrl } = api.deps;
  const claims = { iss: baseUrl, aud: baseUrl, sub: accountId, jti: randomUUID(), iat, nbf: iat, exp: iat + 60, svc };
  const old = await api.deps.keyring.sign(kid, claims);
  expect((await send('GET', BUDGET, old)).status).toBe(200);
  expect(codeOf(await send('PUT', BUDGET, old, LIMITS))).toEqual([403, 'scope_missing']);
});

test('an owner makes twenty keys at most, and one that is taken away lets nobody in from the next call on; no stranger takes it', async () => {
  const [{ owner, agent }, stranger] = [await openAccount(), await openAccount()];
  const made = await send('POST', KEYS, owner, { name: 'research' });
  expect([made.status, made.body]).toMatchObject([201, { name: 'research', token: expect.stringMatching(/^svc_buyer_/) }]);
  const { keyId, token } = made.body;
  expect((await send('GET', BUDGET, token)).status).toBe(200);
  expect(codeOf(await send('DELETE', `${KEYS}/${keyId}`, stranger.owner))).toEqual([404, 'not_found']);
  const more = await Promise.all(Array.from({ length: MAX_AGENT_KEYS }, (_, n) => send('POST', KEYS, owner, { name: `k${n}` })));
  expect(more.filter(({ status }) => status === 201)).toHaveLength(MAX_AGENT_KEYS - 2);
  expect(more.filter(({ status }) => status === 409)).toHaveLength(2);
  const { body } = await send('GET', KEYS, owner);
  expect(body.keys).toHaveLength(MAX_AGENT_KEYS);
  expect(JSON.stringify(body)).not.toContain('svc_buyer_');
  expect((await send('DELETE', `${KEYS}/${keyId}`, owner)).status).toBe(204);
  expect((await send('DELETE', `${KEYS}/${keyId}`, owner)).status).toBe(204);
  expect((await send('GET', BUDGET, token)).status).toBe(401);
  expect((await send('GET', BUDGET, agent)).status).toBe(200);
});

test('an owner decides about the own purchases alone, and not about one that has ended', async () => {
  const [mine, theirs] = [await openAccount(), await openAccount()];
  const ask = async (hours: number): Promise<string> => {
    const [row] = await api.deps.database.query<{ approval_id: string }>(
      `insert into account_approval (account_id, host, resource, resource_key, kind, amount_micro, ends_at)
       values ($1, 'a.example', 'https://a.example/a', $2, 'read', 25000, now() + $3 * interval '1 hour') returning approval_id`,
      [mine.accountId, randomUUID(), hours],
    );
    return row?.approval_id ?? '';
  };
  const [open, ended] = [await ask(1), await ask(-1)];
  const say = (key: string, id: string, decision: string) => send('POST', `${APPROVALS}/${id}`, key, { decision });
  expect(codeOf(await say(theirs.owner, open, 'approve'))).toEqual([404, 'not_found']);
  expect(codeOf(await say(mine.owner, ended, 'approve'))).toEqual([404, 'not_found']);
  expect(codeOf(await say(mine.owner, 'nonsense', 'approve'))).toEqual([404, 'not_found']);
  expect((await say(mine.owner, open, 'approve')).body).toMatchObject({ state: 'approved', amountMicro: 25_000 });
  expect((await say(mine.owner, open, 'refuse')).body).toMatchObject({ state: 'refused' });
  const { body } = await send('GET', APPROVALS, mine.owner);
  expect(new Map(body.approvals.map((one: { approvalId: string; state: string }) => [one.approvalId, one.state]))).toEqual(
    new Map([
      [open, 'refused'],
      [ended, 'ended'],
    ]),
  );
  expect((await send('GET', APPROVALS, theirs.owner)).body).toEqual({ approvals: [] });
});
