import type { PaymentState } from '../../modules/kernel/payment/state.ts';
import type { PaymentEvent } from '../../modules/settlement/rules/machine.ts';

/** Every (event, from state) that changes something in `decide()`; a unit test compares this list with the machine. */
export const TRANSITIONS: readonly (readonly [PaymentEvent['type'], readonly PaymentState[]])[] = [
  ['claimed', ['accepted']],
  ['refused', ['accepted']],
  ['unsent', ['broadcast']],
  ['itemFailed', ['broadcast']],
  ['evidence', ['accepted', 'held', 'broadcast', 'settled', 'final', 'failed', 'superseded', 'expired', 'review']],
  ['spentOtherwise', ['accepted', 'held', 'broadcast', 'review']],
  ['unusable', ['accepted', 'held', 'broadcast', 'failed', 'superseded', 'expired', 'review']],
  ['reorged', ['settled', 'final']],
  ['safe', ['settled']],
  ['released', ['held']],
  ['superseded', ['held']],
  ['lapsed', ['held']],
  ['overdue', ['broadcast']],
  ['contradicted', ['failed', 'superseded', 'expired']],
];

/** Steps of the money path that change rows but no payment's state, or insert one. */
const COMMITS = [
  'inserted:accepted',
  'inserted:held',
  'inserted:superseded',
  'replaced:settle',
  'replaced:void',
  'closed:batch',
  'reopened:batch',
  'final:batch',
  'adopted:nonce',
];
/** Calls that send bytes: a claimed batch, a batch after a reorg, any batch again, a void. */
const CALLS = ['send:claimed', 'send:reorged', 'send:again', 'send:void'];
const COMMIT_POINTS = ['no crash', 'before commit', 'after commit'];
const CALL_POINTS = ['no crash', 'before call', 'after call, before reply'];

/** All cells `step @ crash point` that the schedules of a run must hit. */
export const CELLS: readonly string[] = [
  ...TRANSITIONS.flatMap(([event, states]) => states.map((state) => `${event}:${state}`))
    .concat(COMMITS)
    .flatMap((step) => COMMIT_POINTS.map((point) => `${step} @ ${point}`)),
  ...CALLS.flatMap((step) => CALL_POINTS.map((point) => `${step} @ ${point}`)),
];

/** Steps that schedules reach seldom: a crash is tried there more often. */
const RARE = new Set([
  'evidence:final',
  'evidence:settled',
  'evidence:held',
  'evidence:review',
  'evidence:expired',
  'evidence:superseded',
  'spentOtherwise:accepted',
  'spentOtherwise:held',
  'spentOtherwise:review',
  'overdue:broadcast',
  'lapsed:held',
  'contradicted:failed',
  'contradicted:superseded',
  'contradicted:expired',
  'evidence:failed',
  'evidence:accepted',
  'spentOtherwise:broadcast',
  'itemFailed:broadcast',
  'inserted:superseded',
  'replaced:settle',
  'replaced:void',
  'unusable:expired',
  'unusable:broadcast',
  'unusable:review',
  'unusable:accepted',
  'unusable:held',
  'reorged:final',
  'reorged:settled',
  'send:reorged',
  'reopened:batch',
]);

/** Counts which cells were hit. */
export class Coverage {
  readonly hits = new Map<string, number>();

  /** Notes that a step ran through, or died at, a crash point. */
  hit(step: string, point: string): void {
    const cell = `${step} @ ${point}`;
    this.hits.set(cell, (this.hits.get(cell) ?? 0) + 1);
  }

  /** How many times more often than usual a crash is tried in a step. */
  static weight(step: string): number {
    return RARE.has(step) ? 40 : 1;
  }

  /** Cells of the list that no schedule has hit. */
  missing(): readonly string[] {
    return CELLS.filter((cell) => !this.hits.has(cell));
  }

  /** Hit cells that the list does not name: a transition the list forgot. */
  unlisted(): readonly string[] {
    const known = new Set(CELLS);
    return [...this.hits.keys()].filter((cell) => !known.has(cell));
  }

  /** The line for people: `transitions × crash points covered: a/b`. */
  summary(): string {
    return `transitions × crash points covered: ${CELLS.length - this.missing().length}/${CELLS.length}`;
  }
}
