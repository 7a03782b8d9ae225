import { AsyncResource } from 'node:async_hooks';

/** How long calls may begin in one turn of the event loop, in milliseconds; the one that begins last may take longer. */
const TURN_MS = 1;

/** A call that waits for a turn to come, and the one behind it. */
interface Waiting {
  readonly begin: () => unknown;
  next: Waiting | null;
}

/** When calls of this turn begin no more; null: none began in it. */
let endsAtMs: number | null = null;
/** The calls that wait: the one that begins next, and the one that arrived last. */
let first: Waiting | null = null;
let last: Waiting | null = null;

/**
 * Begins a call now, or in a turn of the event loop to come, in the order in which they arrived, where others of this turn took a millisecond
 * already. What arrives in one turn is read from its sockets in one go: fifty calls of one caller would otherwise all be begun, and their
 * bodies parsed, before a quote that arrived with them, which memory answers at once, is looked at. Keeps the context it was called in.
 */
export function beginInTurn(begin: () => unknown): void {
  if (first === null && hasTime()) {
    begin();
    return;
  }
  const waiting = { begin: AsyncResource.bind(begin), next: null };
  if (last === null) setImmediate(beginWaiting);
  else last.next = waiting;
  first ??= waiting;
  last = waiting;
}

/** What calls of this turn have left of its time, in milliseconds: other work of the turn makes do with it. */
export function leftOfTurnMs(): number {
  return endsAtMs === null ? TURN_MS : Math.max(0, endsAtMs - performance.now());
}

/** Begins those that wait, as many as have time. Each costs the same, however many wait with it: a turn looks at no other. */
function beginWaiting(): void {
  try {
    while (first !== null && hasTime()) {
      const { begin } = first;
      first = first.next;
      begin();
    }
  } finally {
    if (first === null) last = null;
    else setImmediate(beginWaiting);
  }
}

/** A turn is over when the next immediates run: these are ahead of every call that was made to wait meanwhile. */
function hasTime(): boolean {
  const nowMs = performance.now();
  if (endsAtMs !== null) return nowMs < endsAtMs;
  endsAtMs = nowMs + TURN_MS;
  setImmediate(endTurn);
  return true;
}

function endTurn(): void {
  endsAtMs = null;
}
