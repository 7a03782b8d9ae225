import { ServiceError } from '../modules/kernel/errors.ts';

/**
 * What an error of Postgres means: an outage, a lost conflict or too long a wait, none of which decides anything. `Database` rejects in an outage
 * with database_unavailable, so that no module translates one.
 */

/** The database is away: 503 with Retry-After. `cause` is what the driver said, for logs and never for callers. */
export class DatabaseUnavailable extends ServiceError {
  constructor(cause: unknown, sentence = 'the database cannot be reached now; ask again') {
    super('database_unavailable', sentence, { retryAfterSeconds: 2 });
    // Of several addresses tried together the first one's words: what they are thrown as has none.
    const said = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
    this.cause = said instanceof DatabaseUnavailable ? said.cause : said;
  }

  /** For logs: with the driver's reason. */
  override toString(): string {
    return `${super.toString()} (${String(this.cause)})`;
  }
}

/** What the network says of a server that is not there, as codes of Node. */
const UNREACHABLE = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/;
/** SQLSTATE of a server that is leaving, coming up, out of room, or takes no writes, as a standby does while it takes over. */
const NOT_SERVING = /^(08|57P|53|25006)/;
/** What the driver says, without a code, of a connection that is gone. */
const CONNECTION_GONE = /Connection terminated|is not queryable|timeout exceeded when trying to connect/;

/** An error of the driver as callers of `Database` meet it: an outage is database_unavailable, anything else stays as it is. */
export function translated(error: unknown): unknown {
  return isDatabaseOutage(error) && !isTold(error) ? new DatabaseUnavailable(error) : error;
}

/** For `catch` of a promise: rejects with the error as `translated` gives it. */
export function rethrow(error: unknown): never {
  throw translated(error);
}

/**
 * True when the database could not be reached, gave up the connection, or takes no writes now: an outage, never a decision
 * (safety 15), whether the driver or `Database` says so. A write in a read-only transaction of our own has the same code: it is a mistake that
 * tests meet as an outage.
 */
export function isDatabaseOutage(error: unknown): boolean {
  if (isTold(error)) return true;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && (UNREACHABLE.test(code) || NOT_SERVING.test(code))) return true;
  return typeof message === 'string' && CONNECTION_GONE.test(message);
}

function isTold(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'database_unavailable';
}

/** True when Postgres gave a statement up (query_canceled), as a rule for its time limit: nothing was changed by it. */
export function isStatementTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '57014';
}

/** True when the database did not answer: it cannot be reached, takes no writes now, or took too long. None of these decides anything. */
export function isAway(error: unknown): boolean {
  return isDatabaseOutage(error) || isStatementTimeout(error);
}

/** Deadlock detected, or serialization failure: the database transaction did nothing and may run again. */
export function isConflict(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === '40P01' || code === '40001';
}

/**
 * True for what may pass by itself, an outage, a lost conflict or too long a wait: the caller tries again later, nothing is decided.
 * A row that waits for a lock is no row that cannot be written.
 */
export function isTransientError(error: unknown): boolean {
  return isConflict(error) || isAway(error);
}
