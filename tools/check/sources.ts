import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { ROOT } from './tool.ts';

/** One file of the repository as it stands in the work tree. */
export interface Source {
  /** Path from the repository's folder, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Paths of all files that are committed or would be: tracked ones and new ones that are not ignored. */
export function listPaths(): string[] {
  const output = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return [...new Set(output.split('\0'))].filter((path) => path !== '' && existsSync(ROOT + path)).sort();
}

/** The files whose path matches, read as UTF-8. */
export function readSources(pattern: RegExp): Source[] {
  return listPaths()
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') }));
}
