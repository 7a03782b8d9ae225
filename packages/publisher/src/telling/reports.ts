/** Reports of what the gate decided, in batches. Kept while the service is away; when there are too many the oldest go, and are counted. */
import type { Client, Report } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import type { Failures } from './failures.ts';
import { factsOf, isAway, isKeyRefused, wordsOf } from './failures.ts';
import { nothingWaits, waits } from './leaving.ts';

const BATCH = 50;
const FLUSH_MS = 2_000;
const RETRY_MS = 10_000;
const MOST = 1_000;

/** Takes reports. */
export interface Reports {
  /** Keeps a report; it leaves within two seconds. Never waits. */
  add(report: Report): void;
  /** Sends what is there. Never rejects. */
  flush(): Promise<void>;
  /** How many were given up since the start. */
  dropped(): number;
  /** True when some wait, and were not just refused. */
  isDue(): boolean;
}

/** Opens the queue. */
export function openReports(deps: {
  readonly client: Client;
  readonly now: () => number;
  readonly breaker: Breaker;
  readonly failures: Failures;
}): Reports {
  const { client, breaker, failures } = deps;
  let queue: Report[] = [];
  let dropped = 0;
  let retryAtMs = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let sending: Promise<void> | null = null;

  /** What could not be sent and may be later. A list that is refused for one of its reports is sent in halves, so that this one goes alone. */
  async function send(batch: readonly Report[]): Promise<readonly Report[]> {
    if (!breaker.mayCall()) return batch;
    const answer = await client.observe(batch);
    breaker.note(!answer.ok && isAway(answer));
    if (answer.ok) return [];
    const isRefused = answer.status === 400 || (answer.status === 403 && answer.code === 'resource_not_owned');
    if (isRefused && batch.length > 1) {
      const half = Math.ceil(batch.length / 2);
      return [...(await send(batch.slice(0, half))), ...(await send(batch.slice(half)))];
    }
    const what = isKeyRefused(answer) && !isRefused ? 'key' : 'report';
    failures.note({
      what,
      message: `${wordsOf(answer)}; ${isRefused ? 'the report is lost' : 'reports wait'}`,
      ...factsOf(answer),
    });
    if (isRefused) dropped += batch.length;
    return isRefused ? [] : batch;
  }
  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, BATCH);
      queue = queue.slice(BATCH);
      const left = await send(batch);
      if (left.length === 0) continue;
      queue = [...left, ...queue];
      trim();
      retryAtMs = deps.now() + RETRY_MS;
      schedule(RETRY_MS);
      return;
    }
    nothingWaits(leave);
  }
  const trim = (): void => {
    if (queue.length <= MOST) return;
    dropped += queue.length - MOST;
    queue = queue.slice(-MOST);
  };
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    sending ??= sendAll().finally(() => (sending = null));
    return sending;
  };
  const isDue = (): boolean => queue.length > 0 && deps.now() >= retryAtMs;
  /** Once only while the service is away: a process that ends does not wait for it to come back. */
  const leave = (): void => void (isDue() && flush());
  const schedule = (ms: number): void => {
    if (timer !== null) return;
    timer = setTimeout(() => void flush(), ms);
    // Under Node a report that waits must not keep a process alive; it leaves with it.
    (timer as { unref?: () => void }).unref?.();
  };
  return {
    add: (report) => {
      queue.push(report);
      trim();
      waits(leave);
      schedule(FLUSH_MS);
    },
    flush,
    dropped: () => dropped,
    isDue,
  };
}
