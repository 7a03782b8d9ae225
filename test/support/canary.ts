/** What the processes of a test wrote, searched for everything that must never be written (invariant I7: no secret in logs). */
import { readFileSync } from 'node:fs';

/** A secret of this run, by a name that may be shown. */
export interface Canary {
  readonly name: string;
  readonly value: string;
}

/** Shapes of secrets that nobody told us of. */
const SHAPES: readonly (readonly [string, RegExp])[] = [
  ['a publisher key', /svc_(live|test)_[A-Za-z0-9_-]{16,}/],
  ['a bearer credential', /\bBearer +[A-Za-z0-9._~+/-]{16,}/i],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/],
  ['a webhook secret', /\bwhsec_[A-Za-z0-9+/=]{16,}/],
  ['a password of a URL', /\b[a-z]+:\/\/[^\s:/@"]+:[^\s:/@"]+@/],
];
const SHORTEST = 12;

/** The names of the secrets that stand in a text; empty when there is none. */
export function findSecretsIn(text: string, secrets: readonly Canary[]): string[] {
  const known = secrets.filter(({ value }) => value.length >= SHORTEST && text.includes(value)).map(({ name }) => name);
  const shaped = SHAPES.filter(([, shape]) => shape.test(text)).map(([name]) => name);
  return [...new Set([...known, ...shaped])];
}

/** Throws with the names of what was written and the file, never the secret itself. */
export function expectNoSecrets(logFiles: readonly string[], secrets: readonly Canary[]): void {
  const leaks = [...new Set(logFiles)].flatMap((file) => {
    const names = findSecretsIn(readFileSync(file, 'utf8'), secrets);
    return names.map((name) => `${name} in ${file}`);
  });
  if (leaks.length > 0) throw new Error(`secrets were written to the log: ${leaks.join(', ')}`);
}
