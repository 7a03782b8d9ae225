/** What the workflow of a receiver that does not answer starts with. */
export interface RetryStart {
  readonly tenantId: string;
  readonly endpointId: string;
  /** How many probes of this cooling were scheduled, that of a run it continues included; 0 at first. */
  readonly probes: number;
}

/** What the workflow is told after a step. */
export type RetryOutcome =
  /** Nothing waits for another attempt and the endpoint does not cool. */
  { readonly kind: 'ended'; readonly why: 'recovered' | 'disabled' | 'nothing_waits' } | RetryWait;

/** What waits at a receiver, and for how long. */
export interface RetryWait {
  readonly kind: 'waits';
  readonly state: 'retrying' | 'cooling' | 'paused';
  readonly probes: number;
  /** Until the next step. */
  readonly waitMs: number;
  /** Deliveries that failed and are tried again, up to a thousand. */
  readonly deliveries: number;
  /** What is done next: `probe`, or the number of the attempt; null while paused. */
  readonly next: string | null;
  /** Why the last attempt of the delivery that is next failed. */
  readonly reason: string | null;
}

/** A step that found an attempt due, and no slot for it, is made again after so long. */
const STEP_AGAIN_MS = 1_000;

/** The pause before probe number `round` (from 1), in ms: doubles from `firstMs`, at most `mostMs`. */
export function probeDelayMs(round: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(round - 1, 30));
}

/** A receiver's rows after a step; times in ms from now, negative when past. */
export interface Receiver {
  readonly enabled: boolean;
  readonly cools: boolean;
  /** When its next probe is due; null when it does not cool. */
  readonly probeInMs: number | null;
  /** How long it is still paused; null when it is not. */
  readonly pausedMs: number | null;
  readonly failuresInRow: number;
  readonly deliveries: number;
  /** When the next attempt is due, or the lease of one that is being made ends; null when none waits. */
  readonly dueInMs: number | null;
  readonly attempt: number | null;
  readonly reason: string | null;
}

/** What follows for a receiver's workflow from its rows. */
export function outcomeOf(receiver: Receiver, probes: number): RetryOutcome {
  const { cools, probeInMs, pausedMs, deliveries, dueInMs, attempt, reason } = receiver;
  if (deliveries === 0 && !cools) return { kind: 'ended', why: endOf(receiver) };
  const wait = { kind: 'waits', probes: cools ? probes : 0, deliveries, reason } as const;
  if (pausedMs !== null) return { ...wait, state: 'paused', waitMs: pausedMs, next: null };
  const isProbe = probeInMs !== null && probeInMs < (dueInMs ?? Number.POSITIVE_INFINITY);
  const waitMs = Math.max(STEP_AGAIN_MS, isProbe ? probeInMs : (dueInMs ?? 0));
  return { ...wait, state: cools ? 'cooling' : 'retrying', waitMs, next: isProbe ? 'probe' : String(attempt ?? '') };
}

function endOf({ enabled, failuresInRow }: Receiver): 'recovered' | 'disabled' | 'nothing_waits' {
  if (!enabled) return 'disabled';
  return failuresInRow === 0 ? 'recovered' : 'nothing_waits';
}
