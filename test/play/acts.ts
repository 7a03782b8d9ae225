/** What a play breaks, one act after another. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RpcProxy } from '../support/rpc-proxy.ts';

/** What acts can reach. */
export interface Stage {
  /** Lines to the two RPC URLs of the service; the first is broken, the second stays well. */
  readonly lines: readonly [RpcProxy, RpcProxy];
  /** Process ids by name, as the cluster says them now: `api-1`, `worker-2`, `postgres`, `temporal`. */
  pids(): Readonly<Record<string, number>>;
  /** Statuses of `/readyz` of every API process. */
  readiness(): Promise<readonly number[]>;
  /** Newest block of the chain. */
  head(): Promise<number>;
  /** Has what ends stay ended, or not. */
  hold(isHeld: boolean): void;
  /** Makes the database take no writes, or take them again. */
  readOnly(isReadOnly: boolean): Promise<void>;
  /** Puts an API whose clock is so wrong behind the proxy; the returned function ends it. */
  addWrongApi(offsetMs: number): Promise<() => Promise<void>>;
}

/** One act: it breaks, waits, and leaves everything well again when it resolves. */
export interface Act {
  readonly id: string;
  readonly what: string;
  play(stage: Stage): Promise<void>;
}

const BACK_LIMIT_MS = 120_000;

/** All acts, in their order. */
const ACTS: readonly Act[] = [
  { id: 'calm', what: 'nothing is broken', play: () => sleep(8_000) },
  killed('api', 'kill -9 of an API process', ['api-1']),
  killed('worker', 'kill -9 of a worker', ['worker-1']),
  killed('workers', 'kill -9 of both workers', ['worker-1', 'worker-2']),
  killed('temporal', 'kill -9 of the Temporal server', ['temporal']),
  killed('postgres', 'kill -9 of Postgres', ['postgres']),
  { id: 'rpc-dead', what: 'the first RPC URL is dead', play: (stage) => broken(stage, { kind: 'cut' }) },
  { id: 'rpc-hangs', what: 'the first RPC URL hangs', play: (stage) => broken(stage, { kind: 'delay', ms: 60_000 }) },
  {
    id: 'rpc-frozen',
    what: "the first RPC URL's head stands still",
    play: async (stage) => broken(stage, { kind: 'freeze', block: await stage.head() }),
  },
  { id: 'rpc-429', what: 'the first RPC URL answers 429', play: (stage) => broken(stage, { kind: 'refuse', status: 429 }) },
  {
    id: 'rpc-lags',
    what: 'the first RPC URL is 20 blocks behind',
    play: (stage) => broken(stage, { kind: 'behind', blocks: 20 }),
  },
  {
    id: 'read-only',
    what: 'the database takes no writes',
    play: async (stage) => {
      await stage.readOnly(true);
      await sleep(10_000);
      await stage.readOnly(false);
      await untilReady(stage);
    },
  },
  {
    id: 'clock',
    what: 'an API whose clock is ten minutes ahead joins',
    play: async (stage) => {
      const end = await stage.addWrongApi(600_000);
      await sleep(8_000);
      await end();
    },
  },
  {
    id: 'rolling',
    what: 'every process is replaced by SIGTERM, one after the other',
    play: async (stage) => {
      for (const name of ['worker-1', 'worker-2', 'api-1', 'api-2']) await end(stage, [name], 'SIGTERM');
    },
  },
  {
    id: 'apis-away',
    what: 'both API processes are dead for 75 s',
    play: async (stage) => {
      stage.hold(true);
      for (const name of ['api-1', 'api-2']) process.kill(pidOf(stage, name), 'SIGKILL');
      await sleep(75_000);
      stage.hold(false);
      await untilReady(stage);
    },
  },
];

/** The acts of these names, separated by commas, in that order; all of them for an empty text. Throws for a name that is none. */
export function chooseActs(names: string): readonly Act[] {
  if (names === '') return ACTS;
  return names.split(',').map((name) => {
    const act = ACTS.find(({ id }) => id === name);
    if (!act) throw new Error(`there is no act ${name}; there are ${ACTS.map(({ id }) => id).join(', ')}`);
    return act;
  });
}

function killed(id: string, what: string, names: readonly string[]): Act {
  return { id, what, play: (stage) => end(stage, names, 'SIGKILL') };
}

/** Ends processes and waits until others are in their places, and ready. */
async function end(stage: Stage, names: readonly string[], signal: NodeJS.Signals): Promise<void> {
  const before = names.map((name) => pidOf(stage, name));
  for (const pid of before) process.kill(pid, signal);
  await until(
    () => {
      const now = stage.pids();
      return names.every((name, at) => now[name] !== undefined && now[name] !== before[at]);
    },
    `${names.join(', ')} to be back`,
  );
  await untilReady(stage);
}

/** Breaks the line to the first URL for twelve seconds. */
async function broken({ lines: [first] }: Stage, action: Parameters<RpcProxy['set']>[1]): Promise<void> {
  first.set('*', action);
  await sleep(12_000);
  first.set('*', null);
}

function untilReady(stage: Stage): Promise<void> {
  return until(async () => (await stage.readiness()).every((status) => status === 200), 'every API to be ready');
}

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + BACK_LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited two minutes for ${what}`);
    await sleep(250);
  }
}

function pidOf(stage: Stage, name: string): number {
  const pid = stage.pids()[name];
  if (pid === undefined) throw new Error(`there is no process ${name}`);
  return pid;
}
