import type { Rounds } from './figure.ts';
import { median } from './figure.ts';

/**
 * Runs two sides in turns, the order swapped every round, so that what drifts on the machine meets both alike. Each side returns
 * its figure of one round. `rounds` is odd and at least 3; 1 in a quick run.
 */
export async function alternate(options: {
  readonly rounds: number;
  readonly sides: { readonly ours: () => Promise<number>; readonly reference: () => Promise<number> };
}): Promise<Rounds> {
  const { rounds, sides } = options;
  if (rounds !== 1 && (rounds < 3 || rounds % 2 === 0)) throw new RangeError('rounds are 1, or odd and at least 3');
  const ours: number[] = [];
  const reference: number[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      reference.push(await sides.reference());
      ours.push(await sides.ours());
    } else {
      ours.push(await sides.ours());
      reference.push(await sides.reference());
    }
  }
  const ratios = ours.map((value, round) => value / (reference[round] as number));
  return { ours: median(ours), reference: median(reference), ratios };
}
