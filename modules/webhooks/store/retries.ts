import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { bucketOf } from '../rules/endpoint.ts';
import type { EndpointRef } from './receiver.ts';
import { changeOf, pendingAt } from './receiver.ts';
import { notifyDispatchers } from './redeliver.ts';

/** Sends nothing to an endpoint for so long; 0: from now on it is sent to again. */
export async function pauseEndpointRow(sql: Sql, endpoint: EndpointRef, forMs: number): Promise<void> {
  const pausedUntil = forMs > 0 ? text<Date>`clock_timestamp() + ${forMs} * interval '1 millisecond'` : null;
  await run(sql, changeOf(endpoint).set({ pausedUntil, updatedAt: text<Date>`now()` }));
}

/** Makes the attempts that wait at an endpoint, and its probe, due now. How many attempts. Run it in a database transaction. */
export async function skipWaits(sql: Sql, endpoint: EndpointRef): Promise<number> {
  const now = text<Date>`clock_timestamp()`;
  await run(sql, changeOf(endpoint).set({ cooledUntil: now }).where('cooledUntil', '>', now));
  const moved = tables
    .updateTable('delivery')
    .set({ dueAt: now })
    .where('bucket', '=', bucketOf(endpoint.endpointId))
    .where('tenantId', '=', endpoint.tenantId)
    .where('endpointId', '=', endpoint.endpointId)
    .where('state', '=', 'pending')
    .where('retrying', '=', true)
    .where('dueAt', '>', now);
  return (await run(sql, moved.returning('deliveryId'))).length;
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
