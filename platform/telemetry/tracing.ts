import type { Span } from '@opentelemetry/api';
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';

/** Traces of a process: HTTP request → workflow → activity → call to the chain. */
export interface Tracing {
  /** Given to Temporal's client and to its worker: carries the trace into workflows and activities and back. */
  readonly temporal: OpenTelemetryPlugin;
  /** Begins the span of a request, under the caller's trace where its headers name one (W3C Trace Context). */
  startRequest(name: string, headers: Readonly<Record<string, string | string[] | undefined>>): RequestSpan;
  /** The trace of what runs now, as another process can go on with it (W3C Trace Context); null outside of any. */
  current(): string | null;
  /** Runs `work` inside a span of its own, in the trace that another process named. */
  goOn<T>(trace: string, name: string, work: () => Promise<T>): Promise<T>;
  /** Runs `work` inside a span of its own. */
  within<T>(name: string, attributes: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T>;
  /** Sends what is left, for 5 seconds at most. */
  close(): Promise<void>;
}

/** A request's span. */
export interface RequestSpan {
  readonly traceId: string;
  /** Runs `work` with this span as the current one. */
  run<T>(work: () => T): T;
  end(status: number): void;
}

/**
 * Opens traces to an OTLP collector (`endpoint` as in OTEL_EXPORTER_OTLP_ENDPOINT: `/v1/traces` is added). Installs the process's
 * context and propagation, so that it is called once a process at most. A collector that is away costs nothing but its spans.
 */
export function openTracing(options: {
  readonly service: string;
  readonly endpoint: string;
  /** Share of new traces that are kept, 0 to 1; a caller's decision is followed. */
  readonly ratio: number;
}): Tracing {
  const resource = new Resource({ 'service.name': options.service });
  const exporter = new OTLPTraceExporter({ url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis: 5_000 });
  const spanProcessor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000, exportTimeoutMillis: 5_000 });
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.ratio) });
  const provider = new NodeTracerProvider({ resource, sampler, spanProcessors: [spanProcessor] });
  provider.register();
  const tracer = trace.getTracer('svc');
  return {
    temporal: new OpenTelemetryPlugin({ resource, spanProcessor, tracer }),
    startRequest: (name, headers) => {
      const parent = propagation.extract(ROOT_CONTEXT, headers);
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, parent);
      const active = trace.setSpan(parent, span);
      return {
        traceId: span.spanContext().traceId,
        run: (work) => context.with(active, work),
        end: (status) => {
          span.setAttribute('http.response.status_code', status);
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    current: () => {
      const carrier: { traceparent?: string } = {};
      propagation.inject(context.active(), carrier);
      return carrier.traceparent ?? null;
    },
    goOn: (traceparent, name, work) =>
      tracer.startActiveSpan(name, { kind: SpanKind.CONSUMER }, propagation.extract(ROOT_CONTEXT, { traceparent }), (span) =>
        endWith(span, work),
      ),
    within: (name, attributes, work) =>
      tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, (span) => endWith(span, work)),
    close: async () => {
      const limit = new Promise<void>((resolve) => setTimeout(resolve, 5_000).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), limit]);
    },
  };
}

/** The name of an error's kind only: messages may hold what callers sent. */
async function endWith<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
    throw error;
  } finally {
    span.end();
  }
}
