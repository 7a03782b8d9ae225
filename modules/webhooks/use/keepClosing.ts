import { setTimeout as wait } from 'node:timers/promises';
import { CLOSE_AHEAD_MS } from '../rules/window.ts';
import type { ClosedWindows } from './closeWindows.ts';
import { closeDueWindows } from './closeWindows.ts';
import type { WebhookDeps } from './deps.ts';

/** One pass of the closing activity, in ms. */
const PASS_MS = 60_000;

/**
 * Closes windows at the moment they end, for as long as the next one ends soon, at most a minute; then says how long nobody
 * needs to look. Ends early when the worker stops or `cancelled` aborts.
 */
export async function keepClosing(
  deps: Pick<WebhookDeps, 'database' | 'windowMs' | 'stopping'>,
  cancelled: AbortSignal,
): Promise<ClosedWindows> {
  const signal = AbortSignal.any([deps.stopping, cancelled]);
  const endsAt = performance.now() + PASS_MS;
  let events = 0;
  for (;;) {
    const closed = await closeDueWindows(deps.database, deps.windowMs);
    events += closed.events;
    if (closed.nextInMs > CLOSE_AHEAD_MS || performance.now() > endsAt || signal.aborted) return { ...closed, events };
    await wait(Math.max(1, closed.nextInMs), undefined, { signal }).catch(() => undefined);
  }
}
