import { GraphQLError } from 'graphql';
import { isStatementTimeout } from '../../db/outage.ts';
import type { ErrorKind } from '../../modules/kernel/errors.ts';
import { isServiceError } from '../../modules/kernel/errors.ts';
import { MESSAGE_LIMIT_CHARS } from '../limits/limits.ts';
import { documentRefusal } from '../limits/refusal.ts';
import { argumentAt } from './argumentAt.ts';

/** The code of every kind of error at this surface. */
const CODE_BY_KIND = {
  invalid: 'BAD_USER_INPUT',
  unauthenticated: 'UNAUTHENTICATED',
  payment: 'PAYMENT',
  forbidden: 'FORBIDDEN',
  plan: 'PLAN_GATE',
  missing: 'NOT_FOUND',
  conflict: 'CONFLICT',
  throttled: 'THROTTLED',
  defect: 'INTERNAL',
  unavailable: 'UNAVAILABLE',
} as const satisfies Record<ErrorKind, string>;

const OWN_CODES: ReadonlySet<string> = new Set([...Object.values(CODE_BY_KIND), 'TIMEOUT']);

/** A read that Postgres gave up for taking too long, and what its caller can ask for instead (TIMEOUT). */
export class TooSlow extends Error {}

/** Runs a read of a list or report; throws `TooSlow` with `advice` when its statement took too long. */
export async function advising<T>(advice: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw new TooSlow(advice);
  }
}

/** What Postgres says of a value it cannot take. */
const BAD_VALUE = /^22/;

/** The extensions of an expected error: its code, the service's own code, and what a client can do. */
export function extensionsOf(error: unknown): Record<string, unknown> | null {
  if (!isServiceError(error) || error.kind === 'defect') return null;
  const { retryAfterSeconds, parameter } = error.details;
  return {
    code: CODE_BY_KIND[error.kind],
    reason: error.code,
    next: error.next,
    ...(error.kind === 'plan' ? { upgrade: true } : {}),
    ...(parameter === undefined ? {} : { parameter }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/**
 * What a client gets to see of an error: documents that are wrong say what is wrong, expected errors their code and sentence,
 * anything else that something went wrong on our side. Never a stack, never SQL.
 */
export function publicError(error: unknown): GraphQLError {
  const place = error instanceof GraphQLError ? error : null;
  const cause = place === null ? error : (place.originalError ?? null);
  if (place !== null && (cause === null || cause instanceof GraphQLError))
    return OWN_CODES.has(String(place.extensions['code']))
      ? short(named(place))
      : (documentRefusal(place) ?? named(written(place)));
  const extensions = extensionsOf(cause);
  if (extensions && isServiceError(cause)) return said(cause.message, extensions, place);
  const state = String((cause as { code?: unknown } | null)?.code ?? '');
  if (isStatementTimeout(cause) || cause instanceof TooSlow) {
    const sentence = cause instanceof TooSlow ? cause.message : 'this takes too long; ask for a shorter window or fewer rows';
    return said(sentence, { code: 'TIMEOUT', reason: 'statement_timeout' }, place);
  }
  if (BAD_VALUE.test(state)) return said('a value is not of the form it must have', { code: 'BAD_USER_INPUT' }, place);
  return said('something went wrong on our side', { code: 'INTERNAL', reason: 'internal' }, place);
}

/** True when the error is nothing a client could expect, so that an operator should read of it. */
export function isDefect(error: unknown): boolean {
  return publicError(error).extensions['code'] === 'INTERNAL';
}

/** An error of the document itself: syntax, validation, limits, variables. */
function written(error: GraphQLError): GraphQLError {
  const { http } = error.extensions; // the status of GraphQL over HTTP; not part of the answer
  return said(error.message, { code: 'BAD_USER_INPUT', ...(http === undefined ? {} : { http }) }, error);
}

/** An error of a value that stands in the document, with the argument it is given for. */
function named(error: GraphQLError): GraphQLError {
  const { code, parameter: known } = error.extensions;
  const parameter = code === 'BAD_USER_INPUT' && known === undefined ? argumentAt(error) : null;
  return parameter === null ? error : said(`${parameter}: ${error.message}`, { ...error.extensions, parameter }, error);
}

function short(error: GraphQLError): GraphQLError {
  return error.message.length > MESSAGE_LIMIT_CHARS ? said(error.message, error.extensions, error) : error;
}

/** An error with a message that is cut where it is long: it may repeat what was sent. */
function said(message: string, extensions: Record<string, unknown>, place: GraphQLError | null): GraphQLError {
  const isLong = message.length > MESSAGE_LIMIT_CHARS;
  return new GraphQLError(isLong ? `${message.slice(0, MESSAGE_LIMIT_CHARS - 1).toWellFormed()}…` : message, {
    ...(place === null ? {} : { nodes: place.nodes ?? null, source: place.source ?? null, path: place.path ?? null }),
    ...(place?.positions && !place.nodes ? { positions: place.positions } : {}),
    extensions,
  });
}
