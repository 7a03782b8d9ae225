/** A copy of the checkout in which bugs are put in, and one test runner that stays up for all of them. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Vitest } from 'vitest/node';
import { createVitest } from 'vitest/node';
import type { Edit, Mutant } from './mutant.ts';

/** Folders that a copy does without, and those that it shares. */
const LEFT_OUT = new Set(['.git', '.sandbox', '.test', 'coverage', 'node_modules']);
const SHARED = ['node_modules', '.sandbox'];

/** What the named tests did: all passed, one failed, or there was none of that name. */
export type Verdict = 'passed' | 'failed' | 'missing';

/** Where mutants are tried. */
export interface Workshop {
  /** Runs tests by file and the beginning of their names; no change of the sources. */
  run(test: Mutant['test']): Promise<Verdict>;
  /** The same with the mutant put in; the sources are as before afterwards. */
  runWith(mutant: Mutant): Promise<Verdict>;
  close(): Promise<void>;
}

/** Copies the working tree at `root` as it is, `node_modules` by link, and starts a runner in it. The caller closes it. */
export async function openWorkshop(root: string): Promise<Workshop> {
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'), { encoding: 'utf8' });
  try {
    const tree = join(folder, 'tree');
    mkdirSync(tree, { mode: 0o755 });
    cpSync(root, tree, { recursive: true, filter: (source) => !LEFT_OUT.has(relative(root, source)) });
    for (const name of SHARED) if (existsSync(join(root, name))) symlinkSync(join(root, name), join(tree, name));
    process.chdir(tree);
    const vitest = await createVitest({ root: tree, watch: false, reporters: [{}], maxWorkers: 1 });
    await vitest.standalone();
    return workshopOf(vitest, tree, () => rmSync(folder, { recursive: true, force: true }));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function workshopOf(vitest: Vitest, tree: string, remove: () => void): Workshop {
  const change = ({ file }: Edit, text: string): void => {
    writeFileSync(join(tree, file), text);
    vitest.invalidateFile(join(tree, file));
  };
  const run = async ({ file, name }: Mutant['test']): Promise<Verdict> => {
    vitest.setGlobalTestNamePattern(new RegExp(`(^|\\s)${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));
    const specifications = await vitest.globTestSpecifications([file]);
    const { testModules } = await vitest.runTestSpecifications(specifications);
    const states = testModules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    // A file that cannot be loaded notices nothing: only a test that ran and failed counts.
    if (states.includes('failed')) return 'failed';
    return states.includes('passed') ? 'passed' : 'missing';
  };
  return {
    run,
    runWith: async (mutant) => {
      const before = new Map(mutant.edits.map(({ file }) => [file, readFileSync(join(tree, file), 'utf8')]));
      try {
        for (const edit of mutant.edits) {
          const text = readFileSync(join(tree, edit.file), 'utf8');
          change(edit, text.replace(edit.search, () => edit.replace));
        }
        return await run(mutant.test);
      } finally {
        for (const [file, text] of before) change({ file, search: '', replace: '' }, text);
      }
    },
    close: async () => {
      await vitest.close();
      process.chdir('/');
      remove();
    },
  };
}
