import type { Database } from '../../db/database.ts';
import type { AttemptRecord, WrittenAttempts } from '../../db/webhooks/attempts.ts';
import { recordAttempts } from '../../db/webhooks/attempts.ts';
import type { EndpointRef } from '../../db/webhooks/cooling.ts';
import { disableEndpointRow, disableFailingRows, raiseDisabledAlert } from '../../db/webhooks/endpoints.ts';
import type { Metrics } from '../../domain/metrics.ts';
import { DISABLE_AFTER } from '../../domain/webhook/health.ts';

/** Writes ends of attempts, many at once. */
export interface Recorder {
  /** True when it was written, false when another holder of the lease wrote first. Rejects when the database fails it. */
  record(record: AttemptRecord): Promise<boolean>;
}

interface Waiting {
  readonly record: AttemptRecord;
  readonly settle: (written: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/** Who is told of what was written, once it is committed. */
export interface RecorderListeners {
  readonly metrics?: Metrics | undefined;
  /** An endpoint begins to cool. */
  readonly onCooled?: (endpoint: EndpointRef) => void;
}

const MAX_GROUP = 200;

/**
 * Group commit: what ends while a group is being written joins the next one; no timer. A group that fails is written one by
 * one, so that a poison record fails alone.
 */
export function createRecorder(database: Database, listeners: RecorderListeners = {}): Recorder {
  let queue: Waiting[] = [];
  let isFlushing = false;
  const flush = async (): Promise<void> => {
    if (isFlushing) return;
    isFlushing = true;
    while (queue.length > 0) {
      const group = queue.slice(0, MAX_GROUP);
      queue = queue.slice(MAX_GROUP);
      await writeGroup(database, group, listeners);
    }
    isFlushing = false;
  };
  return {
    record: (record) =>
      new Promise((settle, fail) => {
        queue.push({ record, settle, fail });
        void flush();
      }),
  };
}

async function writeGroup(database: Database, group: readonly Waiting[], listeners: RecorderListeners): Promise<void> {
  try {
    const { written, cooled } = await write(
      database,
      group.map(({ record }) => record),
    );
    for (const { record, settle } of group) {
      if (written.has(record.deliveryId)) listeners.metrics?.count('svc.webhook.attempts', 1, { outcome: outcomeOf(record) });
      settle(written.has(record.deliveryId));
    }
    for (const endpoint of cooled) listeners.onCooled?.(endpoint);
  } catch (error) {
    if (group.length === 1) group[0]?.fail(error);
    else for (const one of group) await writeGroup(database, [one], listeners);
  }
}

async function write(database: Database, records: readonly AttemptRecord[]): Promise<WrittenAttempts> {
  return await database.transaction(async (sql) => {
    const result = await recordAttempts(sql, records);
    const { written } = result;
    for (const { tenantId, deliveryId, endpointId } of records.filter(({ isGone }) => isGone)) {
      if (!written.has(deliveryId)) continue;
      const changed = await disableEndpointRow(sql, tenantId, endpointId, 'gone');
      if (changed === true) await raiseDisabledAlert(sql, tenantId, endpointId, 'the receiver answered 410');
    }
    const failed = records.filter(({ state, counts, deliveryId }) => state !== 'delivered' && counts && written.has(deliveryId));
    if (failed.length > 0) {
      const disabled = await disableFailingRows(sql, failed, DISABLE_AFTER);
      for (const { tenantId, endpointId, detail } of disabled) await raiseDisabledAlert(sql, tenantId, endpointId, detail);
    }
    return result;
  });
}

/** `delivered`, `retry` when another attempt follows, or how the delivery ended. */
function outcomeOf({ state }: AttemptRecord): string {
  return state === 'pending' ? 'retry' : state;
}
