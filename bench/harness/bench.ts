import type { Figure, MissingFigure } from './figure.ts';

/** One bench: a group of figures that share their parts. */
export interface Bench {
  /** As `npm run bench -- <id>` names it; the ids of its figures begin with it and a dot. */
  readonly id: string;
  readonly title: string;
  /**
   * Measures. With `quick` it only shows that it runs: a single round, the smallest load, a few seconds. It leaves no process
   * and no file behind; what it takes from `harness/parts.ts` is ended by the run.
   */
  run(options: BenchOptions): Promise<readonly (Figure | MissingFigure)[]>;
}

/** How a bench runs. */
export interface BenchOptions {
  readonly quick: boolean;
  /** Rows of the records that the console is measured over; null: its own number. */
  readonly rows: number | null;
  /** Where records that take long to load are kept for the next run; null: they go with this one. */
  readonly keptRecords: string | null;
  log(line: string): void;
}
