import type { Database } from '../db/database.ts';
import { poolUse, tellWaits } from '../db/poolWait.ts';
import type { Metrics } from '../modules/kernel/metrics.ts';
import { NO_METRICS } from '../modules/kernel/metrics.ts';
import type { SettlementDeps } from '../modules/settlement/use/deps.ts';
import type { Rpc } from '../platform/chain/rpc/rpc.ts';
import type { Log } from '../platform/telemetry/log.ts';
import type { OpenMetrics } from '../platform/telemetry/metrics.ts';
import type { Tracing } from '../platform/telemetry/tracing.ts';
import type { Config } from './config.ts';
import type { Handler } from './requests.ts';
import { watchRequests } from './requests.ts';
import { VERSION } from './version.ts';

/** What a process shows of itself; all of it does nothing when the configuration asks for nothing. */
export interface Telemetry {
  readonly metrics: Metrics;
  readonly setGauges: OpenMetrics['setGauges'] | null;
  /** For Temporal's client and worker. */
  readonly plugins: Tracing['temporal'][];
  /** The handler watched as process/requests.ts says. */
  watchRequests(handler: Handler, routeOf: (path: string) => string): Handler;
  /** Shows how full a pool is and how long work waits for its connections. Call it once for a pool. */
  watchPool(name: 'payments' | 'reports', database: Pick<Database, 'pool'>): void;
  /** The trace of what runs now, for another process; null where none is kept. */
  currentTrace(): string | null;
  /** Runs `work` in the trace that another process named, if any, and if traces are kept. */
  goOn<T>(trace: string | undefined, name: string, work: () => Promise<T>): Promise<T>;
  /** The connection with a span around every call, named by its method and nothing else of it. */
  traceRpc(rpc: Rpc): Rpc;
  close(): Promise<void>;
}

/** Opens metrics and traces of a process, named `svc-api` or `svc-worker`. Rejects when METRICS_PORT is taken. */
export async function openTelemetry(
  config: Pick<Config, 'metricsPort' | 'metricsHost' | 'otlpEndpoint' | 'traceRatio' | 'accessLog'>,
  service: string,
  log: Log,
): Promise<Telemetry> {
  const { metricsPort: port, metricsHost: host, otlpEndpoint: endpoint, traceRatio: ratio } = config;
  // Loaded where they are asked for: together they are a tenth of what a process loads.
  const open =
    port === undefined ? null : await (await import('../platform/telemetry/metrics.ts')).openMetrics({ service, host, port });
  if (open) log.info({ url: open.url }, 'metrics are served');
  open?.addGauges(() => [{ name: 'svc.build.info', value: 1, labels: { version: VERSION } }]);
  const tracing =
    endpoint === undefined ? null : (await import('../platform/telemetry/tracing.ts')).openTracing({ service, endpoint, ratio });
  const metrics = open?.metrics ?? NO_METRICS;
  return {
    metrics,
    setGauges: open ? open.setGauges : null,
    plugins: tracing ? [tracing.temporal] : [],
    watchRequests: (handler, routeOf) => {
      const { accessLog } = config;
      return watchRequests(handler, { metrics: open ? metrics : null, tracing, log, routeOf, accessLog });
    },
    watchPool: (name, { pool }) => {
      if (open) watchPool(open, name, pool);
    },
    currentTrace: () => tracing?.current() ?? null,
    goOn: (trace, name, work) => (tracing && trace ? tracing.goOn(trace, name, work) : work()),
    traceRpc: (rpc) => (tracing ? tracedRpc(rpc, tracing) : rpc),
    close: async () => {
      await tracing?.close();
      await open?.close();
    },
  };
}

function watchPool({ metrics, addGauges }: OpenMetrics, name: string, pool: Database['pool']): void {
  const labels = { pool: name };
  tellWaits(pool, (ms) => metrics.record('svc.pool.wait', ms, labels));
  addGauges(() => {
    const { used, idle, waiting } = poolUse(pool);
    return [
      { name: 'svc.pool.waiting', value: waiting, labels },
      { name: 'svc.pool.connections', value: used, labels: { ...labels, state: 'used' } },
      { name: 'svc.pool.connections', value: idle, labels: { ...labels, state: 'idle' } },
    ];
  });
}

function tracedRpc(rpc: Rpc, tracing: Tracing): Rpc {
  const attributes = { network: rpc.networkId };
  return {
    ...rpc,
    request: (method, params, options) => tracing.within(`rpc ${method}`, attributes, () => rpc.request(method, params, options)),
    each: (method, params, options) => tracing.within(`rpc ${method}`, attributes, () => rpc.each(method, params, options)),
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
