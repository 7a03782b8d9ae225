import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { AttemptRecord } from '../../modules/webhooks/store/attempts.ts';
import { recordAttempts } from '../../modules/webhooks/store/attempts.ts';
import type { LeasedDelivery } from '../../modules/webhooks/store/leases.ts';
import { leaseFirstAttempts, leaseRetry } from '../../modules/webhooks/store/leases.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { insertWaiting } from '../support/waiting-deliveries.ts';

const LEASE_MS = 60_000;
const secretBox = createSecretBox(Buffer.alloc(32, 9));
const outbound = { checkUrl: () => ({ ok: true }) } as never;
let own: TestDatabase;
let database: Database;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 8 });
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

async function endpoint(
  deliveries: number,
): Promise<{ readonly tenantId: string; readonly endpointId: string; readonly ids: string[] }> {
  const tenantId = await insertTenant(database);
  const settings = { url: 'https://receiver.example/', eventTypes: ['settlement.completed'] } as const;
  const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, settings);
  return { tenantId, endpointId, ids: await insertWaiting(database, tenantId, endpointId, deliveries) };
}

const lease = (leaseMs = LEASE_MS): Promise<LeasedDelivery[]> =>
  database.transaction((sql) => leaseFirstAttempts(sql, { from: 0, to: 256 }, 200, leaseMs));

const ended = (delivery: LeasedDelivery, state: 'delivered' | 'pending' = 'delivered'): AttemptRecord => ({
  ...delivery,
  startedAtMs: Date.now(),
  durationMs: 1,
  status: state === 'delivered' ? 200 : 500,
  responseStart: '',
  counts: true,
  reason: state === 'delivered' ? null : 'status_500',
  state,
  dueAtMs: state === 'delivered' ? null : Date.now(),
  isGone: false,
});
const record = async (deliveries: readonly AttemptRecord[]): Promise<ReadonlySet<string>> =>
  (await database.transaction((sql) => recordAttempts(sql, deliveries))).written;

test('dispatchers that lease and record at once, over the same endpoints, lease each delivery once and two of an endpoint at a time', async () => {
  const sites = await Promise.all(Array.from({ length: 4 }, () => endpoint(40)));
  const leased: string[] = [];
  const inFlight = new Map<string, number>();
  const count = (endpointId: string, by: number): number => {
    const now = (inFlight.get(endpointId) ?? 0) + by;
    inFlight.set(endpointId, now);
    return now;
  };
  const dispatch = async (): Promise<void> => {
    while (leased.length < 160) {
      const some = await lease();
      for (const { deliveryId, endpointId } of some) {
        leased.push(deliveryId);
        expect(count(endpointId, 1)).toBeLessThanOrEqual(2);
      }
      for (const { endpointId } of some) count(endpointId, -1);
      await record(some.map((delivery) => ended(delivery)));
    }
  };
  await Promise.all(Array.from({ length: 6 }, dispatch));
  expect(leased.toSorted()).toEqual(sites.flatMap(({ ids }) => ids).toSorted());
});

test('a lease that ended is given again, at either slot; its former holder then records a success only', async () => {
  const { tenantId, endpointId } = await endpoint(1);
  const [late] = (await lease(0)).filter((delivery) => delivery.tenantId === tenantId);
  // The first slot is taken by another delivery meanwhile, so that the second lease has the other slot and the first one's still names its own.
  const hold = (until: string) =>
    database.query('update endpoint_lease set leased_until = $2 where endpoint_id = $1 and slot = $3', [
      endpointId,
      until,
      late?.slot,
    ]);
  await hold('infinity');
  await database.query('update endpoint_lease set delivery_id = $2 where endpoint_id = $1 and slot = $3', [
    endpointId,
    'dlv_another',
    late?.slot,
  ]);
  const [next] = (await lease()).filter((delivery) => delivery.tenantId === tenantId);
  await hold('-infinity');
  expect(next?.deliveryId).toBe(late?.deliveryId);
  expect(next?.slot).not.toBe(late?.slot);
  expect(await lease()).toEqual([]);
  expect(await record([ended(late as LeasedDelivery, 'pending')])).toEqual(new Set());
  expect(await record([ended(late as LeasedDelivery)])).toEqual(new Set([late?.deliveryId]));
  expect(await record([ended(next as LeasedDelivery)])).toEqual(new Set());
});

test('a delivery that another dispatcher records between the look and the lock is not leased', async () => {
  const { tenantId, endpointId, ids } = await endpoint(1);
  const [held] = (await lease()).filter((delivery) => delivery.tenantId === tenantId);
  const freed = 'update endpoint_lease set leased_until = $2 where endpoint_id = $1';
  await database.query(freed, [endpointId, '-infinity']);
  const leased = await database.transaction(async (sql) => {
    // Another transaction has the delivery's row and is about to end it: the look sees it as it was.
    await sql.query('select from delivery where delivery_id = $1 for update', [held?.deliveryId]);
    const seen = await lease();
    await sql.query("update delivery set state = 'delivered', decided_at = now() where delivery_id = $1", [held?.deliveryId]);
    return seen;
  });
  expect(leased.map(({ deliveryId }) => deliveryId)).not.toContain(ids[0]);
  expect(leased.filter((delivery) => delivery.tenantId === tenantId)).toEqual([]);
});

test('a retry that is on its way is busy to a second one, and so is a third while both slots are taken', async () => {
  const { tenantId, endpointId } = await endpoint(0);
  const more = { retrying: true, attempts: 1, body: '{}' };
  const [one, two, three] = await insertWaiting(database, tenantId, endpointId, 3, more);
  const retry = (deliveryId = '') =>
    database.transaction(async (sql) => (await leaseRetry(sql, { tenantId, deliveryId, attempt: 2 }, LEASE_MS)).kind);
  expect((await Promise.all([retry(one), retry(one)])).toSorted()).toEqual(['busy', 'leased']);
  expect(await retry(two)).toBe('leased');
  expect(await retry(three)).toBe('busy');
});

test('nothing is leased of an endpoint that is paused, neither a first attempt nor a later one, until the pause is over', async () => {
  const { tenantId, endpointId, ids } = await endpoint(1);
  const [failed = ''] = await insertWaiting(database, tenantId, endpointId, 1, { retrying: true, attempts: 1, body: '{}' });
  const pause = (until: string) =>
    database.query(`update webhook_endpoint set paused_until = now() + interval '${until}' where endpoint_id = $1`, [endpointId]);
  const key = { tenantId, deliveryId: failed, attempt: 2 };
  const retry = () => database.transaction(async (sql) => (await leaseRetry(sql, key, LEASE_MS)).kind);
  const firsts = async () => (await lease()).flatMap((one) => (one.endpointId === endpointId ? [one.deliveryId] : []));
  await pause('1 hour');
  expect([await firsts(), await retry()]).toEqual([[], 'none']);
  await pause('-1 second');
  expect([await firsts(), await retry()]).toEqual([ids, 'leased']);
});
