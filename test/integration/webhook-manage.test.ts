import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { closeDueWindows } from '../../modules/webhooks/use/closeWindows.ts';
import type { EndpointRequest } from '../../modules/webhooks/use/endpoints.ts';
import { createEndpoint, deleteEndpoint, updateEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint, recover, redeliver, replay } from '../../modules/webhooks/use/redeliver.ts';
import { rotateSecret } from '../../modules/webhooks/use/rotateSecret.ts';
import type { Outbound, OutboundRequest } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { setConfirmedAddress } from '../support/addresses.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { HandedOver } from '../support/webhook-pass.ts';
import { runPass } from '../support/webhook-pass.ts';
import { listDeliveries, listEndpoints } from '../support/webhookLog.ts';

const SPAN_MS = 1_000;
const LEGS = [{ toAddress: '0xa', amountMicro: 700, authorId: 'ann' }];
const secretBox = createSecretBox(Buffer.alloc(32, 9));
const outbound = createOutbound({ allowLoopback: true });
const chatSent: OutboundRequest[] = [];
/** The client of chats, which are not on this machine: it keeps what would leave. */
const chatOutbound: Outbound = {
  ...outbound,
  send: async (request) => {
    chatSent.push(request);
    return { ok: true, status: 204, headers: {}, body: new Uint8Array(), durationMs: 1 };
  },
};
const handedOver: HandedOver[] = [];
const receivers: Receiver[] = [];
let own: TestDatabase;
let database: Database;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 6 });
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  await database.close();
  await outbound.close();
  await own.drop();
});

const dispatch = () => runPass({ database, outbound, chatOutbound, secretBox, handedOver });

async function subscribe(more: Partial<EndpointRequest> = {}, tenant?: string) {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const tenantId = tenant ?? (await insertTenant(database));
  const { endpointId, secret } = await createEndpoint({ database, secretBox, outbound }, tenantId, {
    url: receiver.url,
    ...more,
  });
  const announce = async (): Promise<void> => {
    await insertCrossing(database, { tenantId, secondsAgo: 5, legs: LEGS });
    await closeDueWindows(database, SPAN_MS);
  };
  const log = () => listDeliveries({ database }, tenantId, endpointId);
  return { receiver, tenantId, endpointId, secret, announce, log };
}

test('a redelivery has an id of its own and the same event, data and endpoint', async () => {
  const { receiver, tenantId, announce, log } = await subscribe();
  await announce();
  await dispatch();
  const [first] = await log();
  const again = await redeliver({ database }, tenantId, first?.deliveryId ?? '');
  await dispatch();
  const [one, two] = receiver.received.map(({ body }) => JSON.parse(body));
  expect(two).toEqual({ ...one, id: again.deliveryId });
  expect(two.id).not.toBe(one.id);
  expect((await log()).map(({ state, redelivery }) => [state, redelivery])).toEqual([
    ['delivered', 1],
    ['delivered', 0],
  ]);
  await expect(redeliver({ database }, await insertTenant(database), one.id)).rejects.toMatchObject({ code: 'not_found' });
  const many = await Promise.all(Array.from({ length: 5 }, () => redeliver({ database }, tenantId, one.id)));
  expect(new Set(many.map(({ deliveryId }) => deliveryId)).size).toBe(5);
});

test('a replay delivers each event of its range, types and hosts once more, to this endpoint alone, and no ping', async () => {
  const { receiver, tenantId, endpointId, announce } = await subscribe();
  for (let count = 0; count < 3; count++) await announce();
  const later = await subscribe({}, tenantId);
  await pingEndpoint({ database }, tenantId, endpointId);
  await dispatch();
  const range = { fromMs: Date.now() - 60_000, toMs: Date.now() + 1 };
  expect(await replay({ database }, tenantId, later.endpointId, range)).toEqual({ deliveries: 3, next: null });
  expect(await replay({ database }, tenantId, later.endpointId, { fromMs: 0, toMs: range.fromMs })).toMatchObject({
    deliveries: 0,
  });
  await dispatch();
  const idsOf = (one: Receiver) =>
    one.received
      .map(({ body }) => JSON.parse(body).eventId)
      .filter((id) => !id.startsWith('evt_ping_'))
      .sort();
  expect(receiver.received).toHaveLength(4);
  expect(idsOf(later.receiver)).toEqual(idsOf(receiver));
  await updateEndpoint({ database }, tenantId, later.endpointId, { hostFilter: ['other.example'] });
  expect(await replay({ database }, tenantId, later.endpointId, range)).toMatchObject({ deliveries: 0 });
  await expect(replay({ database }, tenantId, later.endpointId, { fromMs: 2, toMs: 1 })).rejects.toMatchObject({
    code: 'invalid_parameter',
  });
});

test('a ping is a signed test event of the first event type for this endpoint alone', async () => {
  const { receiver, tenantId, endpointId, secret } = await subscribe({
    eventTypes: ['anomaly.detected', 'settlement.completed'],
  });
  const other = await subscribe({ eventTypes: ['anomaly.detected'] }, tenantId);
  const { eventId, deliveryId } = await pingEndpoint({ database }, tenantId, endpointId);
  await dispatch();
  const [received] = receiver.received;
  const body = new Webhook(secret).verify(received?.body ?? '', received?.headers as Record<string, string>);
  expect(body).toMatchObject({
    id: deliveryId,
    eventId,
    type: 'anomaly.detected',
    data: { metric: 'agent_hits', rangeKey: '1h' },
  });
  expect(other.receiver.received).toHaveLength(0);
});

test('exhausted deliveries are recovered: same ids and bytes, eight attempts anew, the log goes on', async () => {
  const { receiver, tenantId, endpointId, announce, log } = await subscribe();
  receiver.answer((response) => {
    response.statusCode = 500;
    response.end();
  });
  await announce();
  await dispatch();
  await database.query(
    `update delivery set state = 'exhausted', attempts = 8, retrying = true, decided_at = now() where endpoint_id = $1`,
    [endpointId],
  );
  expect(await recover({ database }, tenantId, endpointId, Date.now() + 1)).toMatchObject({ deliveries: 0 });
  expect(await recover({ database }, tenantId, endpointId, 0)).toEqual({ deliveries: 1, isMore: false });
  await dispatch();
  const [delivery] = await log();
  expect(delivery).toMatchObject({ state: 'pending', retrying: true, reason: 'status_500' });
  expect(delivery?.attempts.map(({ attempt }) => attempt)).toEqual([1, 9]);
  expect(handedOver.at(-1)).toMatchObject({ endpointId });
  expect(handedOver.at(-1)?.inMs).toBeLessThan(6_000); // the second wait of the schedule, 5 s
  expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
});

test('after a rotation both secrets sign, the old one for as long as was said, and no delivery is lost', async () => {
  const { receiver, tenantId, endpointId, secret: old, announce } = await subscribe();
  const { secret } = await rotateSecret({ database, secretBox }, tenantId, endpointId);
  expect(secret).not.toBe(old);
  await announce();
  await dispatch();
  const [received] = receiver.received;
  for (const valid of [secret, old]) {
    expect(() => new Webhook(valid).verify(received?.body ?? '', received?.headers as Record<string, string>)).not.toThrow();
  }
  expect(String(received?.headers['svc-signature'])).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  const [row] = await database.query<{ hours: number }>(
    `select extract(epoch from max(expires_at) - now()) / 3600 as hours from webhook_secret where endpoint_id = $1`,
    [endpointId],
  );
  expect(Math.round(Number(row?.hours))).toBe(24);
  const leaked = await rotateSecret({ database, secretBox }, tenantId, endpointId, 0);
  await announce();
  await dispatch();
  const second = receiver.received[1];
  expect(String(second?.headers['svc-signature'])).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(() => new Webhook(leaked.secret).verify(second?.body ?? '', second?.headers as Record<string, string>)).not.toThrow();
  for (let count = 0; count < 3; count++) await rotateSecret({ database, secretBox }, tenantId, endpointId);
  await expect(rotateSecret({ database, secretBox }, tenantId, endpointId)).rejects.toMatchObject({ code: 'conflict' });
  await expect(rotateSecret({ database, secretBox }, tenantId, randomUUID())).rejects.toMatchObject({ code: 'not_found' });
});

test('a chat gets one line by its own client, unsigned, and its URL is on its own hosts', async () => {
  const tenantId = await insertTenant(database);
  const url = 'https://hooks.slack.com/services/T/B/x';
  for (const bad of [
    'http://127.0.0.1:1/services/x',
    'https://receiver.example/services/x',
    'https://discord.com/api/webhooks/1',
  ]) {
    await expect(
      createEndpoint({ database, secretBox, outbound }, tenantId, { url: bad, channel: 'slack' }),
    ).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
  }
  const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, { url, channel: 'slack' });
  await insertCrossing(database, { tenantId, secondsAgo: 5, legs: LEGS });
  await closeDueWindows(database, SPAN_MS);
  await dispatch();
  expect(chatSent).toHaveLength(1);
  expect(chatSent[0]).toMatchObject({
    url,
    body: '{"text":"Settlement completed: 1 payout settled on alpha.example.","mrkdwn":false}',
  });
  expect(Object.keys(chatSent[0]?.headers ?? {})).toEqual(['content-type', 'user-agent']);
  expect(await listDeliveries({ database }, tenantId, endpointId)).toMatchObject([{ state: 'delivered' }]);
  await database.query("update webhook_endpoint set url = 'http://127.0.0.1:1/services/x' where endpoint_id = $1", [endpointId]);
  await pingEndpoint({ database }, tenantId, endpointId);
  await dispatch();
  expect(chatSent).toHaveLength(1);
  expect((await listDeliveries({ database }, tenantId, endpointId))[0]).toMatchObject({ state: 'failed', reason: 'invalid_url' });
});

test.each([
  [
    'five days of failures only',
    "failing_since = now() - interval '5 days', failures_in_row = 3",
    /^every attempt of the last 5 days failed/,
  ],
  [
    'a hundred exhausted deliveries in a row',
    'exhausted_in_row = 100, failing_since = now()',
    /^100 deliveries in a row were given up/,
  ],
])('%s disable an endpoint with an alert, and enabling it starts anew', async (_, state, why) => {
  const { receiver, tenantId, endpointId, announce, log } = await subscribe();
  await setConfirmedAddress(database, tenantId, 'owner@alpha.example');
  await database.query(`update webhook_endpoint set ${state} where endpoint_id = $1`, [endpointId]);
  receiver.answer((response) => {
    response.statusCode = 500;
    response.end();
  });
  await announce();
  await dispatch();
  expect(await listEndpoints({ database }, tenantId)).toMatchObject([{ enabled: false, disabledReason: 'failing' }]);
  const [alert] = await database.query<{ detail: string }>('select detail from operator_alert where tenant_id = $1', [tenantId]);
  expect(alert?.detail.replace(/^endpoint \S+: /, '')).toMatch(why);
  expect(await database.query('select to_address from alert_mail where tenant_id = $1', [tenantId])).toEqual([
    { to_address: 'owner@alpha.example' },
  ]);
  const [delivery] = await log();
  await expect(redeliver({ database }, tenantId, delivery?.deliveryId ?? '')).rejects.toMatchObject({ code: 'conflict' });
  await expect(pingEndpoint({ database }, tenantId, endpointId)).rejects.toMatchObject({ code: 'conflict' });
  await updateEndpoint({ database }, tenantId, endpointId, { enabled: true });
  receiver.answer((response) => response.end());
  await redeliver({ database }, tenantId, delivery?.deliveryId ?? '');
  await dispatch();
  expect(await listEndpoints({ database }, tenantId)).toMatchObject([{ enabled: true, failuresInRow: 0 }]);
  expect((await log())[0]).toMatchObject({ state: 'delivered' });
});

test('an endpoint is changed member by member, nonsense is refused, and a deleted one makes room', async () => {
  const { tenantId, endpointId, announce, log } = await subscribe();
  await updateEndpoint({ database }, tenantId, endpointId, { profile: 'summary', description: 'new' });
  expect(await listEndpoints({ database }, tenantId)).toMatchObject([
    { profile: 'summary', description: 'new', eventTypes: ['settlement.completed'], enabled: true },
  ]);
  const change = (changes: object) => updateEndpoint({ database }, tenantId, endpointId, changes);
  for (const bad of [
    { eventTypes: [] },
    { eventTypes: ['x'] },
    { hostFilter: [] },
    { hostFilter: ['A.example'] },
    { profile: 'x' },
  ]) {
    await expect(change(bad)).rejects.toMatchObject({ code: 'invalid_parameter' });
  }
  await change({ enabled: false });
  await announce();
  expect(await log()).toEqual([]);
  await change({ enabled: true });
  await announce();
  expect(await log()).toHaveLength(1);
  await expect(updateEndpoint({ database }, await insertTenant(database), endpointId, {})).rejects.toMatchObject({
    code: 'not_found',
  });
  await deleteEndpoint({ database }, tenantId, endpointId);
  await dispatch();
  expect(await log()).toMatchObject([{ state: 'failed', reason: 'endpoint_disabled' }]);
  expect(await listEndpoints({ database }, tenantId)).toEqual([]);
  await expect(updateEndpoint({ database }, tenantId, endpointId, { enabled: true })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(deleteEndpoint({ database }, tenantId, endpointId)).rejects.toMatchObject({ code: 'not_found' });
});
