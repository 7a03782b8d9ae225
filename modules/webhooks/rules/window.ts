/**
 * Windows: settled legs of one tenant and host are announced together. A window opens with the
 * first leg nobody has announced and is closed `spanMs` later; a leg that comes late goes to the next one.
 */

/** A window in epoch milliseconds; `toMs` does not belong to it. */
export interface EventWindow {
  readonly toMs: number;
  readonly spanMs: number;
}

/**
 * The window that holds the oldest unannounced crossing of a host. `closedUntilMs` is the end of the host's last closed
 * window, null before the first: what is older than that came late and waits for a whole window more.
 */
export function openWindow(oldestMs: number, closedUntilMs: number | null, spanMs: number): EventWindow {
  return { toMs: Math.max(oldestMs, closedUntilMs ?? oldestMs) + spanMs, spanMs };
}

/** True once the window's end has come. */
export function isOver(window: EventWindow, nowMs: number): boolean {
  return nowMs >= window.toMs;
}

/**
 * How long the closing workflow may sleep, in milliseconds: until the first open window ends, and never longer than a span,
 * since a crossing recorded right after this look needs a whole span. `endsMs` are the ends of the windows still open.
 */
export function sleepBeforeNextClose(endsMs: readonly number[], nowMs: number, spanMs: number): number {
  const first = endsMs.reduce((least, end) => Math.min(least, end), nowMs + spanMs);
  return Math.max(0, Math.min(first - nowMs, spanMs));
}

/**
 * A durable timer may fire a second late: the closing workflow sleeps until so long before a window's end, in ms, and the
 * activity waits for the rest.
 */
export const CLOSE_AHEAD_MS = 2_500;
