import type { Database } from '../../db/database.ts';
import type { AttemptRecord } from '../../db/webhooks/attempts.ts';
import { recordAttempts } from '../../db/webhooks/attempts.ts';
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

const MAX_GROUP = 200;

/**
 * Group commit: what ends while a group is being written joins the next one; no timer. A group that fails is written one by
 * one, so that a poison record fails alone.
 */
export function createRecorder(database: Database, metrics?: Metrics): Recorder {
  let queue: Waiting[] = [];
  let isFlushing = false;
  const flush = async (): Promise<void> => {
    if (isFlushing) return;
    isFlushing = true;
    while (queue.length > 0) {
      const group = queue.slice(0, MAX_GROUP);
      queue = queue.slice(MAX_GROUP);
      await writeGroup(database, group, metrics);
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

async function writeGroup(database: Database, group: readonly Waiting[], metrics?: Metrics): Promise<void> {
  try {
    const written = await write(
      database,
      group.map(({ record }) => record),
    );
    for (const { record, settle } of group) {
      if (written.has(record.deliveryId)) metrics?.count('svc.webhook.attempts', 1, { outcome: outcomeOf(record) });
      settle(written.has(record.deliveryId));
    }
  } catch (error) {
    if (group.length === 1) group[0]?.fail(error);
    else for (const one of group) await writeGroup(database, [one], metrics);
  }
}

async function write(database: Database, records: readonly AttemptRecord[]): Promise<Set<string>> {
  return await database.transaction(async (sql) => {
    const written = await recordAttempts(sql, records);
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
    return written;
  });
}

/** `delivered`, `retry` when another attempt follows, or how the delivery ended. */
function outcomeOf({ state }: AttemptRecord): string {
  return state === 'pending' ? 'retry' : state;
}
