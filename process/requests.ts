import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from '../modules/kernel/metrics.ts';
import type { Log } from '../platform/telemetry/log.ts';
import type { LogFields } from '../platform/telemetry/logFields.ts';
import { withLogFields } from '../platform/telemetry/logFields.ts';
import type { Tracing } from '../platform/telemetry/tracing.ts';
import type { Config } from './config.ts';

/** Answers a request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** What calls are watched with. */
export interface RequestWatch {
  /** Null: nothing is measured. */
  readonly metrics: Metrics | null;
  readonly tracing: Tracing | null;
  readonly log: Log;
  /** The route of a path (api/routeName.ts). */
  readonly routeOf: (path: string) => string;
  /** ACCESS_LOG. */
  readonly accessLog: Config['accessLog'];
}

const QUOTE = '/_svc/quote';
const METHODS: readonly unknown[] = ['GET', 'HEAD', 'POST', 'OPTIONS'];
/** Longer than a payment waits for its answer. */
const SLOW_MS = 15_000;

/**
 * The handler with a span, its time by route, method, status and error code, the request's id on every line of the log, and a line at
 * its end where ACCESS_LOG asks for one. A line and a label hold the route as we write it and nothing that the caller wrote, so that no
 * credential, query or made-up path can reach them.
 */
export function watchRequests(handler: Handler, watch: RequestWatch): Handler {
  const { metrics, tracing, routeOf } = watch;
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const fields: LogFields = {};
    const startedMs = performance.now();
    response.once('close', () => {
      const ms = performance.now() - startedMs;
      const method = METHODS.includes(request.method) ? String(request.method) : 'other';
      const status = response.writableFinished ? String(response.statusCode) : 'cut';
      const call: Call = { route: routeOf(path), method, status, code: fields.code ?? '' };
      metrics?.record('svc.http.duration', ms, call);
      if (metrics && path === QUOTE && status !== 'cut') metrics.record('svc.quote.duration', ms);
      writeLine(watch, fields, call, ms);
    });
    const span = tracing?.startRequest(`${request.method} ${path}`, request.headers);
    if (span) response.once('close', () => span.end(response.statusCode));
    const handled = withLogFields(fields, () => (span ? span.run(() => handler(request, response)) : handler(request, response)));
    const requestId = response.getHeader('x-request-id');
    if (typeof requestId === 'string') fields.requestId = requestId;
    return handled;
  };
}

type Call = Readonly<Record<'route' | 'method' | 'status' | 'code', string>>;

function writeLine({ log, accessLog }: RequestWatch, fields: LogFields, call: Call, ms: number): void {
  const isTold = accessLog === 'all' || (accessLog === 'failed' && (call.status.startsWith('5') || ms >= SLOW_MS));
  if (isTold) withLogFields(fields, () => log.info({ ...call, ms: Math.round(ms) }, 'a call has ended'));
}
