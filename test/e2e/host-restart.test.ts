import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { layered, limits } from '../../sandbox/limits.ts';
import type { SandboxWeb } from '../../sandbox/site.ts';
import { startSandboxWeb } from '../../sandbox/site.ts';
import type { TestService, TestSite } from '../support/service.ts';
import { CALM, startTestService } from '../support/service.ts';

let web: SandboxWeb;
let service: TestService;

beforeAll(async () => {
  web = await startSandboxWeb(0);
  const caps = limits({ hostChecksPerHour: 2, hostCheckGapMs: 0, hostFirstCheckMs: 10_000 });
  service = await startTestService({ environment: layered(CALM, caps, { OUTBOUND_SANDBOX_WEB: web.url }) });
});
afterAll(async () => {
  await service.stop();
  await web.close();
});

const newHost = (): string => `h${randomBytes(5).toString('hex')}.alpha.example`;

async function post(baseUrl: string, site: TestSite, path: string, body: object) {
  const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
}

test('caps hold over a restart of worker and API, and the challenge goes on by itself', async () => {
  // Two sites of one owner, who share his checks: a host that is proven takes the scope from the keys of its site alone.
  const [site, other] = [await service.site({ ownerUserId: 'ada' }), await service.site({ ownerUserId: 'ada' })];
  const [host, unproven] = [newHost(), newHost()];
  const first = service.apis[0];
  const opened = await post(first?.url ?? '', site, '/_svc/verify-host', { host });
  expect(opened.status).toBe(201);
  const { token } = (opened.body as { challenge: { token: string } }).challenge;
  const page = { host, path: `/.well-known/svc-challenge/${token}`, body: token };
  await fetch(`${web.controlUrl}/pages`, { method: 'POST', body: JSON.stringify(page) });
  expect((await post(first?.url ?? '', other, '/_svc/verify-host', { host: unproven })).status).toBe(201);
  for (const status of [409, 409, 429]) {
    expect((await post(first?.url ?? '', other, '/_svc/verify-host/check', { host: unproven })).status).toBe(status);
  }
  await Promise.all([first?.stop(), service.workers[0]?.stop()]);
  const [api] = await Promise.all([service.startApi(), service.startWorker()]);
  const throttled = await post(api.url, other, '/_svc/verify-host/check', { host: unproven });
  expect(throttled.status).toBe(429);
  expect(Number(throttled.retryAfter)).toBeGreaterThan(60);
  // The automatic check of the other challenge survived with its workflow: it proves the host, no check asked for.
  const verifiedAt = async () => {
    const headers = { authorization: `Bearer ${site.key}` };
    const { challenges } = (await (await fetch(`${api.url}/_svc/verify-host`, { headers })).json()) as {
      challenges: { host: string; verifiedAt: string | null }[];
    };
    return challenges.find((challenge) => challenge.host === host)?.verifiedAt;
  };
  await expect.poll(verifiedAt).toEqual(expect.any(String));
});
