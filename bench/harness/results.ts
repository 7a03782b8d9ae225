import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Figure, MissingFigure } from './figure.ts';
import type { Machine } from './machine.ts';
import { writePerCore } from './perCore.ts';
import { renderReadme } from './readme.ts';

const JSON_FILE = new URL('../results.json', import.meta.url);
const README_FILE = new URL('../README.md', import.meta.url);
const SCALING_FILE = new URL('../../docs/scaling.md', import.meta.url);

/** The figures of one bench, and when and where they were measured. */
export interface BenchResult {
  readonly id: string;
  readonly title: string;
  /** ISO 8601, UTC. */
  readonly measuredAt: string;
  readonly commit: string;
  readonly machine: Machine;
  readonly figures: readonly (Figure | MissingFigure)[];
}

/**
 * Puts results in the place of earlier ones with the same id, in `bench/results.json`, `bench/README.md` and the table of
 * `docs/scaling.md`; benches of `order` that were never measured are listed as missing, those it does not name are dropped.
 */
export function keepResults(
  fresh: readonly BenchResult[],
  order: readonly { readonly id: string; readonly title: string }[],
): void {
  const kept = new Map(readResults().map((result) => [result.id, result]));
  for (const result of fresh) kept.set(result.id, result);
  const results = order.flatMap(({ id }) => kept.get(id) ?? []);
  const unmeasured = order.filter(({ id }) => !kept.has(id));
  // A line a bench: a run changes the lines of what it measured.
  writeFileSync(JSON_FILE, `[\n${results.map((result) => JSON.stringify(result)).join(',\n')}\n]\n`);
  writeFileSync(README_FILE, renderReadme(results, unmeasured));
  writeFileSync(SCALING_FILE, writePerCore(readFileSync(SCALING_FILE, 'utf8'), results));
}

function readResults(): BenchResult[] {
  return existsSync(JSON_FILE) ? (JSON.parse(readFileSync(JSON_FILE, 'utf8')) as BenchResult[]) : [];
}
