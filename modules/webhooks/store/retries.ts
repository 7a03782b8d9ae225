import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { bucketOf } from '../rules/endpoint.ts';
import type { EndpointRef } from './receiver.ts';
import { changeOf, pendingAt } from './receiver.ts';
import { notifyDispatchers } from './redeliver.ts';

/** A pause that begins within this time after another belongs to it: between them too little is sent for a long queue to end. */
const SAME_PAUSE = "interval '1 hour'";

/**
 * Sends nothing to an endpoint for `forMs`, at most until `mostMs` after the first of the pauses that follow one another. False, with the row
 * as it was, when that time is over.
 */
export async function pauseEndpointRow(
  sql: Sql,
  endpoint: EndpointRef,
  { forMs, mostMs }: { readonly forMs: number; readonly mostMs: number },
): Promise<boolean> {
  const now = 'now()'; // one time for all of the statement
  const since = `case when paused_until > ${now} - ${SAME_PAUSE} then coalesce(paused_since, ${now}) else ${now} end`;
  const last = text<Date>`${text.raw(since)} + ${mostMs} * interval '1 millisecond'`;
  const paused = changeOf(endpoint)
    .set({
      pausedSince: text.raw<Date>(since),
      pausedUntil: text<Date>`least(now() + ${forMs} * interval '1 millisecond', ${last})`,
      updatedAt: text<Date>`now()`,
    })
    .where(text<boolean>`${last} > now()`);
  return (await run(sql, paused.returning('endpointId'))).length > 0;
}

/** Ends the pause of an endpoint, whose end stays to be read. False, with the row as it was, when it was not paused. */
export async function resumeEndpointRow(sql: Sql, endpoint: EndpointRef): Promise<boolean> {
  const now = text<Date>`date_trunc('milliseconds', now())`; // the column would round it up, to a pause of less than a millisecond
  const resumed = changeOf(endpoint).set({ pausedUntil: now, updatedAt: now }).where('pausedUntil', '>', now);
  return (await run(sql, resumed.returning('endpointId'))).length > 0;
}

/**
 * Makes the attempts that wait at an endpoint, and its probe, due now: of how many attempts, and whether there was anything to change. Run it
 * in a database transaction.
 */
export async function skipWaits(
  sql: Sql,
  endpoint: EndpointRef,
): Promise<{ readonly deliveries: number; readonly hasChanged: boolean }> {
  const now = text<Date>`clock_timestamp()`;
  const probe = changeOf(endpoint).set({ cooledUntil: now }).where('cooledUntil', '>', now);
  const probes = await run(sql, probe.returning('endpointId'));
  const moved = tables
    .updateTable('delivery')
    .set({ dueAt: now })
    .where('bucket', '=', bucketOf(endpoint.endpointId))
    .where('tenantId', '=', endpoint.tenantId)
    .where('endpointId', '=', endpoint.endpointId)
    .where('state', '=', 'pending')
    .where('retrying', '=', true)
    .where('dueAt', '>', now);
  const deliveries = (await run(sql, moved.returning('deliveryId'))).length;
  return { deliveries, hasChanged: deliveries + probes.length > 0 };
}

/** When what waits at an endpoint is tried again, as the audit log shows it; null when there is no such endpoint. */
export async function readWaits(
  sql: Sql,
  { tenantId, endpointId }: EndpointRef,
): Promise<{ readonly pausedUntil: Date | null; readonly nextAttemptAt: Date | null } | null> {
  const endpoint = tables
    .selectFrom('webhook_endpoint')
    .where('tenantId', '=', tenantId)
    .where('endpointId', '=', endpointId)
    .where('deletedAt', 'is', null)
    .select(text<Date | null>`case when paused_until > now() then paused_until end`.as('pausedUntil'));
  const [row] = await run(sql, endpoint);
  if (row === undefined) return null;
  const next = pendingAt({ tenantId, endpointId }).where('d.retrying', '=', true).select('d.dueAt');
  const [first] = await run(sql, next.orderBy('d.dueAt').limit(1));
  return { ...row, nextAttemptAt: first?.dueAt ?? null };
}

/** Has a worker signal the workflow of an endpoint at commit, since rows that it goes by were changed. */
export async function notifyEndpoint(sql: Sql, { tenantId, endpointId }: EndpointRef): Promise<void> {
  await notifyDispatchers(sql, `${tenantId} ${endpointId}`);
}
