/** What a bench finds out: figures beside their reference, or the reason why there is none. */

/** One figure against its reference in the same run. */
export interface Figure {
  /** Unique over all benches: `quote.rate`. */
  readonly id: string;
  readonly what: string;
  readonly unit: 'req/s' | 'payments/s' | 'rows/s' | 'checks/s' | 'ms' | 'µs' | 'gas' | 'MB' | (string & {});
  /** Medians of the rounds. */
  readonly ours: number;
  readonly reference: number;
  readonly referenceName: string;
  /** As the target states it: the median of the rounds' ratios unless the bench says otherwise. */
  readonly ratio: number;
  /** `≥ 0.55`, `≤ 30 ms`. */
  readonly target: string;
  readonly reached: boolean;
  readonly rounds: number;
  /** Lowest and highest ratio of a round. */
  readonly spread: readonly [number, number];
  readonly notes?: string;
}

/** A figure that could not be measured here; never estimated. */
export interface MissingFigure {
  readonly id: string;
  readonly what: string;
  /** Why. */
  readonly missing: string;
}

/** What alternating rounds found (`alternate`). */
export interface Rounds {
  readonly ours: number;
  readonly reference: number;
  /** ours / reference of every round. */
  readonly ratios: readonly number[];
}

/** A limit on a ratio, or on our own value when `of` says so. */
export interface Target {
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly of?: 'ratio' | 'ours';
}

/** Makes a figure of alternating rounds and judges it; `target` needs exactly one limit. */
export function makeFigure(
  given: Pick<Figure, 'id' | 'what' | 'unit' | 'referenceName' | 'notes'> & { readonly rounds: Rounds; readonly target: Target },
): Figure {
  const { rounds, target, ...rest } = given;
  const ratio = median(rounds.ratios);
  const { atLeast, atMost, of = 'ratio' } = target;
  const judged = of === 'ours' ? rounds.ours : ratio;
  const limit = atLeast ?? atMost;
  if (limit === undefined) throw new RangeError(`the figure ${given.id} has no target`);
  return {
    ...rest,
    ours: rounds.ours,
    reference: rounds.reference,
    ratio,
    target: `${atLeast === undefined ? '≤' : '≥'} ${limit}${of === 'ours' ? ` ${given.unit}` : ''}`,
    reached: atLeast === undefined ? judged <= limit : judged >= limit,
    rounds: rounds.ratios.length,
    spread: [Math.min(...rounds.ratios), Math.max(...rounds.ratios)],
  };
}

/** The middle value; of an even count the mean of the two in the middle. Throws RangeError without any. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new RangeError('there is no median of nothing');
  return (low + high) / 2;
}

/** The value below which `share` (0 to 1) of all values lie: nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const found = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
  if (found === undefined) throw new RangeError('there is no percentile of nothing');
  return found;
}
