import type { z } from 'zod';

/** One environment variable: how its text is read, and what `.env.example` says about it. */
export interface Variable<T> {
  /** Its name in the environment. */
  readonly name: string;
  /** One sentence for an operator: what it is, with the unit. */
  readonly about: string;
  /** A well-formed value; an error shows it, so it is never a usable secret. */
  readonly example: string;
  /** What holds when it is not set, as text; without it the variable is optional unless the process needs it. */
  readonly fallback?: string;
  /** True when it may be given as a path in `<name>_FILE`; every secret may. */
  readonly fromFile?: boolean;
  /** Reads the text; its messages never repeat the text, which may be a secret. */
  readonly schema: z.ZodType<T, string>;
}

/** A variable that always has a value. */
export type WithDefault<T> = Variable<T> & { readonly fallback: string };

/** What is wrong with one variable. */
export interface Problem {
  readonly name: string;
  readonly problem: string;
  readonly example: string;
}

/** All that is wrong with an environment, in one error; holds names, sentences and examples, never a value. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ name, problem, example }) => `  ${name}: ${problem} (example: ${name}=${example})`);
    super(`The environment is not usable:\n${lines.join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A variable that has a value when it is not set; keeps its type. */
export function withDefault<T>(variable: WithDefault<T>): WithDefault<T> {
  return variable;
}

/** A variable that may be missing; keeps its type. */
export function optional<T>(variable: Variable<T>): Variable<T> {
  return variable;
}
