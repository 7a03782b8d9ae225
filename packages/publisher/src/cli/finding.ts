import type { World } from './world.ts';

/** How bad it is; `unknown`: could not be told. */
export type Level = 'ok' | 'warning' | 'problem' | 'unknown';

/** What one look came to: a sentence that says what is, and one that says what to do about it. */
export interface Finding {
  readonly level: Level;
  readonly says: string;
  readonly todo?: string;
}

/** A check: `probe` fetches facts, `judge` decides by them alone. */
export interface Check<Facts> {
  /** Stable: machines read it in `--json`. */
  readonly id: string;
  probe(world: World): Promise<Facts>;
  judge(facts: Facts): readonly Finding[];
}

/** Nothing is wrong. */
export const ok = (says: string): Finding => ({ level: 'ok', says });
/** Somebody should look at it; it loses money or readers under some circumstances. */
export const warning = (says: string, todo: string): Finding => ({ level: 'warning', says, todo });
/** It loses money or readers now. */
export const problem = (says: string, todo: string): Finding => ({ level: 'problem', says, todo });
/** Could not be told; `todo` says what would tell. */
export const unknown = (says: string, todo: string): Finding => ({ level: 'unknown', says, todo });

const BY_WEIGHT: readonly Level[] = ['problem', 'warning', 'unknown', 'ok'];

/** The worst level of some findings; `ok` for none. */
export function worstOf(findings: readonly Finding[]): Level {
  return BY_WEIGHT.find((level) => findings.some((finding) => finding.level === level)) ?? 'ok';
}
