import { delayBefore } from '../../kernel/time/attempts.ts';

/** What one attempt means for a delivery. All times in ms. */

const SECOND_MS = 1_000;

/** What one attempt came to: an answer with its status, or a reason why there was none. */
export interface AttemptResult {
  readonly status: number | null;
  /** Why there is no answer (a reason code of the outbound adapter, or our own); null with a status. */
  readonly reason: string | null;
  /** The answer's `Retry-After`, text as received. */
  readonly retryAfter: string | null;
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** The start of the answer's body, at most 2 KiB of UTF-8. */
  readonly responseStart: string;
}

/** What follows from an attempt. `counts` is false where the receiver is not to blame for it. */
export type Verdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly reason: string; readonly delayMs: number }
  | { readonly kind: 'exhausted'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly isGone: boolean; readonly counts: boolean };

/** Reasons no retry can change: nothing leaves for such an address, and the receiver's health does not suffer. */
const PERMANENT_REASONS: ReadonlySet<string> = new Set(['blocked_address', 'invalid_url', 'endpoint_disabled']);

/**
 * What attempt number `attempt` (from 1) means. `jitter` in [0, 1) spreads the next attempt by ± 10 %. 2xx delivers, whatever
 * the body; 410 ends the endpoint; 3xx is a failure; `Retry-After` of 429 and 503 is a floor of at most 10 h.
 */
export function judgeAttempt(attempt: number, result: AttemptResult, jitter: number): Verdict {
  const { status } = result;
  if (status !== null && status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = reasonOfFailure(result);
  if (status === 410) return { kind: 'failed', reason, isGone: true, counts: true };
  if (PERMANENT_REASONS.has(reason)) return { kind: 'failed', reason, isGone: false, counts: false };
  const floorMs = status === 429 || status === 503 ? parseRetryAfter(result.retryAfter, result.startedAtMs) : 0;
  const delayMs = delayBefore(attempt + 1, jitter, floorMs);
  return delayMs === null ? { kind: 'exhausted', reason } : { kind: 'retry', reason, delayMs };
}

/** `Retry-After` (RFC 9110 §10.2.3: seconds or an HTTP date) in ms from `nowMs`; 0 when absent, past or not understood. */
export function parseRetryAfter(text: string | null, nowMs: number): number {
  if (text === null) return 0;
  const value = text.trim();
  if (/^\d{1,12}$/.test(value)) return Number(value) * SECOND_MS;
  if (!/^[A-Za-z]{3,9}, /.test(value)) return 0;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs);
}

function reasonOfFailure(result: AttemptResult): string {
  if (result.status === null) return result.reason ?? 'connection_failed';
  if (result.status >= 300 && result.status < 400) return 'redirect';
  return `status_${result.status}`;
}
