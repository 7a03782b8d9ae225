import { LRUCache } from 'lru-cache';
import type { RateKind } from '../../platform/pacing/rates.ts';
import type { Log } from '../../platform/telemetry/log.ts';

/** A caller is named again after this time, and so many are remembered: a flood of addresses writes no flood of lines. */
const NAMED = { againMs: 60_000, most: 1_000, linesInMinute: 60 } as const;

/**
 * Names callers above their rates in the log, each once a minute, and sixty in a minute at most: the metric only says of which kind they
 * are. A key, a site and an account are named by id, an address as it is.
 */
export function createLimitedLog(log: Pick<Log, 'info'>, clock: () => number): (kind: RateKind, name: string) => void {
  const named = new LRUCache<string, true>({ max: NAMED.most, ttl: NAMED.againMs, ttlResolution: 0, perf: { now: clock } });
  let minute = { beganMs: clock(), lines: 0 };
  return (kind, name) => {
    const nowMs = clock();
    if (nowMs - minute.beganMs >= NAMED.againMs) minute = { beganMs: nowMs, lines: 0 };
    const key = `${kind} ${name}`;
    if (minute.lines >= NAMED.linesInMinute || named.has(key)) return;
    named.set(key, true);
    minute.lines += 1;
    log.info({ limited: kind, caller: name }, 'a caller is above its rate and gets 429');
  };
}
