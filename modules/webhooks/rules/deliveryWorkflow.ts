/** What the durable workflow of a delivery starts with: ids, the number of its next attempt, and when it is due (epoch ms). */
export interface RetryStart {
  readonly tenantId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly dueAtMs: number;
}

/** What the workflow is told after asking for an attempt. */
export type AttemptOutcome =
  /** Nothing more to do: `delivered`, `failed`, `exhausted` (or `missing`). */
  | { readonly kind: 'ended'; readonly state: string }
  /** It failed; this is the next one. */
  | { readonly kind: 'retry'; readonly attempt: number; readonly dueAtMs: number }
  /** Both slots of the endpoint are taken; no attempt was used. */
  | { readonly kind: 'busy' };

/** How long a workflow waits after its `round`th `busy` in a row (from 0), or after a fault of ours, in ms: 1 s to 60 s. */
export function busyDelayMs(round: number): number {
  return Math.min(60_000, 1_000 * 2 ** Math.min(round, 6));
}
