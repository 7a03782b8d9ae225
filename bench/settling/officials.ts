/** The official facilitator as one process a core, each with a key of its own: as many threads as the machine has for ours. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Parts } from '../harness/cpu.ts';
import type { BenchService } from '../harness/service.ts';
import type { SignedTransfer } from './buyers.ts';
import { encodeTransfer } from './buyers.ts';
import type { OfficialInput } from './officialProcess.ts';

const PROGRAM = fileURLToPath(new URL('officialProcess.ts', import.meta.url));

/** Running facilitators. */
export interface Officials {
  readonly parts: Parts;
  /** Verifies and settles payments, shared evenly; resolves with the milliseconds of each. Throws when one fails. */
  settle(transfers: readonly SignedTransfer[]): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** Starts one a core on the chain of a service; `newRelayer` makes a key with gas, `parallel` is for each. The caller stops them. */
export async function startOfficials(
  service: BenchService,
  parallel: number,
  newRelayer: () => Promise<`0x${string}`>,
): Promise<Officials> {
  const { rpcUrl, router } = service.chain;
  const all: Official[] = [];
  for (let core = 0; core < availableParallelism(); core++) {
    all.push(await startOfficial({ rpcUrl, router, relayerKey: await newRelayer(), parallel }));
  }
  const { chain = [], client = [] } = service.parts();
  return {
    parts: { reference: all.map(({ pid }) => pid), chain, client },
    settle: async (transfers) => {
      const shares = all.map((_, place) => transfers.filter((__, at) => at % all.length === place));
      return (await Promise.all(all.map(({ settle }, place) => settle(shares[place] ?? [])))).flat();
    },
    stop: async () => void (await Promise.all(all.map(({ stop }) => stop()))),
  };
}

interface Official {
  readonly pid: number;
  settle(transfers: readonly SignedTransfer[]): Promise<readonly number[]>;
  stop(): Promise<void>;
}

async function startOfficial(input: OfficialInput): Promise<Official> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(input)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('a process of the official facilitator ended');
    return value;
  };
  await nextLine();
  return {
    pid: child.pid as number,
    settle: async (transfers) => {
      child.stdin.write(`${JSON.stringify(transfers.map(encodeTransfer))}\n`);
      return JSON.parse(await nextLine()) as number[];
    },
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
