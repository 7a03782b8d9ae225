/** What a person waits for and a machine spends: a sandbox that was here before, until it runs, and one that nobody uses. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Bench } from './harness/bench.ts';
import { withCpu } from './harness/cpu.ts';
import type { Figure } from './harness/figure.ts';
import { makeFigure, median } from './harness/figure.ts';
import { benchFolder } from './harness/parts.ts';

const PROGRAM = fileURLToPath(new URL('../bin/sandbox.ts', import.meta.url));
const PORTS = [
  'PORT',
  'PUBLISHER_PORT',
  'SINK_PORT',
  'SITE_PORT',
  'POSTGRES_PORT',
  'TEMPORAL_PORT',
  'TEMPORAL_UI_PORT',
  'CHAIN_PORT',
];
const ALLOWED_SECONDS = 3;
const ALLOWED_PERCENT = 3;
/** After the purchase: what follows from it, the last block of the chain included, is no part of an idle sandbox. */
const SETTLES_MS = 20_000;

/** Seconds of a warm start and CPU of an idle sandbox. A first start is told in ADR 0027. */
export const startBench: Bench = {
  id: 'start',
  title: 'Starting, and doing nothing',
  run: async ({ quick, log }) => {
    const folder = join(benchFolder(), 'start');
    await (await startSandbox(folder, quick ? ['--no-history'] : [])).stop();
    log('a sandbox with its history is there');
    const starts: number[] = [];
    const idle: number[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      const sandbox = await startSandbox(folder);
      try {
        starts.push(sandbox.seconds);
        if (!quick) await sleep(SETTLES_MS);
        idle.push(await idleShare(sandbox.pid, quick ? 1_000 : 30_000));
      } finally {
        await sandbox.stop();
      }
      log(`${starts.at(-1)} s, then ${idle.at(-1)?.toFixed(2)} % of a core`);
    }
    return [
      against('start.warm', 'a sandbox with data, until all of it runs', { unit: 's', values: starts, allowed: ALLOWED_SECONDS }),
      against('start.idle', 'CPU of a sandbox that nobody uses', { unit: '% of a core', values: idle, allowed: ALLOWED_PERCENT }),
    ];
  },
};

function against(
  id: string,
  what: string,
  { unit, values, allowed }: { readonly unit: string; readonly values: readonly number[]; readonly allowed: number },
): Figure {
  const ratios = values.map((value) => value / allowed);
  const rounds = { ours: median(values), reference: allowed, ratios };
  return makeFigure({ id, what, unit, referenceName: 'what is allowed', rounds, target: { atMost: allowed, of: 'ours' } });
}

interface RunningSandbox {
  readonly pid: number;
  /** From the first moment of its process, as it says itself. */
  readonly seconds: number;
  stop(): Promise<void>;
}

/** Resolves when its purchase has been played. Throws with what it said when it ends before that. */
async function startSandbox(folder: string, words: readonly string[] = []): Promise<RunningSandbox> {
  const env = { ...process.env, ...Object.fromEntries(PORTS.map((name) => [name, '0'])) };
  const child = spawn(process.execPath, [PROGRAM, '--folder', folder, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  const played = new Promise<void>((resolve) =>
    child.stdout.on('data', (text: Buffer) => {
      said += text.toString('utf8');
      if (said.includes('It goes on serving')) resolve();
    }),
  );
  const exited = once(child, 'exit');
  await Promise.race([played, exited.then(() => Promise.reject(new Error(`the sandbox has ended:\n${said}`)))]);
  const [, seconds] = /Everything runs, after ([\d.]+) s/.exec(said) ?? [];
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { pid: child.pid as number, seconds: Number(seconds), stop };
}

/** Per cent of one core that a process takes with all that it started. */
async function idleShare(pid: number, ms: number): Promise<number> {
  const { cpu } = await withCpu({ library: [pid] }, async () => {
    await sleep(ms);
    return { value: 0, operations: 1 };
  });
  return ((cpu?.library ?? Number.NaN) * 100) / ms;
}
