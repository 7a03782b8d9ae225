/** The name servers of a host that is to be proven, in trouble while the service sells. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { limits } from '../../sandbox/limits.ts';
import { checkService } from '../support/invariants.ts';
import type { NameServer } from '../support/name-server.ts';
import { startNameServer } from '../support/name-server.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { startTestService } from '../support/service.ts';

const PER_HOUR = 6;
const PER_HOST = 2;

let names: NameServer;
let service: TestService;
let site: TestSite;
let second: TestSite;
beforeAll(async () => {
  names = await startNameServer();
  service = await startTestService({
    environment: {
      HOST_RESOLVERS: names.place,
      ...limits({
        hostChecksPerHour: PER_HOUR,
        hostChecksPerHost: PER_HOST,
        hostCheckGapMs: 0,
        hostFirstCheckMs: 3_600_000,
      }),
    },
  });
  const ownerUserId = randomUUID();
  site = await service.site({ ownerUserId });
  second = await service.site({ ownerUserId });
});
afterAll(async () => {
  await service?.stop();
  names.stop();
});
afterEach(() => checkService(service));

async function call(path: string, body: object, { key } = site) {
  const answer = await fetch(`${service.baseUrl}/_svc/verify-host${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: (await answer.json()) as any };
}

test('name servers in trouble are a timeout that costs nothing of the host, only of the hour; once they answer the host is proven', async () => {
  const host = 'news.flapping.example';
  const { body } = await call('', { host, method: 'dns-txt' });
  const check = () => call('/check', { host });
  for (const trouble of ['servfail', 'silence', 'servfail'] as const) {
    names.answer = trouble;
    expect(await check()).toMatchObject({ status: 409, body: { verified: false, reason: 'timeout' } });
  }
  names.answer = { text: 'svc-verify=of-somebody-else' };
  expect((await check()).body).toEqual({ verified: false, reason: 'dns_mismatch' });
  names.answer = { text: body.challenge.present.value };
  expect(await check()).toMatchObject({ status: 200, body: { verified: true } });
  // Five of six are used up: the next one, of whatever site of the account, is the last of this hour.
  const other = { host: 'other.flapping.example', method: 'dns-txt' };
  await call('', other, second);
  names.answer = 'servfail';
  expect((await call('/check', { host: other.host }, second)).status).toBe(409);
  const refused = await call('/check', { host: other.host }, second);
  expect([refused.status, Number(refused.retryAfter) > 0]).toEqual([429, true]);
});
