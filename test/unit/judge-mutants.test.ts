import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { EQUIVALENTS } from './judge/equivalents.ts';
import type { CodeMutant } from './judge/mutants.ts';
import { codeLines, mutantsOf } from './judge/mutants.ts';
import { tryModules } from './judge/trial.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = readFileSync(join(ROOT, 'modules/settlement/rules/judge.ts'), 'utf8');
const MUTANTS = mutantsOf(SOURCE);

/** The mutants that the table of `judge/cases.ts` does not notice: each is a module beside the real ones, in a Node of its own. */
async function listSurvivors(mutants: readonly CodeMutant[]): Promise<readonly CodeMutant[]> {
  const folder = mkdtempSync(join(tmpdir(), 'judge-'));
  try {
    for (const part of ['modules/kernel', 'modules/settlement/rules'])
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const paths = mutants.map((mutant, at) => {
      const path = join(folder, 'modules/settlement/rules', `judge-${at}.ts`);
      writeFileSync(path, mutant.source);
      return path;
    });
    writeFileSync(join(folder, 'paths.json'), JSON.stringify(paths));
    const script = `import { readFileSync } from 'node:fs';
      import { tryModules } from ${JSON.stringify(join(ROOT, 'test/unit/judge/trial.ts'))};
      console.log(JSON.stringify(await tryModules(JSON.parse(readFileSync(${JSON.stringify(join(folder, 'paths.json'))}, 'utf8')))));`;
    const node = ['--no-warnings', '--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, node, { maxBuffer: 2 ** 26 });
    const noticedBy = JSON.parse(stdout) as readonly (string | null)[];
    expect(noticedBy.length).toBe(mutants.length);
    return mutants.filter((_, at) => noticedBy[at] === null);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('the table notices every mutant of the judgement, but for those that mean the same', async () => {
  const survivors = (await listSurvivors(MUTANTS)).map(({ name }) => name);
  console.log(`${MUTANTS.length} mutants of ${codeLines(SOURCE).length} lines, ${survivors.length} of them equivalent`);
  expect(survivors.filter((name) => !(name in EQUIVALENTS))).toEqual([]);
  expect(Object.keys(EQUIVALENTS).filter((name) => !survivors.includes(name))).toEqual([]);
});

test('every line of the judgement has a mutant that the table notices', async () => {
  const named = new Set(MUTANTS.filter(({ name }) => !(name in EQUIVALENTS)).map(({ line }) => line));
  expect(codeLines(SOURCE).filter((line) => !named.has(line))).toEqual([]);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

test('the judgement as it stands passes the table, and a module that is none does not', async () => {
  const real = { name: 'none', line: 0, source: SOURCE };
  const mute = { name: 'mute', line: 0, source: "export const judge = () => 'wait'; export const isUnexplained = () => false;" };
  expect(await listSurvivors([real, mute])).toEqual([real]);
  expect(await tryModules([join(ROOT, 'modules/settlement/rules/judge.ts')])).toEqual([null]);
});
