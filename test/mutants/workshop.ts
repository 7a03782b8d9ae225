/** A copy of the checkout in which bugs are put in, and one test runner that stays up for all of them. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { NamedTests, Verdict } from '../support/named-tests.ts';
import { openNamedTests } from '../support/named-tests.ts';
import type { Mutant } from './mutant.ts';

/** Folders that a copy does without, and those that it shares. */
const LEFT_OUT = new Set(['.git', '.sandbox', '.test', 'coverage', 'node_modules']);
const SHARED = ['node_modules', '.sandbox'];
/** What the contracts compile to, which tests put on a chain. */
const COMPILED = 'contracts/artifacts';

/** Where mutants are tried. */
export interface Workshop {
  /** Runs a mutant's test on the sources as they are. */
  run(test: Mutant['test']): Promise<Verdict>;
  /** What the last run's failures said. */
  said(): readonly string[];
  /** The same with the mutant put in; the sources are as before afterwards. */
  runWith(mutant: Mutant): Promise<Verdict>;
  close(): Promise<void>;
}

/** Copies the working tree at `root` as it is, `node_modules` by link, and moves this process there. The caller closes it. */
export async function openWorkshop(root: string): Promise<Workshop> {
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    chmodSync(folder, 0o755); // Postgres runs as a user of its own
    const tree = join(folder, 'tree');
    mkdirSync(tree, { mode: 0o755 });
    cpSync(root, tree, { recursive: true, filter: (source) => !LEFT_OUT.has(relative(root, source)) });
    for (const name of SHARED) if (existsSync(join(root, name))) symlinkSync(join(root, name), join(tree, name));
    process.chdir(tree);
    return workshopOf(await openNamedTests(tree), tree, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

function workshopOf(first: NamedTests, tree: string, remove: () => void): Workshop {
  let tests = first;
  const write = (file: string, text: string): void => {
    writeFileSync(join(tree, file), text);
    tests.forget(join(tree, file));
  };
  const read = (file: string): string => readFileSync(join(tree, file), 'utf8');
  const compiledFiles = (): readonly string[] =>
    readdirSync(join(tree, COMPILED))
      .filter((name) => name.endsWith('.json'))
      .map((name) => `${COMPILED}/${name}`);
  const compile = (): void => {
    execFileSync(process.execPath, ['contracts/build.ts'], { cwd: tree });
    for (const file of compiledFiles()) tests.forget(join(tree, file));
  };
  return {
    run: (test) => tests.run(test),
    said: () => tests.said(),
    runWith: async (mutant) => {
      const isOfContracts = mutant.edits.some(({ file }) => file.endsWith('.sol'));
      const changed = [...mutant.edits.map(({ file }) => file), ...(isOfContracts ? compiledFiles() : [])];
      const before = new Map(changed.map((file) => [file, read(file)]));
      // Postgres gets its schema when the runner begins.
      const isOfSchema = mutant.edits.some(({ file }) => file.startsWith('db/migrations/'));
      if (isOfSchema) await tests.close();
      try {
        for (const { file, search, replace } of mutant.edits)
          write(
            file,
            read(file).replace(search, () => replace),
          );
        if (isOfContracts) compile();
        if (isOfSchema) tests = await openNamedTests(tree);
        return await tests.run(mutant.test);
      } finally {
        if (isOfSchema) await tests.close();
        for (const [file, text] of before) write(file, text);
        if (isOfSchema) tests = await openNamedTests(tree);
      }
    },
    close: async () => {
      await tests.close();
      process.chdir('/');
      remove();
    },
  };
}
