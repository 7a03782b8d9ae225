import { createHash } from 'node:crypto';
import type { Database, Sql } from '../../../db/database.ts';
import type { UnannouncedCrossing } from '../rules/event.ts';
import { buildSettlementData, MAX_CROSSINGS_AT_ONCE, settlementEventKey, splitByBytes } from '../rules/event.ts';
import type { EventWindow } from '../rules/window.ts';
import { isOver, openWindow, sleepBeforeNextClose } from '../rules/window.ts';
import { listOpenHosts, lockWindow, recordEventLegs, recordWindowClosed, takeUnannounced } from '../store/events.ts';
import { storeEvent } from './storeEvent.ts';

/** What one look at the windows did. */
export interface ClosedWindows {
  readonly events: number;
  /** How long nobody needs to look again, in ms. */
  readonly nextInMs: number;
}

/**
 * Closes every window that is over: its event, the event's legs and one delivery for each endpoint that wants it are written in
 * the database transaction that takes the crossings out of the outbox, so that each leg is announced once, whatever is repeated.
 * Two calls at once close a window once; a host that fails does not hold up the others, its error is thrown at the end.
 */
export async function closeDueWindows(database: Database, spanMs: number): Promise<ClosedWindows> {
  const { nowMs, hosts } = await listOpenHosts(database);
  const openEnds: number[] = [];
  const failures: unknown[] = [];
  let events = 0;
  for (const { tenantId, host, oldestMs, closedUntilMs } of hosts) {
    const window = openWindow(oldestMs, closedUntilMs, spanMs);
    if (!isOver(window, nowMs)) {
      openEnds.push(window.toMs);
      continue;
    }
    try {
      events += await database.transaction((sql) => closeWindow(sql, tenantId, host, spanMs));
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} event windows could not be closed`);
  return { events, nextInMs: sleepBeforeNextClose(openEnds, nowMs, spanMs) };
}

/** Closes one host's window if, seen under its lock, it is over; returns the number of events made. */
async function closeWindow(sql: Sql, tenantId: string, host: string, spanMs: number): Promise<number> {
  const state = await lockWindow(sql, tenantId, host);
  if (state === null) return 0;
  const window = openWindow(state.oldestMs, state.closedUntilMs, spanMs);
  if (!isOver(window, state.nowMs)) return 0;
  let events = 0;
  for (;;) {
    const crossings = await takeUnannounced(sql, tenantId, host, window.toMs);
    for (const part of splitByBytes(crossings)) {
      await announce(sql, { tenantId, host, window }, part);
      events += 1;
    }
    if (crossings.length < MAX_CROSSINGS_AT_ONCE) break;
  }
  await recordWindowClosed(sql, tenantId, host, window.toMs);
  return events;
}

async function announce(
  sql: Sql,
  place: { readonly tenantId: string; readonly host: string; readonly window: EventWindow },
  crossings: readonly UnannouncedCrossing[],
): Promise<void> {
  const { tenantId, host } = place;
  const eventId = `evt_${createHash('sha256').update(settlementEventKey(place, crossings)).digest('base64url').slice(0, 32)}`;
  await storeEvent(sql, { tenantId, eventId, type: 'settlement.completed', host, ...buildSettlementData(place, crossings) });
  await recordEventLegs(sql, tenantId, eventId, crossings);
}
