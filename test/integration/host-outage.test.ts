import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOST_TIMES } from '../../modules/hosts/rules/challengeSchedule.ts';
import { listOverdueHosts } from '../../modules/hosts/use/check.ts';
import type { CheckOutcome, HostService } from '../../modules/hosts/use/deps.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { startTestApi } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
let isAway = true;

beforeAll(async () => {
  const answer = async <T>(value: T): Promise<T> => {
    if (isAway) throw new ServiceError('workflows_unavailable', 'away', { retryAfterSeconds: 5 });
    return value;
  };
  const missed: CheckOutcome = { verified: false, reason: 'not_verified' };
  const hosts: HostService = {
    workflows: { opened: () => answer(undefined), check: () => answer(missed) },
    caps: { perHour: 2, perHost: 50, gapMs: 0 },
    times: HOST_TIMES,
    ownHosts: [],
  };
  api = await startTestApi({ hosts });
});
afterAll(() => api.stop());

test('while workflows are away a challenge is 503 but set up, and checks cost nothing of the caps', async () => {
  const { key } = await api.site();
  const host = 'outage.sandbox.example';
  isAway = true;
  const opened = await api.post('/_svc/verify-host', key, { host });
  expect([opened.status, opened.headers.get('retry-after')]).toEqual([503, '5']);
  const { challenges } = (await api.request('/_svc/verify-host', { key })).body;
  expect(challenges).toMatchObject([{ host, verifiedAt: null }]);
  for (let again = 0; again < 5; again++) {
    expect((await api.post('/_svc/verify-host/check', key, { host })).status).toBe(503);
  }
  isAway = false;
  const resumed = await api.post('/_svc/verify-host', key, { host });
  expect([resumed.status, resumed.body.challenge.token]).toEqual([201, challenges[0].token]);
  const statuses = [];
  for (let again = 0; again < 3; again++) statuses.push((await api.post('/_svc/verify-host/check', key, { host })).status);
  expect(statuses).toEqual([409, 409, 429]);
});

test('an unproven token is replaced after 30 days, and only then', async () => {
  const { tenantId, key } = await api.site();
  // A key that may prove hosts lives 30 days; this one must outlive the token.
  await api.deps.database.query('update api_key set expires_at = null where tenant_id = $1', [tenantId]);
  const host = 'old.sandbox.example';
  isAway = false;
  const tokenOf = async (): Promise<string> => (await api.post('/_svc/verify-host', key, { host })).body.challenge.token;
  const first = await tokenOf();
  api.time.offsetMs = 29 * 86_400_000;
  expect(await tokenOf()).toBe(first);
  api.time.offsetMs = 31 * 86_400_000;
  expect((await api.post('/_svc/verify-host/check', key, { host })).body).toEqual({ verified: false, reason: 'no_challenge' });
  expect(await tokenOf()).not.toBe(first);
  api.time.offsetMs = 0;
});

test('however many hosts are only late, a host that lost its workflow has its turn within a few sweeps', async () => {
  const { tenantId, key } = await api.site();
  const { database, clock } = api.deps;
  isAway = false;
  await api.post('/_svc/verify-host', key, { host: 'late.sandbox.example' });
  await database.query(
    `insert into host_challenge select copy.* from host_challenge as one, generate_series(1, 250) as number,
       jsonb_populate_record(one, jsonb_build_object('host', 'late' || number || '.sandbox.example', 'next_check_at', now() - interval '1 hour')) as copy
      where one.tenant_id = $1`,
    [tenantId],
  );
  const seen = new Set<string>();
  let most = 0;
  for (let sweep = 0; sweep < 60 && seen.size < 250; sweep += 1) {
    const overdue = await listOverdueHosts({ database, clock });
    most = Math.max(most, overdue.length);
    for (const found of overdue) if (found.tenantId === tenantId) seen.add(found.host);
  }
  expect([seen.size, most]).toEqual([250, 100]);
});
