/** Blocks of right-to-left scripts and the Arabic numbers, and the marks that set a direction. */
const RUNS_LEFT =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** False of text that runs from left to right as a whole (UAX #9), which nearly all does: nobody needs to work out its levels. */
export function mayRunLeft(text: string): boolean {
  return RUNS_LEFT.test(text);
}
