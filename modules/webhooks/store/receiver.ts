import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { acrossSites, run, tables } from '../../../db/statement.ts';
import { bucketOf } from '../rules/endpoint.ts';
import type { Receiver } from '../rules/retrying.ts';
import type { LeasedDelivery } from './leases.ts';
import { IS_LEASED, leaseWithSlot } from './leases.ts';

/** Names one endpoint. */
export interface EndpointRef {
  readonly tenantId: string;
  readonly endpointId: string;
}

/** A delivery's next attempt. */
export interface DueAttempt {
  readonly tenantId: string;
  readonly deliveryId: string;
  readonly attempt: number;
}

/** More than that are `deliveries` of a status no more. */
const MOST_COUNTED = 1_000;

const msFromNow = (time: string) =>
  text.raw<number | null>(`(extract(epoch from ${time} - clock_timestamp()) * 1000)::double precision`);
const nobodyMakes = text.raw<boolean>(`not ${IS_LEASED}`);

const endpointOf = ({ tenantId, endpointId }: EndpointRef) =>
  tables.selectFrom('webhook_endpoint').where('tenantId', '=', tenantId).where('endpointId', '=', endpointId);

/** A change of one endpoint's row. */
export const changeOf = ({ tenantId, endpointId }: EndpointRef) =>
  tables.updateTable('webhook_endpoint').where('tenantId', '=', tenantId).where('endpointId', '=', endpointId);

/** The deliveries `d` of an endpoint that nobody has delivered or given up. */
export const pendingAt = ({ tenantId, endpointId }: EndpointRef) =>
  tables
    .selectFrom('delivery as d')
    .where('d.bucket', '=', bucketOf(endpointId))
    .where('d.tenantId', '=', tenantId)
    .where('d.endpointId', '=', endpointId)
    .where('d.state', '=', 'pending');

/** What waits at an endpoint and when it is due; null when there is no such endpoint. Attempts at a disabled one are due at once: they fail. */
export async function readReceiver(sql: Sql, endpoint: EndpointRef): Promise<Receiver | null> {
  const shown = endpointOf(endpoint).select([
    'enabled',
    'failuresInRow',
    text<boolean>`cooled_until is not null`.as('cools'),
    msFromNow('cooled_until').as('probeInMs'),
    msFromNow('(case when paused_until > clock_timestamp() then paused_until end)').as('pausedMs'),
  ]);
  const [row] = await run(sql, shown);
  if (row === undefined) return null;
  const retrying = pendingAt(endpoint).where('d.retrying', '=', true);
  const waiting = retrying.select(['d.attempts', 'd.reason', msFromNow('d.due_at').as('inMs')]);
  const [next] = await run(sql, waiting.where(nobodyMakes).orderBy('d.dueAt').limit(1));
  const leased = retrying
    .innerJoin('endpoint_lease as l', (on) =>
      on
        .onRef('l.tenantId', '=', 'd.tenantId')
        .onRef('l.endpointId', '=', 'd.endpointId')
        .onRef('l.deliveryId', '=', 'd.deliveryId'),
    )
    .where('l.leasedUntil', '>', text<Date>`clock_timestamp()`)
    .select(['d.attempts', 'd.reason', msFromNow('l.leased_until').as('inMs')]);
  const [made] = await run(sql, leased.orderBy('l.leasedUntil').limit(1));
  const some = await run(sql, retrying.select('d.deliveryId').limit(MOST_COUNTED));
  const first = next ?? made;
  const due = [next && (row.enabled ? next.inMs : 0), made?.inMs].filter((ms) => typeof ms === 'number');
  return {
    ...row,
    deliveries: some.length,
    dueInMs: due.length === 0 ? null : Math.min(...due),
    attempt: first === undefined ? null : first.attempts + 1,
    reason: first?.reason ?? null,
  };
}

/**
 * Attempts of an endpoint that are due and that nobody makes, the most overdue first, at most `limit`; at a disabled one all of them, which
 * fail.
 */
export async function listDueAttempts(
  sql: Sql,
  endpoint: EndpointRef,
  { enabled, limit }: { readonly enabled: boolean; readonly limit: number },
): Promise<DueAttempt[]> {
  const free = pendingAt(endpoint).where('d.retrying', '=', true).where(nobodyMakes);
  const due = enabled ? free.where('d.dueAt', '<=', text<Date>`clock_timestamp()`) : free;
  const chosen = due.select(['d.tenantId', 'd.deliveryId', text<number>`d.attempts + 1`.as('attempt')]);
  return await run(sql, chosen.orderBy('d.dueAt').orderBy('d.deliveryId').limit(limit));
}

/** Says when a cooling endpoint's next probe is due; one that does not cool stays as it is. */
export async function scheduleProbe(sql: Sql, endpoint: EndpointRef, inMs: number): Promise<void> {
  const due = { cooledUntil: text<Date>`clock_timestamp() + ${inMs} * interval '1 millisecond'` };
  await run(sql, changeOf(endpoint).set(due).where('cooledUntil', 'is not', null));
}

/** Lets the first attempts of an endpoint go out again; its count of failures stays. */
export async function releaseEndpoint(sql: Sql, endpoint: EndpointRef): Promise<void> {
  await run(sql, changeOf(endpoint).set({ cooledUntil: null }));
}

/** What leasing a probe came to: `busy` when no slot is free or every row is leased, `none` when nothing waits. */
export type ProbeLease =
  | { readonly kind: 'leased'; readonly delivery: LeasedDelivery }
  | { readonly kind: 'busy' }
  | { readonly kind: 'none' };

/**
 * Leases the oldest delivery of an endpoint that waits for its first attempt, cooling or not. Run it in a database transaction.
 */
export async function leaseOldest(sql: Sql, endpoint: EndpointRef, leaseMs: number): Promise<ProbeLease> {
  const waits = pendingAt(endpoint).where('d.retrying', '=', false).select('d.deliveryId').limit(1);
  const [row] = await run(sql, waits.where(nobodyMakes).orderBy('d.deliveryId').forUpdate('d').skipLocked());
  if (row === undefined) return { kind: (await run(sql, waits)).length > 0 ? 'busy' : 'none' };
  const { tenantId, endpointId } = endpoint;
  const delivery = await leaseWithSlot(sql, { tenantId, endpointId, deliveryId: row.deliveryId }, leaseMs);
  return delivery === null ? { kind: 'busy' } : { kind: 'leased', delivery };
}

/**
 * Endpoints of the buckets [from, to) whose workflow should look: an attempt or a probe is overdue by more than `overdueMs`, so it seems
 * to be missing, or the endpoint was disabled and its attempts are to fail. The most overdue first, at most a thousand, and none that is
 * paused.
 */
export async function listOverdueEndpoints(
  sql: Sql,
  range: { readonly from: number; readonly to: number },
  overdueMs: number,
): Promise<EndpointRef[]> {
  const late = text<Date>`clock_timestamp() - ${overdueMs} * interval '1 millisecond'`;
  const all = acrossSites('a worker');
  const endpoints = all
    .selectFrom('webhook_endpoint as e')
    .select(['e.tenantId', 'e.endpointId'])
    .where(text<boolean>`(e.paused_until is null or e.paused_until <= clock_timestamp())`);
  const probes = endpoints
    .select('e.cooledUntil as dueAt')
    .where('e.cooledUntil', '<', late)
    .where(text<boolean>`('x' || right(e.endpoint_id::text, 2))::bit(8)::integer between ${range.from} and ${range.to - 1}`);
  const attempts = endpoints
    .innerJoin('delivery as d', (on) => on.onRef('d.tenantId', '=', 'e.tenantId').onRef('d.endpointId', '=', 'e.endpointId'))
    .select(text<Date | null>`d.due_at`.as('dueAt'))
    .where('d.bucket', '>=', range.from)
    .where('d.bucket', '<', range.to)
    .where('d.state', '=', 'pending')
    .where('d.retrying', '=', true)
    .where((is) => is.or([is('d.dueAt', '<', late), is('e.enabled', '=', false)]));
  const overdue = all
    .selectFrom(probes.unionAll(attempts).as('overdue'))
    .select(['overdue.tenantId', 'overdue.endpointId'])
    .groupBy(['overdue.tenantId', 'overdue.endpointId']);
  return await run(sql, overdue.orderBy(({ fn }) => fn.min('overdue.dueAt')).limit(1000));
}
