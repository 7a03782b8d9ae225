import type { GraphQLError } from 'graphql';
import type { ServiceError } from '../../modules/kernel/errors.ts';
import { extensionsOf } from './errors.ts';

/** An answer as bytes, ready to be sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** What the query was measured at, also of one that was given up; none where nothing ran. */
  readonly cost?: number;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** An answer of some text. */
export function answerOf(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { 'content-type': JSON_TYPE, ...headers }, body: new TextEncoder().encode(text) };
}

/** Errors of an operation that has no data. */
export function failedAnswer(errors: readonly GraphQLError[]): Answer {
  return answerOf(200, JSON.stringify({ errors: errors.map((error) => error.toJSON()) }));
}

/** What stopped a request before its operation ran, in the shape of GraphQL and with the status of its kind. */
export function refusalAnswer(error: ServiceError): Answer {
  const extensions = extensionsOf(error) ?? { code: 'INTERNAL', reason: error.code };
  const { status, headers } = statusOf(error);
  return answerOf(status, JSON.stringify({ errors: [{ message: error.message, extensions }] }), headers);
}

function statusOf(error: ServiceError): { readonly status: number; readonly headers: Readonly<Record<string, string>> } {
  const later = { 'retry-after': String(error.details.retryAfterSeconds ?? 5) };
  if (error.kind === 'unauthenticated') return { status: 401, headers: { 'www-authenticate': 'Bearer', connection: 'close' } };
  if (error.kind === 'unavailable') return { status: 503, headers: later };
  if (error.kind === 'throttled') return { status: 429, headers: later };
  return { status: error.kind === 'defect' ? 500 : 400, headers: { connection: 'close' } };
}
