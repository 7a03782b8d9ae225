/** Of several durations, in milliseconds: after how long half and nineteen in twenty of them are over. */
export interface HalfAndMost {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** What half and nineteen in twenty of a group's values do not exceed, each one of the values: an expression, text so that it survives. */
export function halfAndMost(column: string): string {
  return `percentile_disc(array[0.5, 0.95]) within group (order by ${column})::text[]`;
}

/** The durations that `halfAndMost` found; none of no values. */
export function durations(found: readonly (string | null)[] | null | undefined): HalfAndMost {
  const [p50 = null, p95 = null] = found ?? [];
  return { p50Ms: p50 === null ? null : Number(p50), p95Ms: p95 === null ? null : Number(p95) };
}

/** Milliseconds from one moment to another, columns; never less than 0, as clocks differ. Null where one of them is. */
export function millisecondsTo(to: string, from: string): string {
  return `case when ${to} >= ${from} then extract(epoch from ${to} - ${from}) * 1000 when ${to} < ${from} then 0 end::bigint`;
}
