import { buildAnomalyData } from './anomalyEvent.ts';
import type { EventData, EventType } from './event.ts';
import { buildSettlementData } from './event.ts';

/** How event ids of pings begin; a replay leaves them out. */
export const PING_PREFIX = 'evt_ping_';

/** The data of a test event: a settlement of nothing, or an anomaly with a sentence that says so. Only this endpoint gets it. */
export function buildPingData(type: EventType, tenantId: string, nowMs: number): EventData {
  if (type === 'settlement.completed') {
    return buildSettlementData({ tenantId, host: '', window: { toMs: nowMs, spanMs: 0 } }, []);
  }
  const data = { ...buildAnomalyData({ metric: 'agent_hits', rangeKey: '1h', threshold: 1, host: null }, 0) };
  const test = { ...data, detail: 'This is a test of your endpoint; nothing was detected.' };
  return { detailed: test, summary: test };
}
