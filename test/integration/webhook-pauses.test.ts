/** Pauses of webhook endpoints, and who is told of them: what one site does there costs no other site a first attempt. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { listen } from '../../db/listen.ts';
import { readDatabaseGauges } from '../../modules/operations/store/gauges.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { DELIVERY_CHANNEL } from '../../modules/webhooks/store/events.ts';
import { listOverdueEndpoints } from '../../modules/webhooks/store/receiver.ts';
import { createEndpoint, deleteEndpoint, updateEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import type { RetryOrder } from '../../modules/webhooks/use/manageRetries.ts';
import { createNotified, orderRetries } from '../../modules/webhooks/use/manageRetries.ts';
import { createNotices } from '../../modules/webhooks/use/notices.ts';
import { createWake } from '../../modules/webhooks/use/wake.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { query } from '../support/sql.ts';
import { insertWaiting } from '../support/waiting-deliveries.ts';
import type { HandedOver } from '../support/webhook-pass.ts';
import { runPass } from '../support/webhook-pass.ts';

const HOUR_MS = 3_600_000;
const ALL = { from: 0, to: 256 };
const RETRYING = { retrying: true, attempts: 1, body: '{}' };
const secretBox = createSecretBox(Buffer.alloc(32, 5));
const outbound = createOutbound({ allowLoopback: true });
let own: TestDatabase;
let database: Database;
let receiver: Receiver;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  receiver = await startReceiver();
});
afterEach(() => query(own.ownerUrl, "delete from delivery_attempt; delete from delivery where state = 'pending'"));
afterAll(async () => {
  await Promise.all([receiver.stop(), outbound.close()]);
  await database.close();
  await own.drop();
});

async function endpoint() {
  const tenantId = await insertTenant(database);
  const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, { url: receiver.url });
  const order = (wanted: RetryOrder) =>
    orderRetries({ database }, { tenantId, actor: operatorNamed('test') }, endpointId, wanted);
  /** As if so much time had passed. */
  const passHours = (hours: number) =>
    database.query(
      `update webhook_endpoint set paused_until = paused_until - $2 * interval '1 hour', paused_since = paused_since - $2 * interval '1 hour'
       where endpoint_id = $1`,
      [endpointId, hours],
    );
  return { tenantId, endpointId, order, passHours };
}

const dueAgo = (endpointId: string, ago: string) =>
  database.query(`update delivery set due_at = now() - interval '${ago}' where endpoint_id = $1`, [endpointId]);

test('an endpoint whose workflow takes no signal, and one whose signal hangs, keep no other endpoint of the shard from its first attempts', async () => {
  const [refusing, hanging, other] = await Promise.all([endpoint(), endpoint(), endpoint()]);
  for (const { tenantId, endpointId } of [refusing, hanging]) {
    await insertWaiting(database, tenantId, endpointId, 1, RETRYING);
    await dueAgo(endpointId, '1 hour');
  }
  await insertWaiting(database, other.tenantId, other.endpointId, 1);
  const sent = receiver.received.length;
  const warnings: string[] = [];
  const sending = Promise.withResolvers<void>();
  let sentWhileOneHangs = 0;
  await runPass({
    database,
    outbound,
    secretBox,
    warn: (message) => void warnings.push(message),
    due: async ({ endpointId }) => {
      if (endpointId === refusing.endpointId) throw new Error('exceeded workflow execution limit for signal events');
      await sending.promise;
    },
    onSent: () => {
      sentWhileOneHangs = receiver.received.length - sent;
      sending.resolve();
    },
  });
  expect(sentWhileOneHangs).toBe(1);
  expect(warnings).toEqual([expect.stringContaining('was not signalled')]);
});

test('signals that hang after failures hold no place of a first attempt, and say when the next attempt is due', async () => {
  const endpoints = await Promise.all([endpoint(), endpoint(), endpoint()]);
  for (const { tenantId, endpointId } of endpoints) await insertWaiting(database, tenantId, endpointId, 2);
  const before = receiver.received.length;
  receiver.answer((response) => response.writeHead(500).end());
  const signals: number[] = [];
  const sending = Promise.withResolvers<void>();
  let sentWhileTheyHang = 0;
  await runPass({
    database,
    outbound,
    secretBox,
    limits: { maxInFlight: 2, passMs: 2_500 },
    due: async (_, inMs) => {
      signals.push(inMs);
      await sending.promise;
    },
    onSent: () => {
      sentWhileTheyHang = receiver.received.length - before;
      sending.resolve();
    },
  });
  receiver.answer((response) => response.end('ok'));
  expect(sentWhileTheyHang).toBe(6);
  expect(signals.length).toBeGreaterThan(2);
  for (const inMs of signals) expect(inMs).toBeGreaterThan(1_000);
});

test('many changes of an endpoint within a moment are one signal, of the process that serves its shard', async () => {
  const { endpointId, tenantId } = await endpoint();
  const notices = createNotices(1);
  const noticesOfAnother = createNotices(1);
  const hears = createNotified({ wake: createWake(), notices });
  const anotherHears = createNotified({ wake: createWake(), notices: noticesOfAnother });
  notices.take(0); // its pass has begun
  for (let change = 0; change < 1_000; change += 1) for (const tell of [hears, anotherHears]) tell(`${tenantId} ${endpointId}`);
  expect(noticesOfAnother.take(0)).toEqual([]);
  expect(notices.take(0)).toEqual([{ tenantId, endpointId, dueAtMs: 0 }]);
  hears(`${tenantId} ${endpointId}`);
  const handedOver: HandedOver[] = [];
  await runPass({ database, outbound, secretBox, handedOver, notices });
  expect(handedOver).toEqual([{ endpointId, inMs: 0 }]);
});

test('the most overdue endpoints are signalled first', async () => {
  const endpoints = await Promise.all(Array.from({ length: 6 }, endpoint));
  for (const [at, { tenantId, endpointId }] of endpoints.entries()) {
    await insertWaiting(database, tenantId, endpointId, 2, RETRYING);
    await dueAgo(endpointId, `${at + 1} hours`);
  }
  const overdue = await listOverdueEndpoints(database, ALL, 60_000);
  expect(overdue.map(({ endpointId }) => endpointId)).toEqual(endpoints.map(({ endpointId }) => endpointId).toReversed());
});

test('an order that changes no row tells no worker', async () => {
  const { tenantId, endpointId, order } = await endpoint();
  await insertWaiting(database, tenantId, endpointId, 1);
  const told: string[] = [];
  const listener = listen(own.appUrl, DELIVERY_CHANNEL, (payload) => void told.push(payload ?? 'connected'));
  await expect.poll(() => told).toEqual(['connected']);
  const named = `${tenantId} ${endpointId}`;
  for (const kind of ['resume', 'skip', 'resume', 'skip'] as const) await order({ kind });
  await order({ kind: 'pause', hours: 2 });
  for (let again = 0; again < 3; again += 1) await order({ kind: 'resume' });
  await database.query(`select pg_notify('${DELIVERY_CHANNEL}', 'last')`);
  await expect.poll(() => told).toContain('last');
  expect(told).toEqual(['connected', named, named, 'last']);
  await listener.close();
});

test('pauses that follow one another end 168 hours after the first began, also where one was resumed for a moment', async () => {
  const { order, passHours } = await endpoint();
  await order({ kind: 'pause', hours: 168 });
  await passHours(100);
  const again = await order({ kind: 'pause', hours: 168 });
  expect((again.pausedUntil ?? 0) - Date.now()).toBeLessThanOrEqual(68 * HOUR_MS);
  await order({ kind: 'resume' });
  const resumed = await order({ kind: 'pause', hours: 168 });
  expect((resumed.pausedUntil ?? 0) - Date.now()).toBeLessThanOrEqual(68 * HOUR_MS);
  await passHours(68);
  await expect(order({ kind: 'pause', hours: 1 })).rejects.toMatchObject({ code: 'conflict' });
  await passHours(2);
  const next = await order({ kind: 'pause', hours: 168 });
  expect((next.pausedUntil ?? 0) - Date.now()).toBeGreaterThan(167 * HOUR_MS);
});

test('what waits at a paused endpoint is not late', async () => {
  const { tenantId, endpointId, order } = await endpoint();
  await insertWaiting(database, tenantId, endpointId, 2);
  await insertWaiting(database, tenantId, endpointId, 1, RETRYING);
  await dueAgo(endpointId, '1 hour');
  const read = async () =>
    Object.fromEntries((await readDatabaseGauges(database, [])).map(({ name, value }) => [name, Math.round(value / 60)]));
  expect(await read()).toMatchObject({ 'svc.webhook.lag': 60 });
  await order({ kind: 'pause', hours: 2 });
  expect(await read()).toMatchObject({ 'svc.webhook.backlog': 0, 'svc.webhook.lag': 0 });
});

test.each([
  ['disabled', (tenantId: string, endpointId: string) => updateEndpoint({ database }, tenantId, endpointId, { enabled: false })],
  ['deleted', (tenantId: string, endpointId: string) => deleteEndpoint({ database }, tenantId, endpointId)],
])('what waits at a paused endpoint that its owner %s fails then, not at the end of the pause', async (_, end) => {
  const { tenantId, endpointId, order } = await endpoint();
  await order({ kind: 'pause', hours: 168 });
  const [first] = await insertWaiting(database, tenantId, endpointId, 1);
  await insertWaiting(database, tenantId, endpointId, 1, RETRYING);
  await end(tenantId, endpointId);
  expect(await listOverdueEndpoints(database, ALL, 60_000)).toContainEqual({ tenantId, endpointId });
  await runPass({ database, outbound, secretBox, limits: { passMs: 2_000 } });
  const rows = await database.query('select state, reason from delivery where delivery_id = $1', [first]);
  expect(rows).toEqual([{ state: 'failed', reason: 'endpoint_disabled' }]);
});

test('a pause that is resumed is over at once, at whatever fraction of a millisecond', async () => {
  const { order } = await endpoint();
  for (let time = 0; time < 16; time += 1) {
    await order({ kind: 'pause', hours: 1 });
    expect(await order({ kind: 'resume' })).toMatchObject({ pausedUntil: null });
  }
});
