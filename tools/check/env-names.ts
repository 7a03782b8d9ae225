import { readFileSync } from 'node:fs';
import type { Variable } from '../../process/config/variable.ts';
import { VARIABLES } from '../../process/config/variables.ts';
import type { Source } from './sources.ts';
import { readSources } from './sources.ts';
import { ROOT } from './tool.ts';

/** The names the schema knows, `_FILE` variants included. */
export function listKnownNames(): string[] {
  return (Object.values(VARIABLES) as Variable<unknown>[]).flatMap(({ name, fromFile }) =>
    fromFile ? [name, `${name}_FILE`] : [name],
  );
}

/** The names that stand in a text of `NAME=value` lines, commented out or not. */
export function listNamesIn(envText: string): string[] {
  return [...envText.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name);
}

/** Files that read the environment although only `bin/`, `process/` and `tools/` may (tests, benches and examples are programs of their own). */
export function findStrayReaders(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !/^(bin|process|tools|test|bench|examples|packages)\//.test(path) && !/^[^/]+\.config\.ts$/.test(path))
    .filter(({ text }) =>
      /\bprocess\s*(\.\s*env\b|\[\s*['"]env['"])|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*'node:process'/.test(
        text,
      ),
    )
    .map(({ path }) => `${path} reads process.env; take the value as an argument, process/ reads the environment`);
}

/** The step of `npm run check`: null when schema, `.env.example` and code agree. */
export async function checkEnvironmentNames(): Promise<string | null> {
  const known = new Set(listKnownNames());
  const shown = new Set(listNamesIn(readFileSync(`${ROOT}.env.example`, 'utf8')));
  const problems = [
    ...[...known].filter((name) => !shown.has(name)).map((name) => `.env.example does not show ${name}`),
    ...[...shown].filter((name) => !known.has(name)).map((name) => `.env.example shows ${name}, which nothing reads`),
    ...findStrayReaders(readSources(/\.(ts|mjs|js)$/)),
  ];
  return problems.length === 0 ? null : problems.join('\n');
}
