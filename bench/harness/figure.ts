/** What a bench finds out: figures beside their reference, or the reason why there is none. */

import type { Cpu } from './cpu.ts';
import { ownCpu } from './cpu.ts';

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
  /** Milliseconds of CPU an operation, by kind of process: medians of the rounds. */
  readonly cpu?: { readonly ours: Cpu; readonly reference: Cpu | null };
  /** How many times as many operations ours does in a second of CPU: medians of the rounds. */
  readonly cpuRatio?: { readonly withChainAndClient: number; readonly withoutChainAndClient: number };
  /** `≥ 0.55`, `≤ 30 ms`; null for a figure that stands beside others to be seen. */
  readonly target: string | null;
  readonly reached: boolean | null;
  readonly rounds: number;
  /** Lowest and highest ratio of a round. */
  readonly spread: readonly [number, number];
  readonly notes?: string;
  /** More that was measured besides, by name. */
  readonly details?: Readonly<Record<string, number>>;
  /** True for one that stands in `results.json` only, so that the page fits a screen; the page tells it when it is not reached. */
  readonly isDetail?: true;
}

/** A figure that could not be measured here; never estimated. */
export interface MissingFigure {
  readonly id: string;
  readonly what: string;
  /** Why. */
  readonly missing: string;
}

/** CPU of alternating rounds. */
export interface RoundsCpu {
  readonly ours: Cpu;
  /** Null where the reference does not tell. */
  readonly reference: Cpu | null;
  /** What the reference takes for one operation / what ours takes, of every round, without chain and client. */
  readonly ratios: readonly number[];
  /** The same with both on both sides. */
  readonly wholeRatios: readonly number[];
}

/** What alternating rounds found (`alternate`). */
export interface Rounds {
  readonly ours: number;
  readonly reference: number;
  /** ours / reference of every round. */
  readonly ratios: readonly number[];
  readonly cpu?: RoundsCpu;
}

/**
 * A limit on a ratio unless `of` says on what: our own value, our own CPU an operation in ms, or how many times as many operations a
 * second of CPU ours does, without chain and client on both sides (`cpuRatio`) or with them (`wholeCpuRatio`).
 */
export interface Target {
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly of?: 'ratio' | 'ours' | 'cpu' | 'cpuRatio' | 'wholeCpuRatio';
}

/**
 * Makes a figure of alternating rounds and judges it; `target` needs exactly one limit, null asks for none. A target of CPU needs
 * rounds that measured it, and is not judged on a system that does not tell.
 */
export function makeFigure(
  given: Pick<Figure, 'id' | 'what' | 'unit' | 'referenceName' | 'notes' | 'details' | 'isDetail'> & {
    readonly rounds: Rounds;
    readonly target: Target | null;
  },
): Figure {
  const { rounds, target, ...rest } = given;
  const { cpu } = rounds;
  const ratio = median(rounds.ratios);
  return {
    ...rest,
    ours: rounds.ours,
    reference: rounds.reference,
    ratio,
    ...(cpu === undefined ? {} : { cpu: { ours: cpu.ours, reference: cpu.reference } }),
    ...cpuRatioOf(cpu),
    ...judge(given, target),
    rounds: rounds.ratios.length,
    spread: [Math.min(...rounds.ratios), Math.max(...rounds.ratios)],
  };
}

function cpuRatioOf(cpu: RoundsCpu | undefined): Pick<Figure, 'cpuRatio'> {
  if (!cpu || cpu.ratios.length === 0) return {};
  return { cpuRatio: { withChainAndClient: median(cpu.wholeRatios), withoutChainAndClient: median(cpu.ratios) } };
}

function judge(
  { id, unit, rounds }: { readonly id: string; readonly unit: string; readonly rounds: Rounds },
  target: Target | null,
): Pick<Figure, 'target' | 'reached'> {
  if (target === null) return { target: null, reached: null };
  const { atLeast, atMost, of = 'ratio' } = target;
  const limit = atLeast ?? atMost;
  if (limit === undefined) throw new RangeError(`the figure ${id} has no target`);
  const units = {
    ratio: '',
    ours: ` ${unit}`,
    cpu: ' ms CPU',
    cpuRatio: ' × a CPU second',
    wholeCpuRatio: ' × a CPU second, all parts',
  };
  const judged = judgedValue(rounds, of);
  const reached = judged === null ? null : atLeast === undefined ? judged <= limit : judged >= limit;
  return { target: `${atLeast === undefined ? '≤' : '≥'} ${limit}${units[of]}`, reached };
}

function judgedValue({ ours, ratios, cpu }: Rounds, of: NonNullable<Target['of']>): number | null {
  if (of === 'ours') return ours;
  if (of === 'ratio') return median(ratios);
  if (!cpu) return null;
  if (of === 'cpu') return ownCpu(cpu.ours);
  if (cpu.ratios.length === 0) return null;
  return median(of === 'wholeCpuRatio' ? cpu.wholeRatios : cpu.ratios);
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
