/**
 * Divides what a transaction cost by weights, so that nobody pays for what another's part of it cost. The shares add up to the total, to
 * the wei, and each is within one wei of its exact part. Weights of 0 bear nothing, unless all are: then everyone bears the same.
 */
export function shareGas(totalWei: bigint, weights: ReadonlyMap<string, bigint>): ReadonlyMap<string, bigint> {
  const sorted = [...weights].sort(([a], [b]) => (a < b ? -1 : 1));
  const isEven = sorted.every(([, weight]) => weight <= 0n);
  const parts = sorted.map(([key, weight]) => [key, isEven ? 1n : weight > 0n ? weight : 0n] as const);
  const sum = parts.reduce((all, [, weight]) => all + weight, 0n);
  const shares = new Map<string, bigint>();
  let [before, given] = [0n, 0n];
  for (const [key, weight] of parts) {
    before += weight;
    const upTo = (totalWei * before) / sum;
    shares.set(key, upTo - given);
    given = upTo;
  }
  return shares;
}
