/** What went wrong, told to the site's owner: counted, logged once in five minutes, and given to a hook each time. */
import type { Failure as CallFailure } from '../client.ts';

const QUIET_MS = 300_000;

/** One failure. */
export interface PublisherFailure {
  /** What could not be done. `key`: the service refuses the key, so that nothing is sold until somebody mends that. */
  readonly what: 'config' | 'quote' | 'verify' | 'licence' | 'report' | 'key' | 'classify' | 'page' | 'gate' | 'agent';
  /** A sentence: what happened, and what readers and agents get meanwhile. */
  readonly message: string;
  readonly status?: number;
  readonly code?: string;
  /** How many of this kind since the start. */
  readonly count: number;
}

/** What is known of a failure before it is counted. */
export type FailureNote = Omit<PublisherFailure, 'count'>;

/** Takes failures. */
export interface Failures {
  note(failure: FailureNote): void;
  /** How many of each kind since the start. */
  counts(): Readonly<Record<string, number>>;
}

/** Opens it; a hook that throws changes nothing. */
export function openFailures(options: {
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly onFailure?: ((failure: PublisherFailure) => void) | undefined;
}): Failures {
  const counts = new Map<string, number>();
  const loggedAtMs = new Map<string, number>();
  return {
    note: (failure) => {
      const count = (counts.get(failure.what) ?? 0) + 1;
      counts.set(failure.what, count);
      quietly(() => options.onFailure?.({ ...failure, count }));
      const last = loggedAtMs.get(failure.what);
      if (last !== undefined && options.now() - last < QUIET_MS) return;
      loggedAtMs.set(failure.what, options.now());
      quietly(() => options.log(`content-settlement: ${failure.what}: ${failure.message} (${count} so far)`));
    },
    counts: () => Object.fromEntries(counts),
  };
}

/** Runs a hook of the site's; whatever it throws is its own. */
export function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // A reader's page does not depend on a hook.
  }
}

/** A failed call in words. */
export function wordsOf(failure: CallFailure): string {
  if (failure.why === 'timeout') return 'the service did not answer in time';
  if (failure.why === 'unreachable') return 'the service cannot be reached';
  return `the service answered ${failure.status}${failure.error === undefined ? '' : ` (${failure.error})`}`;
}

/** Members of a failure that a call has. */
export function factsOf({ status, code }: CallFailure): { status?: number; code?: string } {
  return { ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) };
}

/** True when the service refuses the key. */
export function isKeyRefused(failure: CallFailure): boolean {
  return failure.status === 401 || failure.status === 403;
}

/** True when nobody answers who could: a refusal that names its reason comes from a service that is there. */
export function isAway(failure: CallFailure): boolean {
  if (failure.why !== 'status') return true;
  const { status = 0, code } = failure;
  if (code === 'credits_unavailable') return false;
  return status >= 500 && (code === undefined || code === 'internal' || code.endsWith('_unavailable'));
}
