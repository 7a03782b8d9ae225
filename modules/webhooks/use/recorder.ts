import type { Database } from '../../../db/database.ts';
import { isDatabaseOutage } from '../../../db/outage.ts';
import { gathered } from '../../../platform/pacing/gather.ts';
import type { Metrics } from '../../kernel/metrics.ts';
import type { AttemptRecord, WrittenAttempts } from '../store/attempts.ts';
import { recordAttempts } from '../store/attempts.ts';
import { disableEndpointRow, disableFailingRows, raiseDisabledAlert } from '../store/endpoints.ts';
import type { EndpointRef } from '../store/receiver.ts';

/** When an endpoint is disabled by us; a success starts both counts anew, so does enabling it. */
const DISABLE_AFTER = { failingDays: 5, exhaustedInRow: 100 } as const;

/** Writes ends of attempts, many at once. */
export interface Recorder {
  /** True when it was written, false when another holder of the lease wrote first. Rejects when the database fails it. */
  record(record: AttemptRecord): Promise<boolean>;
}

/** Who is told of what was written, once it is committed. */
export interface RecorderListeners {
  readonly metrics?: Metrics | undefined;
  /** An endpoint begins to cool. */
  readonly onCooled?: (endpoint: EndpointRef) => void;
}

const MAX_GROUP = 200;

/** Opens the group commit of ends: a record that cannot be written fails alone. In an outage all of a group fail, and are due again. */
export function createRecorder(database: Database, listeners: RecorderListeners = {}): Recorder {
  const writeGroup = async (_: Database, records: readonly AttemptRecord[]): Promise<readonly boolean[]> => {
    const { written, cooled } = await write(database, records);
    const answers = records.map(({ deliveryId }) => written.has(deliveryId));
    for (const [index, record] of records.entries()) {
      if (answers[index]) listeners.metrics?.count('svc.webhook.attempts', 1, { outcome: outcomeOf(record) });
    }
    for (const endpoint of cooled) listeners.onCooled?.(endpoint);
    return answers;
  };
  const record = gathered(writeGroup, { limit: MAX_GROUP, concurrency: 1, isOutage: isDatabaseOutage });
  return { record: (end) => record(database, end) };
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
