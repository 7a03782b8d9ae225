import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { MAX_EVENT_BYTES } from '../../modules/webhooks/rules/event.ts';
import { closeDueWindows } from '../../modules/webhooks/use/closeWindows.ts';
import { createEndpoint, updateEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { insertCorrection, insertCrossing, insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { listDeliveries } from '../support/webhookLog.ts';

const SPAN_MS = 60_000;
const URL = 'https://receiver.example/hook';
const secretBox = createSecretBox(Buffer.alloc(32, 3));
const outbound = createOutbound();
let own: TestDatabase;
let database: Database;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 6 });
});
afterAll(async () => {
  await database.close();
  await outbound.close();
  await own.drop();
});

interface EventRow {
  readonly event_id: string;
  readonly host: string;
  readonly detailed: {
    readonly window: { readonly toMs: number; readonly spanMs: number };
    readonly citations: { readonly settled: number };
    readonly gross: { readonly microUsdc: number };
    readonly legs: readonly { readonly amountMicro: number; readonly settlementRef: string | null }[];
    readonly settlementRefs: readonly string[];
  };
  readonly summary: { readonly announced: number };
}

async function events(tenantId: string): Promise<EventRow[]> {
  return await database.query('select * from webhook_event where tenant_id = $1 order by created_at, event_id', [tenantId]);
}

/** Has the outbox hold what a site has not announced as one list, as one decision writes it. */
async function gatherOutbox(tenantId: string): Promise<void> {
  await database.transaction(async (sql) => {
    const rows = await sql.query<{ crossing_id: string; host: string; recorded_at: Date }>(
      'delete from unannounced_crossing where tenant_id = $1 returning crossing_id, host, recorded_at',
      [tenantId],
    );
    const ids = rows.map((row) => row.crossing_id).toSorted();
    await sql.query(
      'insert into unannounced_crossing (tenant_id, crossing_id, host, recorded_at, crossing_ids) values ($1, $2, $3, $4, $5)',
      [tenantId, ids[0], rows[0]?.host, rows[0]?.recorded_at, ids],
    );
  });
}

async function endpoint(tenantId: string, more: object = {}): Promise<string> {
  return (await createEndpoint({ database, secretBox, outbound }, tenantId, { url: URL, ...more })).endpointId;
}

const legs = [
  { toAddress: '0xa', amountMicro: 700, authorId: 'ann' },
  { toAddress: '0xb', amountMicro: 300 },
];

test('what settled in one window is one event, with one delivery for each endpoint that wants it', async () => {
  const tenantId = await insertTenant(database);
  const [first, second] = [await endpoint(tenantId), await endpoint(tenantId)];
  await endpoint(tenantId, { hostFilter: ['other.example'] });
  await endpoint(tenantId, { eventTypes: ['anomaly.detected'] });
  await updateEndpoint({ database }, tenantId, await endpoint(tenantId), { enabled: false });
  const read = await insertCrossing(database, { tenantId, secondsAgo: 70, legs });
  const cited = await insertCrossing(database, { tenantId, secondsAgo: 65, kind: 'citation', legs });
  await closeDueWindows(database, SPAN_MS);
  await closeDueWindows(database, SPAN_MS);
  const [event, ...others] = await events(tenantId);
  expect(others).toEqual([]);
  expect(event?.detailed.gross.microUsdc).toBe(2_000);
  expect(event?.detailed.legs).toHaveLength(4);
  expect(event?.detailed.citations.settled).toBe(1);
  expect(event?.detailed.settlementRefs).toEqual([read.txHash, cited.txHash]);
  expect(event?.detailed.window.spanMs).toBe(SPAN_MS);
  expect(event?.summary).toEqual({ tenant: tenantId, announced: 4 });
  const deliveries = await database.query<{ endpoint_id: string; state: string }>(
    'select endpoint_id, state from delivery where tenant_id = $1',
    [tenantId],
  );
  expect(deliveries.map((row) => row.endpoint_id).sort()).toEqual([first, second].sort());
  expect(await listDeliveries({ database }, tenantId, first)).toMatchObject([
    { state: 'pending', eventId: event?.event_id, attempts: [] },
  ]);
});

test('a window that is not over stays open, and says when to look again', async () => {
  const tenantId = await insertTenant(database);
  await insertCrossing(database, { tenantId, secondsAgo: 30, legs });
  const { nextInMs } = await closeDueWindows(database, SPAN_MS);
  expect(await events(tenantId)).toEqual([]);
  expect(nextInMs).toBeGreaterThan(0);
  expect(nextInMs).toBeLessThanOrEqual(30_000);
  await database.query('delete from unannounced_crossing where tenant_id = $1', [tenantId]);
});

test('a leg that comes late goes into the next window, whose event is another one', async () => {
  const tenantId = await insertTenant(database);
  await insertCrossing(database, { tenantId, secondsAgo: 130, legs });
  await closeDueWindows(database, SPAN_MS);
  await insertCrossing(database, { tenantId, secondsAgo: 129, legs });
  await closeDueWindows(database, SPAN_MS);
  const [first, second] = await events(tenantId);
  expect(first?.detailed.gross.microUsdc).toBe(1_000);
  expect(second?.detailed.gross.microUsdc).toBe(1_000);
  expect(second?.detailed.window.toMs).toBe((first?.detailed.window.toMs ?? 0) + SPAN_MS);
  expect(second?.event_id).not.toBe(first?.event_id);
});

test('a correction is announced with negative legs and takes its citation off the settled ones', async () => {
  const tenantId = await insertTenant(database);
  const row = { tenantId, secondsAgo: 70, kind: 'citation', legs } as const;
  const { paymentId } = await insertCrossing(database, row);
  await insertCorrection(database, row, paymentId);
  await closeDueWindows(database, SPAN_MS);
  const [event] = await events(tenantId);
  expect(event?.detailed.gross.microUsdc).toBe(0);
  expect(event?.detailed.legs.map((leg) => leg.amountMicro).sort()).toEqual([-300, -700, 300, 700]);
  expect([event?.detailed.citations.settled, event?.summary.announced]).toEqual([0, 0]);
});

test('hosts and tenants have windows of their own', async () => {
  const tenants = [await insertTenant(database), await insertTenant(database)];
  for (const tenantId of tenants) {
    await insertCrossing(database, { tenantId, host: 'a.example', secondsAgo: 70, legs });
    await insertCrossing(database, { tenantId, host: 'b.example', secondsAgo: 70, legs });
  }
  expect((await closeDueWindows(database, SPAN_MS)).events).toBe(4);
  for (const tenantId of tenants)
    expect((await events(tenantId)).map(({ host }) => host).sort()).toEqual(['a.example', 'b.example']);
});

test('many closers at once announce each leg once', async () => {
  const tenantId = await insertTenant(database);
  for (let count = 0; count < 20; count++) await insertCrossing(database, { tenantId, secondsAgo: 70, legs });
  await Promise.all(Array.from({ length: 6 }, () => closeDueWindows(database, SPAN_MS)));
  const made = await events(tenantId);
  expect(made).toHaveLength(1);
  expect(made[0]?.detailed.gross.microUsdc).toBe(20_000);
  const [members] = await database.query<{ count: string }>('select count(*) from webhook_event_leg where tenant_id = $1', [
    tenantId,
  ]);
  expect(members?.count).toBe('40');
  expect(await database.query('select 1 from unannounced_crossing where tenant_id = $1', [tenantId])).toEqual([]);
});

test('more than a thousand crossings of one window make a further event, and together they are all there', async () => {
  const tenantId = await insertTenant(database);
  const template = await insertCrossing(database, { tenantId, secondsAgo: 70, legs: [{ toAddress: '0xa', amountMicro: 5 }] });
  await database.query(
    `with copy as (
       insert into test.payment select (jsonb_populate_record(p, jsonb_build_object('payment_id', gen_random_uuid()))).* from payment p,
         generate_series(1, 1100) where tenant_id = $1 and payment_id = $2 returning tenant_id, payment_id
     ), crossed as (
       insert into crossing select (jsonb_populate_record(c, jsonb_build_object('payment_id', copy.payment_id, 'crossing_id',
         gen_random_uuid()))).* from crossing c, copy where c.tenant_id = $1 and c.payment_id = $2
       returning tenant_id, crossing_id, payment_id, host, recorded_at
     ), legged as (
       insert into leg select (jsonb_populate_record(l, jsonb_build_object('payment_id', x.payment_id, 'crossing_id', x.crossing_id))).*
       from leg l, crossed x where l.tenant_id = $1 and l.payment_id = $2
     ) insert into unannounced_crossing (tenant_id, crossing_id, host, recorded_at, crossing_ids)
       select tenant_id, crossing_id, host, recorded_at, array[crossing_id] from crossed`,
    [tenantId, template.paymentId],
  );
  await gatherOutbox(tenantId);
  await closeDueWindows(database, SPAN_MS);
  const made = await events(tenantId);
  expect(made.reduce((sum, { summary }) => sum + summary.announced, 0)).toBe(1_101);
  for (const { detailed } of made) expect(Buffer.byteLength(JSON.stringify(detailed))).toBeLessThanOrEqual(MAX_EVENT_BYTES);
  expect(new Set(made.map(({ detailed }) => detailed.window.toMs)).size).toBe(1);
  expect(made.reduce((sum, { detailed }) => sum + detailed.gross.microUsdc, 0)).toBe(5 * 1_101);
});

test('the database refuses to change an event or to announce a leg twice', async () => {
  const tenantId = await insertTenant(database);
  const { crossingId } = await insertCrossing(database, { tenantId, secondsAgo: 70, legs });
  await closeDueWindows(database, SPAN_MS);
  await expect(database.query("update webhook_event set summary = '{}' where tenant_id = $1", [tenantId])).rejects.toThrow(
    /permission/,
  );
  await expect(database.query('delete from webhook_event_leg where tenant_id = $1', [tenantId])).rejects.toThrow(/permission/);
  const [event] = await events(tenantId);
  const again = 'insert into webhook_event_leg (tenant_id, crossing_id, ordinal, event_id) values ($1, $2, 0, $3)';
  await expect(database.query(again, [tenantId, crossingId, event?.event_id])).rejects.toThrow(/duplicate/);
});

test('a secret is shown once and stands sealed in the database', async () => {
  const tenantId = await insertTenant(database);
  const { endpointId, secret } = await createEndpoint({ database, secretBox, outbound }, tenantId, { url: URL });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  const [row] = await database.query<{ sealed: Buffer }>('select sealed from webhook_secret where endpoint_id = $1', [
    endpointId,
  ]);
  expect(row?.sealed.includes(secret)).toBe(false);
  expect(secretBox.open(row?.sealed ?? Buffer.of(), `webhook:${tenantId}:${endpointId}`)).toBe(secret);
});

test('a site has at most ten endpoints, also when eleven are asked for at once', async () => {
  const tenantId = await insertTenant(database);
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => endpoint(tenantId)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  await expect(endpoint(tenantId)).rejects.toMatchObject({ code: 'conflict' });
});

test('an endpoint needs a URL we may send to, an event type and a site that exists', async () => {
  const tenantId = await insertTenant(database);
  for (const url of ['http://receiver.example/', 'https://10.0.0.1/', 'http://127.0.0.1:1/', 'nonsense']) {
    await expect(endpoint(tenantId, { url })).rejects.toMatchObject({ code: 'invalid_parameter' });
  }
  await expect(endpoint(tenantId, { eventTypes: [] })).rejects.toMatchObject({ code: 'invalid_parameter' });
  await expect(endpoint('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ code: 'not_found' });
});

test('enabling and disabling say not_found for an endpoint of another site', async () => {
  const [tenantId, other] = [await insertTenant(database), await insertTenant(database)];
  const endpointId = await endpoint(tenantId);
  await expect(updateEndpoint({ database }, other, endpointId, { enabled: false })).rejects.toMatchObject({ code: 'not_found' });
  await expect(updateEndpoint({ database }, other, endpointId, { enabled: true })).rejects.toMatchObject({ code: 'not_found' });
  await updateEndpoint({ database }, tenantId, endpointId, { enabled: false });
  await updateEndpoint({ database }, tenantId, endpointId, { enabled: false });
  await updateEndpoint({ database }, tenantId, endpointId, { enabled: true });
  const [row] = await database.query('select enabled, disabled_reason from webhook_endpoint where endpoint_id = $1', [
    endpointId,
  ]);
  expect(row).toEqual({ enabled: true, disabled_reason: null });
});
