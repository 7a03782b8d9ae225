import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { BatchObservableResult, Counter, Histogram, ObservableGauge } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { Resource } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { GaugePoint, MetricName, Metrics } from '../../modules/kernel/metrics.ts';
import { METRICS } from '../../modules/kernel/metrics.ts';

/** A process's measures and the listener that serves them. */
export interface OpenMetrics {
  readonly metrics: Metrics;
  /** Replaces the values of all gauges that were given before. */
  setGauges(points: readonly GaugePoint[]): void;
  /** Adds gauges that are read each time Prometheus asks; `source` must be cheap and must not throw. */
  addGauges(source: () => readonly GaugePoint[]): void;
  /** Where Prometheus reads. */
  readonly url: string;
  close(): Promise<void>;
}

const MILLISECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 60_000];
const BUCKETS: Readonly<Record<string, number[]>> = {
  // Few, since each route has them for each of its answers.
  'svc.http.duration': [5, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 15_000, 20_000],
  ms: MILLISECONDS,
  '1': [1, 2, 5, 10, 25, 50, 75, 100],
  gas: [20_000, 40_000, 50_000, 60_000, 80_000, 100_000, 150_000, 200_000, 400_000, 1_000_000],
};
const NANOSECONDS_PER_MS = 1e6;

/**
 * Opens the measures of a process and serves them on a listener of their own, in Prometheus' text format at `/metrics`; port 0
 * takes any free one. Counters are shown from 0 on. Rejects when the port is taken.
 */
export async function openMetrics(options: {
  readonly service: string;
  readonly host: string;
  readonly port: number;
}): Promise<OpenMetrics> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ resource: new Resource({ 'service.name': options.service }), readers: [exporter] });
  const { metrics, setGauges, addGauges } = openInstruments(provider);
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url?.split('?')[0] === '/metrics') {
      exporter.getMetricsRequestHandler(request, response);
    } else response.writeHead(404).end();
  });
  const url = await listen(server, options.host, options.port);
  return {
    metrics,
    setGauges,
    addGauges,
    url,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await provider.shutdown();
    },
  };
}

function openInstruments(provider: MeterProvider): Pick<OpenMetrics, 'metrics' | 'setGauges' | 'addGauges'> {
  const meter = provider.getMeter('svc');
  const counters = new Map<MetricName, Counter>();
  const histograms = new Map<MetricName, Histogram>();
  const gauges = new Map<MetricName, ObservableGauge>();
  for (const [name, { kind, unit, about }] of Object.entries(METRICS) as [MetricName, (typeof METRICS)[MetricName]][]) {
    const described = { unit, description: about };
    if (kind === 'gauge') gauges.set(name, meter.createObservableGauge(name, described));
    else if (kind === 'histogram') {
      const advice = { explicitBucketBoundaries: BUCKETS[name] ?? BUCKETS[unit] ?? MILLISECONDS };
      histograms.set(name, meter.createHistogram(name, { ...described, advice }));
    } else {
      const counter = meter.createCounter(name, described);
      counter.add(0);
      counters.set(name, counter);
    }
  }
  let points: readonly GaugePoint[] = [];
  const sources: (() => readonly GaugePoint[])[] = [];
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  const observe = (result: BatchObservableResult): void => {
    const own: GaugePoint = { name: 'svc.process.loop_delay', value: Math.max(0, loop.max / NANOSECONDS_PER_MS - 20) };
    loop.reset();
    for (const { name, value, labels } of [...points, own, ...sources.flatMap((source) => source())]) {
      const gauge = gauges.get(name);
      if (gauge) result.observe(gauge, value, labels);
    }
  };
  meter.addBatchObservableCallback(observe, [...gauges.values()]);
  return {
    metrics: {
      count: (name, by = 1, labels) => counters.get(name)?.add(by, labels),
      record: (name, value, labels) => histograms.get(name)?.record(value, labels),
    },
    setGauges: (given) => {
      points = given;
    },
    addGauges: (source) => {
      sources.push(source);
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const { address, family, port: taken } = server.address() as AddressInfo;
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${taken}/metrics`);
    });
  });
}
