import { isStatementTimeout } from '../db/outage.ts';
import { registrationEndpoint } from '../modules/identity/use/accounts/oauth.ts';
import type { ErrorKind, NextStep } from '../modules/kernel/errors.ts';
import { isServiceError, ServiceError, WAIT_SECONDS } from '../modules/kernel/errors.ts';
import { PaymentError } from '../modules/settlement/use/answer/receipt.ts';
import { paymentResponseHeaders } from './paymentResponse.ts';
import type { Answer, ErrorShape } from './route.ts';

/** The status of every kind of error at this surface. */
export const STATUS_BY_KIND = {
  invalid: 400,
  unauthenticated: 401,
  payment: 402,
  forbidden: 403,
  plan: 403,
  missing: 404,
  conflict: 409,
  throttled: 429,
  defect: 500,
  unavailable: 503,
} as const satisfies Record<ErrorKind, number>;

const NOTHING_TRIED = { paymentResponse: null, offer: null };

/** Anything thrown as an error of the closed list; what is not on it is a defect whose text stays inside. */
export function asServiceError(error: unknown): ServiceError {
  if (isServiceError(error)) return error;
  if (isStatementTimeout(error)) {
    return new ServiceError('overloaded', 'this took too long; try again later, or ask for a shorter window');
  }
  return new ServiceError('internal', 'something went wrong on our side');
}

/** The answer for an error: status, headers and body in the shape of the route; as a problem (RFC 9457) when asked for. */
export function errorAnswer(error: ServiceError, shape: ErrorShape, wantsProblem: boolean): Answer {
  const status = STATUS_BY_KIND[error.kind];
  const body = {
    ...(shape === 'ok' ? { ok: false } : {}),
    error: error.text,
    next: error.next,
    ...(error.kind === 'plan' ? { upgrade: true } : {}),
    ...(error.details.signIn === undefined ? {} : { extensions: { 'sign-in-with-x': error.details.signIn } }),
  };
  const { paymentResponse, offer } = error instanceof PaymentError ? error : NOTHING_TRIED;
  const headers: Record<string, string> = { ...paymentResponseHeaders(paymentResponse), 'x-svc-error-code': error.code };
  if (offer !== null) headers['payment-required'] = offer;
  if (status === 401) headers['www-authenticate'] = challengeOf(error.details.resourceMetadata);
  const mustSayWhen = status === 429 || status === 503 || error.code === 'settlement_pending';
  if (mustSayWhen || error.details.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(error.details.retryAfterSeconds ?? WAIT_SECONDS);
  }
  return wantsProblem ? problemAnswer(error, { status, headers, body }) : { status, headers, body };
}

function challengeOf(resourceMetadata: string | undefined): string {
  return resourceMetadata === undefined ? 'Bearer' : `Bearer resource_metadata="${resourceMetadata}"`;
}

/**
 * A refusal in the words of OAuth (RFC 6749 §5.2), and what to do next: unless told, a client that is not recognised signs in or registers, and any
 * other mends its request.
 */
export function oauthAnswer(baseUrl: string, error: string, sentence: string, next?: NextStep): Answer {
  const isClient = error === 'invalid_client';
  const usual: NextStep = isClient ? { action: 'sign_in', register: registrationEndpoint(baseUrl) } : { action: 'fix_request' };
  return {
    status: isClient ? 401 : 400,
    headers: {
      'cache-control': 'no-store',
      'x-svc-error-code': error,
      ...(isClient ? { 'www-authenticate': 'Basic realm="token"' } : {}),
    },
    body: { error, error_description: sentence, next: next ?? usual },
  };
}

/** The answer to a method that a path does not take: 405 with `Allow`, in the shape of its route; as a problem when asked for. */
export function methodAnswer(allowed: readonly string[], shape: ErrorShape, wantsProblem: boolean): Answer {
  const error = { code: 'method_not_allowed', message: 'this path does not support this method', details: {} };
  const headers = { allow: allowed.join(', '), 'x-svc-error-code': error.code, 'cache-control': 'no-store' };
  const next: NextStep = { action: 'fix_request' };
  const body = { ...(shape === 'ok' ? { ok: false } : {}), error: `${error.code}: ${error.message}`, next };
  const answer = { status: 405, headers, body };
  return wantsProblem ? problemAnswer(error, answer) : answer;
}

/** What a problem says of an error. */
interface Told {
  readonly code: string;
  readonly message: string;
  readonly details: { readonly parameter?: string };
}

/** The same error as problem details; the ordinary members stay as extensions (RFC 9457 §3.2). */
function problemAnswer(error: Told, answer: Answer & { readonly body: object }): Answer {
  const { status, headers, body } = answer;
  const { parameter } = error.details;
  const problem = {
    type: 'about:blank',
    title: error.code,
    status,
    detail: error.message,
    ...(parameter === undefined ? {} : { parameter }),
  };
  return { status, headers: { ...headers, 'content-type': 'application/problem+json' }, body: { ...problem, ...body } };
}
