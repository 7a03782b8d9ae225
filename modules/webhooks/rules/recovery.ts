/** What the recovery workflow of a cooling endpoint starts with. */
export interface RecoveryStart {
  readonly tenantId: string;
  readonly endpointId: string;
  /** How many probes were made, that of a run it continues included; 0 at first. */
  readonly round: number;
}

/** What the workflow is told after asking for a probe. */
export type ProbeOutcome =
  /** Nothing more to do: the receiver answers again, the endpoint is disabled, or nothing waits. */
  | { readonly kind: 'ended'; readonly why: 'recovered' | 'disabled' | 'nothing_waits' | 'not_cooling' }
  /** Not yet: ask again after `waitMs`, as that round. */
  | { readonly kind: 'cooling'; readonly round: number; readonly waitMs: number };

/** The pause before probe number `round` (from 1), in ms: doubles from `firstMs`, at most `mostMs`. */
export function probeDelayMs(round: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(round - 1, 30));
}
