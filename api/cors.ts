import type { IncomingMessage, ServerResponse } from 'node:http';
import { send } from './handler.ts';
import type { Handler } from './router.ts';

/**
 * What a page of another origin may send: anything, since none of it is a cookie. The asterisk covers every name but Authorization (Fetch standard,
 * CORS-unsafe request-header names); tools of pages add names of their own.
 */
const ALLOWED_HEADERS = '*, Authorization';

/** What it gets to read: the offer, the settlement, and why it was refused. */
const EXPOSED_HEADERS = [
  'payment-required',
  'payment-response',
  'x-payment-response',
  'retry-after',
  'x-svc-error-code',
  'x-request-id',
  'svc-api-version',
  'link',
].join(', ');

/** How long a browser may keep the answer to its question, in seconds. */
const KEPT_SECONDS = '600';

/**
 * The handler with its answers, refusals included, shown to web pages of any origin (Fetch standard, CORS). For buyers' endpoints:
 * they take credentials from headers alone, never from cookies, so a page can send none but its own.
 */
export function showToPages(handler: Handler): Handler {
  return (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-expose-headers', EXPOSED_HEADERS);
    return handler(request, response);
  };
}

/** Answers what a browser asks before it sends one of these methods. */
export function answerPreflight(methods: readonly string[]): Handler {
  const headers = {
    allow: [...methods, 'OPTIONS'].join(', '),
    'access-control-allow-origin': '*',
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': KEPT_SECONDS,
  };
  return (request: IncomingMessage, response: ServerResponse) => send(request, response, { status: 204, headers });
}
