import { Coverage } from './coverage.ts';
import type { Outcome, ScheduleOptions } from './schedule.ts';
import { runSchedule } from './schedule.ts';

/** What a run of many schedules showed. */
export interface Run {
  readonly schedules: number;
  readonly coverage: Coverage;
  /** The first schedule that broke an invariant; null when all held. */
  readonly broken: Outcome | null;
}

/** Runs `schedules` schedules with the seeds `seed`, `seed + 1`, …, and stops at the first broken invariant. */
export async function simulate(options: {
  readonly schedules: number;
  readonly seed: number;
  readonly openStore?: ScheduleOptions['openStore'];
}): Promise<Run> {
  const coverage = new Coverage();
  const { openStore } = options;
  for (let i = 0; i < options.schedules; i += 1) {
    const outcome = await runSchedule(options.seed + i, { coverage, ...(openStore && { openStore }) });
    if (outcome.broken !== null) return { schedules: i + 1, coverage, broken: outcome };
  }
  return { schedules: options.schedules, coverage, broken: null };
}
