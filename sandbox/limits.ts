import type { LimitName } from '../process/config/limits.ts';

type Environment = Readonly<Record<string, string>>;

/** `LIMITS` as a part of an environment. */
export function limits(members: Readonly<Partial<Record<LimitName, number | string>>>): { readonly LIMITS: string } {
  return { LIMITS: JSON.stringify(members) };
}

/** Environments one over the other, the last on top; of `LIMITS` each member for itself. */
export function layered(...environments: readonly Environment[]): Record<string, string> {
  const members = environments.map(({ LIMITS }): object => (LIMITS ? (JSON.parse(LIMITS) as object) : {}));
  return { ...Object.assign({}, ...environments), LIMITS: JSON.stringify(Object.assign({}, ...members)) };
}
