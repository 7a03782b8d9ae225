/** The GitHub Action runs the command with what its inputs say, and nothing that is written in them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly runs: { readonly steps: readonly { readonly env: Readonly<Record<string, string>>; readonly run: string }[] };
}

const { inputs, runs } = parse(
  readFileSync(new URL('../../../packages/publisher/action.yml', import.meta.url), 'utf8'),
) as Action;
const [step] = runs.steps;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'action-'));
  writeFileSync(join(folder, 'npx'), `#!/usr/bin/env bash\nprintf '%s\\n' "$@"\nexit "\${CODE:-0}"\n`);
  chmodSync(join(folder, 'npx'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the step as a runner does; what npx was called with, a word a line. */
function runStep(given: Readonly<Record<string, string>>, code = '0') {
  const value = (expression: string): string => {
    const name = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(expression)?.[1] ?? '';
    return given[name] ?? inputs[name]?.default ?? '';
  };
  const variables = Object.fromEntries(Object.entries(step?.env ?? {}).map(([name, expression]) => [name, value(expression)]));
  const env = { ...variables, CODE: code, PATH: `${folder}:${process.env['PATH']}` };
  const { status, stdout } = spawnSync('bash', ['-c', step?.run ?? ''], { env, encoding: 'utf8' });
  return { status, words: stdout.trimEnd().split('\n').slice(1) };
}

test('it asks for the status unless told, and ends with the exit code of the command', () => {
  expect(runStep({}, '1')).toEqual({ status: 1, words: ['@content-settlement/publisher@latest', 'status'] });
});

test('it has the doctor look at each page, whatever stands in their names', () => {
  const pages = '/articles/a b\n\n/articles/$(touch x);`id`\n';
  const { status, words } = runStep({ command: 'doctor', site: 'https://alpha.example', pages, version: '0.1.0' });
  expect([status, words]).toEqual([
    0,
    [
      '@content-settlement/publisher@0.1.0',
      'doctor',
      '--site=https://alpha.example',
      '--page=/articles/a b',
      '--page=/articles/$(touch x);`id`',
    ],
  ]);
});

test('it refuses other commands, and its script holds no input as text', () => {
  expect(runStep({ command: 'selftest; id' })).toEqual({ status: 2, words: [] });
  expect(step?.run).not.toContain('${{');
});
