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
  // Every leg that settled is announced by exactly one event, which is stored once for the receiver that works.
  const announced = (): Promise<{ legs: string; announced: string }[]> =>
    service.database.query(
      `select (select count(*) from leg where tenant_id = $1) as legs,
              (select count(*) from webhook_event_leg where tenant_id = $1) as announced`,
      [site.tenantId],
    );
  await expect.poll(async () => (await announced()).map((row) => row.announced === row.legs && row.legs !== '0')).toEqual([true]);
  const sent = await service.database.query<{ event_id: string; deliveries: string[] | null }>(
    `select event_id, array_agg(delivery_id order by delivery_id) filter (where endpoint_id = $2) as deliveries
     from webhook_event left join delivery using (tenant_id, event_id) where tenant_id = $1 group by event_id`,
    [site.tenantId, endpoints.get('works')?.endpointId],
  );
  expect(sent.filter(({ deliveries }) => deliveries?.length !== 1)).toEqual([]);
  // It gets each of them, nothing else, and at least once: a lease that ends while its request is under way has it sent again, as it was.
  const deliveryIds = sent.flatMap(({ deliveries }) => deliveries ?? []).sort();
  const received = endpoints.get('works')?.receiver.received ?? [];
  const bodyOf = (): Map<unknown, string> => new Map(received.map(({ headers, body }) => [headers['svc-id'], body]));
  await expect.poll(() => [...bodyOf().keys()].sort()).toEqual(deliveryIds);
  expect(received.filter(({ headers, body }) => body !== bodyOf().get(headers['svc-id']))).toEqual([]);
});
