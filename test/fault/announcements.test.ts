/** Sales announced to receivers that misbehave, by the worker as it runs, with the chain as the judge of what was sold. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { askQuote, payFor, sellUntilDecided } from '../support/buying.ts';
import { checkService } from '../support/invariants.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { listDeliveries } from '../support/webhookLog.ts';

type Answer = Parameters<Receiver['answer']>[0];

const bomb = gzipSync(Buffer.alloc(10_000_000));
const outbound = createOutbound({ allowLoopback: true });
const receivers: Receiver[] = [];
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([...receivers.map((receiver) => receiver.stop()), outbound.close()]);
});

async function receiverThat(answer: Answer): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.answer(answer);
  receivers.push(receiver);
  return receiver;
}

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end('no');

test('what is sold is announced once, whatever other receivers do, and each of them is judged by what it did', async () => {
  const site = await service.site();
  const inner = await receiverThat(status(204));
  const kit: Record<string, readonly [Answer, string, string | null]> = {
    works: [status(200), 'delivered', null],
    bombs: [(response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb), 'delivered', null],
    redirects: [status(302, { location: inner.url }), 'pending', 'redirect'],
    storms: [status(500), 'pending', 'status_500'],
    throttles: [status(429, { 'retry-after': '7200' }), 'pending', 'status_429'],
    gone: [status(410), 'failed', 'status_410'],
  };
  const deps = {
    database: service.database,
    outbound,
    secretBox: createSecretBox(Buffer.from(service.secrets.secretsKey, 'base64url')),
  };
  const endpoints = new Map<string, { readonly endpointId: string; readonly receiver: Receiver }>();
  for (const [name, [answer]] of Object.entries(kit)) {
    const receiver = await receiverThat(answer);
    const { endpointId } = await createEndpoint(deps, site.tenantId, { url: receiver.url });
    endpoints.set(name, { endpointId, receiver });
  }
  const payers = await Promise.all([service.payer(1_000_000n), service.payer(1_000_000n)]);
  const quote = await askQuote(service.baseUrl, site.key, 'trio');
  for (const payer of payers) {
    const sold = await sellUntilDecided(service.baseUrl, site.key, quote, await payFor(payer, quote));
    expect(sold.body).toMatchObject({ ok: true });
  }
  const logOf = (name: string) => listDeliveries(deps, site.tenantId, endpoints.get(name)?.endpointId as string);
  for (const [name, [, state, reason]] of Object.entries(kit)) {
    await expect.poll(async () => (await logOf(name))[0]?.attempts.length ?? 0).toBeGreaterThan(0);
    await expect.poll(async () => (await logOf(name))[0]?.state).toBe(state);
    const [delivery] = await logOf(name);
    expect({ name, reason: delivery?.attempts[0]?.reason }).toEqual({ name, reason });
    expect(Buffer.byteLength(delivery?.attempts[0]?.responseStart ?? '')).toBeLessThanOrEqual(2_048);
  }
  expect(inner.received).toEqual([]);
  await checkService(service);
  // Every leg that settled was announced by exactly one event, and the receiver that works got each event once.
  const [legs] = await service.database.query<{ legs: string; announced: string; events: string }>(
    `select (select count(*) from leg where tenant_id = $1) as legs,
            (select count(*) from webhook_event_leg where tenant_id = $1) as announced,
            (select count(*) from webhook_event where tenant_id = $1) as events`,
    [site.tenantId],
  );
  expect([legs?.announced, Number(legs?.legs) > 0]).toEqual([legs?.legs, true]);
  const works = endpoints.get('works')?.receiver.received ?? [];
  expect(works.map(({ headers }) => headers['svc-id'])).toHaveLength(Number(legs?.events));
  expect(new Set(works.map(({ headers }) => headers['svc-id'])).size).toBe(works.length);
});
