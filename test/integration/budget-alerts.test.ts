/** Where an account says it is to be told of its budget: its owner alone, addresses of others only, a secret shown once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaseDueAlerts, raiseBudgetAlerts, recordAlertAttempt } from '../../modules/budgets/store/alerts.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintAccountToken } from '../../modules/identity/use/accounts/token.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import type { TestAnswer } from '../support/api.ts';
import { startTestApi } from '../support/api.ts';

const PATH = '/_svc/accounts/alerts';
const HOOK = 'https://hooks.example.com:8443/budget';
const HOUR_MS = 3_600_000;

let outbound: Outbound;
let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  outbound = createOutbound(); // as in production: no loopback
  api = await startTestApi({ outbound });
});
afterAll(async () => {
  await api.stop();
  await outbound.close();
});

async function openAccount() {
  const { accountId, token: agent } = await createBuyerAccount(api.deps, { name: 'reader' });
  const { token: owner } = await mintAccountToken(api.deps, { accountId, isOwner: true });
  const spend = (beforeMicro: bigint, spentMicro: bigint, limitMicro = 1_000n) => {
    const period = { period: 'day', periodStart: new Date(0), periodEnd: new Date(HOUR_MS) } as const;
    const { database } = api.deps;
    return database.transaction((sql) => raiseBudgetAlerts(sql, { accountId, ...period, limitMicro, beforeMicro, spentMicro }));
  };
  return { accountId, owner, agent, spend };
}

const put = (key: string, body: unknown): Promise<TestAnswer> =>
  api.request(PATH, { method: 'PUT', key, body: JSON.stringify(body) });

test('an owner sets where alerts go, gets a secret once, and sees the alerts of this account alone', async () => {
  const [mine, theirs] = [await openAccount(), await openAccount()];
  expect((await api.request(PATH, { key: mine.owner })).body).toEqual({ url: null, setAt: null, alerts: [] });
  const first = await put(mine.owner, { url: HOOK });
  expect([first.status, first.body]).toEqual([200, { url: HOOK, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/) }]);
  expect(first.headers.get('cache-control')).toBe('private, no-store');
  const second = await put(mine.owner, { url: HOOK });
  expect(second.body.secret).not.toBe(first.body.secret);

  await mine.spend(0n, 800n);
  const shown = await api.request(PATH, { key: mine.owner });
  expect(shown.body).toMatchObject({ url: HOOK, alerts: [{ state: 'waiting' }, { state: 'waiting' }] });
  expect(JSON.stringify(shown.body)).not.toContain('whsec_');
  expect(shown.body.alerts.map(({ percent }: { percent: number }) => percent).sort()).toEqual([50, 80]);
  expect(shown.body.alerts[0]).toMatchObject({ period: 'day', periodStartsAt: 0, periodEndsAt: HOUR_MS, spentMicro: 800 });
  expect((await api.request(PATH, { key: theirs.owner })).body).toEqual({ url: null, setAt: null, alerts: [] });

  const off = await put(mine.owner, { url: null });
  expect([off.status, off.body]).toEqual([200, { url: null }]);
  const { body } = await api.request(PATH, { key: mine.owner });
  expect(body).toMatchObject({ url: null, alerts: [{ state: 'unsent' }, { state: 'unsent' }] });
});

test('an agent’s key neither sets nor sees where alerts go', async () => {
  const { owner, agent } = await openAccount();
  await put(owner, { url: HOOK });
  for (const answer of [await put(agent, { url: 'https://evil.example/' }), await api.request(PATH, { key: agent })]) {
    expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([403, 'scope_missing']);
  }
  expect((await api.request(PATH, { key: owner })).body.url).toBe(HOOK);
});

test('nothing is sent to plain http, inward, to odd ports or to text that is no URL', async () => {
  const { owner } = await openAccount();
  const refused = [
    'http://hooks.example.com/',
    'https://10.0.0.1/',
    'https://[::1]/',
    'https://hooks.example.com:22/',
    'nonsense',
  ];
  for (const url of [...refused, 'https://localhost/', 'https://metadata.google.internal/', 'file:///etc/passwd']) {
    const answer = await put(owner, { url });
    expect([url, answer.status, answer.headers.get('x-svc-error-code')]).toEqual([url, 400, 'invalid_parameter']);
  }
  for (const body of [{}, { url: 5 }, { url: HOOK, secret: 'mine' }, []]) expect((await put(owner, body)).status).toBe(400);
  expect((await api.request(PATH, { key: owner })).body.url).toBeNull();
});

test('an account that was erased is told nothing any more', async () => {
  const { accountId, owner } = await openAccount();
  await api.deps.database.query('update buyer_account set erased_at = now() where account_id = $1', [accountId]);
  const answer = await put(owner, { url: HOOK });
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([404, 'not_found']);
});

test('receivers that hang take their places from those that failed within the hour, not from others, whatever new alerts their accounts raise', async () => {
  const { database } = api.deps;
  const lease = async (hasFailed: boolean) => leaseDueAlerts(database, { hasFailed, most: 3, leaseMs: 25_000 });
  const hanging = [await openAccount(), await openAccount(), await openAccount()];
  for (const { owner, spend } of hanging) {
    await put(owner, { url: HOOK });
    await spend(0n, 500n);
  }
  const before = await lease(false);
  expect(before.map(({ alert }) => alert.accountId).sort()).toEqual(hanging.map(({ accountId }) => accountId).sort());
  const [leaver, ...others] = hanging as [(typeof hanging)[0], ...typeof hanging];
  await put(leaver.owner, { url: null }); // while the request hangs
  for (const { alert, leaseId, attempt } of before) {
    const dueAt = new Date(Date.now() + HOUR_MS);
    const isKept = alert.accountId !== leaver.accountId;
    expect(
      await recordAlertAttempt(database, {
        eventId: alert.eventId,
        leaseId,
        attempt,
        state: 'waiting',
        reason: 'timeout',
        dueAt,
      }),
    ).toBe(isKept);
  }
  await put(leaver.owner, { url: HOOK });
  for (const { spend } of hanging) await spend(0n, 1_000n, 2_000n); // a new limit is a new alert
  const quick = await openAccount();
  await put(quick.owner, { url: HOOK });
  await quick.spend(0n, 500n);
  expect((await lease(false)).map(({ alert }) => alert.accountId)).toEqual([quick.accountId]);
  const later = await lease(true);
  expect(later.map(({ alert }) => alert.accountId).sort()).toEqual(others.map(({ accountId }) => accountId).sort());
  await database.query("update account_alert set leased_until = '-infinity' where account_id = $1", [leaver.accountId]);
  expect((await lease(true)).map(({ alert }) => alert.accountId)).toEqual([leaver.accountId]);
});
