const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a duration as Prometheus writes it: `30s`, `5m`, `1h`. Throws SyntaxError for anything else. */
export function durationMs(text: string): number {
  const ms = Number.parseFloat(text) * (UNITS[text.at(-1) ?? ''] ?? Number.NaN);
  if (Number.isNaN(ms)) throw new SyntaxError(`${text} is no duration`);
  return ms;
}
