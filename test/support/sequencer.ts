/** The order in which the files of a run begin. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Files below `test/` that are mostly waiting, for a lease, a lapse or an alert, and beside them those that are mostly work. */
const BESIDE: readonly (readonly string[])[] = [['fault', 'e2e', 'workflow'], ['integration']];
/**
 * What comes after, the folder with the longest file first, so that a run does not end with waiting for that file alone. All of it is of the other
 * project: a process serves one of the two.
 */
const AFTER = ['repo', 'simulation', 'contract', 'property', 'unit'];
/** What needs a program that a fresh machine is still building begins last of the parts, and ends while pure rules run. */
const LAST = ['test/fault/cluster.test.ts'];
/** Seconds of a file that no run has measured: somewhere in the middle. */
const UNKNOWN_SECONDS = 10;

/** Whole seconds by path; `npm test -- --durations` measures them anew. */
export const DURATIONS = new URL('durations.json', import.meta.url);

/** What a file is ordered by. */
export interface Placed {
  /** From the root of the repository. */
  readonly path: string;
  readonly seconds: number;
}

/**
 * Files that wait go evenly between those that work, from the first to the last: a run of nothing but faults leaves the cores idle for a third
 * of the time. In each lane and each folder long files first, so that no process is left with one when the others are done.
 */
export function inTurns<T extends Placed>(files: readonly T[]): T[] {
  const longFirst = files.toSorted((a, b) => b.seconds - a.seconds);
  const isLast = ({ path }: T): boolean => LAST.includes(path);
  const of = (folder: string): T[] => longFirst.filter((file) => folderOf(file) === folder && !isLast(file));
  const placed = BESIDE.flatMap((folders) => {
    const lane = folders.flatMap(of).toSorted((a, b) => b.seconds - a.seconds);
    return lane.map((file, at) => ({ file, place: (at + 0.5) / lane.length }));
  });
  const first = placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file);
  const known = new Set([...BESIDE.flat(), ...AFTER]);
  const others = longFirst.filter((file) => !known.has(folderOf(file)));
  return [...first, ...others, ...longFirst.filter(isLast), ...AFTER.flatMap(of)];
}

function folderOf({ path }: Placed): string {
  return path.split('/')[1] ?? '';
}

/** Files `inTurns`, by the durations that are kept in the repository: a fresh clone has no others. */
export class InTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const kept = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Readonly<Record<string, number>>;
    const root = this.ctx.config.root;
    const placed = files.map((file) => {
      const path = relative(root, file.moduleId).replaceAll('\\', '/');
      return { file, path, seconds: kept[path] ?? UNKNOWN_SECONDS };
    });
    return inTurns(placed).map(({ file }) => file);
  }
}
