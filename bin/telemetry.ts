import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../adapters/log.ts';
import { withLogFields } from '../adapters/logFields.ts';
import type { OpenMetrics } from '../adapters/metrics.ts';
import { openMetrics } from '../adapters/metrics.ts';
import type { Tracing } from '../adapters/tracing.ts';
import { openTracing } from '../adapters/tracing.ts';
import type { Rpc } from '../chain/rpc.ts';
import type { Metrics } from '../domain/metrics.ts';
import { NO_METRICS } from '../domain/metrics.ts';
import type { SettlementDeps } from '../services/settlement/deps.ts';
import type { Config } from './config.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** What a process shows of itself; all of it does nothing when the configuration asks for nothing. */
export interface Telemetry {
  readonly metrics: Metrics;
  readonly setGauges: OpenMetrics['setGauges'] | null;
  /** For Temporal's client and worker. */
  readonly plugins: Tracing['temporal'][];
  /** The handler with a span, the duration of quotes, and the request's id on every line of the log. */
  watchRequests(handler: Handler): Handler;
  /** The connection with a span around every call, named by its method and nothing else of it. */
  traceRpc(rpc: Rpc): Rpc;
  close(): Promise<void>;
}

/** Opens metrics and traces of a process, named `svc-api` or `svc-worker`. Rejects when METRICS_PORT is taken. */
export async function openTelemetry(
  config: Pick<Config, 'metricsPort' | 'metricsHost' | 'otlpEndpoint' | 'traceRatio'>,
  service: string,
  log: Log,
): Promise<Telemetry> {
  const { metricsPort: port, metricsHost: host, otlpEndpoint: endpoint, traceRatio: ratio } = config;
  const open = port === undefined ? null : await openMetrics({ service, host, port });
  if (open) log.info({ url: open.url }, 'metrics are served');
  const tracing = endpoint === undefined ? null : openTracing({ service, endpoint, ratio });
  const metrics = open?.metrics ?? NO_METRICS;
  return {
    metrics,
    setGauges: open ? open.setGauges : null,
    plugins: tracing ? [tracing.temporal] : [],
    watchRequests: (handler) => watchRequests(handler, open ? metrics : null, tracing),
    traceRpc: (rpc) => (tracing ? tracedRpc(rpc, tracing) : rpc),
    close: async () => {
      await tracing?.close();
      await open?.close();
    },
  };
}

const QUOTE = '/_svc/quote';

function watchRequests(handler: Handler, metrics: Metrics | null, tracing: Tracing | null): Handler {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (metrics && path === QUOTE) {
      const startedMs = performance.now();
      response.once('finish', () => metrics.record('svc.quote.duration', performance.now() - startedMs));
    }
    const span = tracing?.startRequest(`${request.method} ${path}`, request.headers);
    if (span) response.once('close', () => span.end(response.statusCode));
    const fields: Parameters<typeof withLogFields>[0] = {};
    const handled = withLogFields(fields, () => (span ? span.run(() => handler(request, response)) : handler(request, response)));
    const requestId = response.getHeader('x-request-id');
    if (typeof requestId === 'string') fields.requestId = requestId;
    return handled;
  };
}

function tracedRpc(rpc: Rpc, tracing: Tracing): Rpc {
  const attributes = { network: rpc.networkId };
  return {
    networkId: rpc.networkId,
    request: (method, params, options) => tracing.within(`rpc ${method}`, attributes, () => rpc.request(method, params, options)),
    each: (method, params) => tracing.within(`rpc ${method}`, attributes, () => rpc.each(method, params)),
    nodes: async () => (await rpc.nodes?.()) ?? [],
    close: () => rpc.close(),
  };
}

/** Settlement with its metrics and with traced connections to the chain. */
export function withTelemetry<D extends SettlementDeps>(deps: D, { metrics, traceRpc }: Telemetry): D {
  const traced = new Map<string, Rpc>();
  const rpcOf = (networkId: string): Rpc => {
    const rpc = traced.get(networkId) ?? traceRpc(deps.rpcOf(networkId));
    traced.set(networkId, rpc);
    return rpc;
  };
  return { ...deps, metrics, rpcOf };
}
