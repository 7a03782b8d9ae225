/**
 * How many times as long things may take as on a quiet machine: measured by `npm test` at its start, for all processes of the run; 1 where nobody
 * measured. What a test waits for at most grows by it; what is itself measured against a limit does not.
 */
export const SLOWNESS = Number(process.env['TEST_SLOWNESS'] ?? 1);

/** A limit of a quiet machine, ms, on this one. */
export const scaled = (ms: number): number => Math.round(ms * SLOWNESS);
