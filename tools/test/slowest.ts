/** A test file of a run and how long it took, with loading it, ms. */
export interface TimedFile {
  readonly path: string;
  readonly ms: number;
}

/** A line for each of the `most` files that took longest, the longest first, below a heading; nothing for a single file. */
export function slowestLines(files: readonly TimedFile[], most = 10): string[] {
  if (files.length < 2) return [];
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, most);
  const lines = slowest.map(({ path, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${path}`);
  return [`the slowest ${slowest.length} of ${files.length} files:`, ...lines];
}
