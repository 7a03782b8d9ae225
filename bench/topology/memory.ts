/** What a process holds, apart from garbage that nobody has collected yet. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PartProcess } from '../../sandbox/parts/processes.ts';
import { median } from '../harness/figure.ts';

/** Sizes of a process in MB. */
export interface Memory {
  /** Resident, as it stood. */
  readonly resident: number;
  /** Resident, right after a full collection. */
  readonly collected: number;
  /** Objects and buffers that a full collection left alive. */
  readonly live: number;
}

const SAYS = 'live bytes after a full collection:';
const GIVE_UP_MS = 30_000;

const COLLECTOR = `
  import v8 from 'node:v8';
  import vm from 'node:vm';
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    process.stderr.write('${SAYS} ' + (heapUsed + arrayBuffers) + '\\n');
  });`;

/** The environment of a process that collects all garbage, and says what is left, at every SIGUSR2. */
export const COLLECTING: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(COLLECTOR).toString('base64')}`,
};

/** Sizes of a process that was started with `COLLECTING`. Throws when it says nothing for 30 s. */
export async function memoryOf(part: PartProcess): Promise<Memory> {
  const resident = residentMegabytes(part.pid);
  const before = said(part).length;
  process.kill(part.pid, 'SIGUSR2');
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    const lines = said(part);
    const bytes = lines.at(-1);
    if (lines.length > before && bytes !== undefined) {
      return { resident, collected: residentMegabytes(part.pid), live: bytes / 1_048_576 };
    }
    if (performance.now() > deadline) throw new Error(`${part.name} does not say what it holds`);
    await sleep(20);
  }
}

/**
 * Growth a minute: the median of the slopes between any two samples of the second half. A leak shows in all of them; one step, as
 * when V8 doubles its young generation for good, in few. 0 with fewer than two samples.
 */
export function slopeOf(samples: readonly { readonly minute: number; readonly megabytes: number }[]): number {
  const late = samples.slice(Math.floor(samples.length / 2));
  const slopes = late.flatMap((one, at) =>
    late.slice(at + 1).map((later) => (later.megabytes - one.megabytes) / (later.minute - one.minute)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}

function said(part: PartProcess): readonly number[] {
  const log = readFileSync(part.logFile, 'utf8');
  return [...log.matchAll(new RegExp(`^${SAYS} (\\d+)\\n`, 'gm'))].map(([, bytes]) => Number(bytes));
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}
