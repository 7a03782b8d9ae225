/** CPU time of the processes that a figure is made of. Linux tells it; elsewhere there is none, and figures stand without. */
import { readFileSync } from 'node:fs';

/** What a process is in a figure; `reference` and `library` are what is compared, in processes of their own and in the bench's. */
export type PartKind = 'api' | 'worker' | 'postgres' | 'temporal' | 'chain' | 'client' | 'reference' | 'library';

/** Ids of running processes by kind. A process counts with what it started, the bench's own without. */
export type Parts = Partial<Readonly<Record<PartKind, readonly number[]>>>;

/** Milliseconds of CPU an operation, by kind. */
export type Cpu = Partial<Readonly<Record<PartKind, number>>>;

/** One turn of a side: its figure, and what it took of the processors. */
export interface Turn {
  readonly value: number;
  /** Null where the system does not tell. */
  readonly cpu: Cpu | null;
}

/** What work found out, and how many operations that took. */
export interface Work {
  readonly value: number;
  readonly operations: number;
}

/** The ticks of /proc/<pid>/stat: 100 a second on every Linux that Node runs on. */
const TICK_MS = 10;
/** Both sides have them alike, and neither is what is compared. */
const BESIDE: ReadonlySet<string> = new Set<PartKind>(['chain', 'client']);

/** This process, as the client of what it measures. */
export const CLIENT: Parts = { client: [process.pid] };
/** This process, as what is measured. */
export const LIBRARY: Parts = { library: [process.pid] };

/** Does some work, and tells the CPU time that each kind of process took for one operation of it. */
export async function withCpu(parts: Parts, work: () => Promise<Work>): Promise<Turn> {
  const before = cpuOf(parts);
  const { value, operations } = await work();
  const after = cpuOf(parts);
  if (!before || !after) return { value, cpu: null };
  const each = Object.entries(after).map(([kind, ms]) => [kind, (ms - (before[kind as PartKind] ?? 0)) / operations]);
  return { value, cpu: Object.fromEntries(each) as Cpu };
}

/** What the compared side itself takes: all but the chain's stand-in and the client. */
export function ownCpu(cpu: Cpu): number {
  return Object.entries(cpu).reduce((sum, [kind, ms]) => (BESIDE.has(kind) ? sum : sum + ms), 0);
}

/** What all of it takes, chain and client with it. */
export function wholeCpu(cpu: Cpu): number {
  return Object.values(cpu).reduce((sum, ms) => sum + ms, 0);
}

/** Milliseconds of CPU until now, by kind; null where the system does not tell. */
function cpuOf(parts: Parts): Cpu | null {
  try {
    const sums = Object.entries(parts).map(([kind, pids]) => [kind, pids.reduce((sum, pid) => sum + cpuOfProcess(pid), 0)]);
    return Object.fromEntries(sums) as Cpu;
  } catch (error) {
    if (process.platform !== 'linux') return null;
    throw error;
  }
}

function cpuOfProcess(pid: number): number {
  if (pid !== process.pid) return cpuOfTree(pid);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** With its children, those that ended included. Throws when there is no such process. */
function cpuOfTree(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold anything; user, system, and both of children that ended are the 12th to 15th after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
  return childrenOf(pid).reduce((sum, child) => sum + cpuOfChild(child), own);
}

/** One that ended meanwhile is counted by its parent from then on. */
function cpuOfChild(pid: number): number {
  try {
    return cpuOfTree(pid);
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
