import type { Cpu, PartKind, Turn } from './cpu.ts';
import { ownCpu, wholeCpu } from './cpu.ts';
import type { Rounds, RoundsCpu } from './figure.ts';
import { median } from './figure.ts';

/** One turn of a side: its figure, with the CPU it took (`withCpu`) or without. */
type Side = () => Promise<number | Turn>;

/**
 * Runs two sides in turns, the order swapped every round, so that what drifts on the machine meets both alike. Each side returns
 * its figure of one round. `rounds` is odd and at least 3; 1 in a quick run.
 */
export async function alternate(options: {
  readonly rounds: number;
  readonly sides: { readonly ours: Side; readonly reference: Side };
}): Promise<Rounds> {
  const { rounds, sides } = options;
  if (rounds !== 1 && (rounds < 3 || rounds % 2 === 0)) throw new RangeError('rounds are 1, or odd and at least 3');
  const ours: Turn[] = [];
  const reference: Turn[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      reference.push(await turnOf(sides.reference));
      ours.push(await turnOf(sides.ours));
    } else {
      ours.push(await turnOf(sides.ours));
      reference.push(await turnOf(sides.reference));
    }
  }
  return roundsOf(ours, reference);
}

/** Rounds of turns that were taken already, the n-th of each side in one round. */
export function roundsOf(ours: readonly Turn[], reference: readonly Turn[]): Rounds {
  const cpu = cpuOfRounds(ours, reference);
  return {
    ours: median(ours.map(({ value }) => value)),
    reference: median(reference.map(({ value }) => value)),
    ratios: ours.map(({ value }, round) => value / (reference[round] as Turn).value),
    ...(cpu === null ? {} : { cpu }),
  };
}

async function turnOf(side: Side): Promise<Turn> {
  const turn = await side();
  return typeof turn === 'number' ? { value: turn, cpu: null } : turn;
}

function cpuOfRounds(ours: readonly Turn[], reference: readonly Turn[]): RoundsCpu | null {
  const [mine, theirs] = [ours, reference].map((turns) => turns.flatMap(({ cpu }) => cpu ?? [])) as [Cpu[], Cpu[]];
  if (mine.length < ours.length) return null;
  if (theirs.length < reference.length) return { ours: medianCpu(mine), reference: null, ratios: [], wholeRatios: [] };
  const ratiosOf = (sum: (cpu: Cpu) => number): number[] => mine.map((cpu, round) => sum(theirs[round] as Cpu) / sum(cpu));
  return { ours: medianCpu(mine), reference: medianCpu(theirs), ratios: ratiosOf(ownCpu), wholeRatios: ratiosOf(wholeCpu) };
}

function medianCpu(all: readonly Cpu[]): Cpu {
  const kinds = Object.keys(all[0] ?? {}) as PartKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, median(all.map((cpu) => cpu[kind] ?? 0))]));
}
