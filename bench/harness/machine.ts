import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';

/** What the figures were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
}

/** The facts of this machine that matter to a figure; names nobody. */
export function describeMachine(): Machine {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${process.arch}, kernel ${release().split('-')[0]}`,
    node: process.version,
  };
}

/** The commit that is measured, with `+` when files differ from it; `unknown` outside a checkout. */
export function describeCommit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--', ':!bench') === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}
