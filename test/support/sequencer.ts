/** The order in which the files of a run begin. */
import { relative } from 'node:path';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Folders below `test/`, those with the longest files first. */
const FOLDERS = ['fault', 'e2e', 'workflow', 'simulation', 'integration', 'repo', 'contract', 'property', 'unit'];

/** Long files first, so that no process is left with one when the others are done; within a folder as vitest remembers them. */
export class DearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const root = this.ctx.config.root;
    const rank = ({ moduleId }: TestSpecification): number => FOLDERS.indexOf(relative(root, moduleId).split('/')[1] ?? '');
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
