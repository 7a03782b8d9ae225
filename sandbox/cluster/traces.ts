/** Traces as a collector keeps them: what processes send over OTLP in JSON, the last few thousand. */

interface Span {
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** Of the process: `svc-api`, `svc-worker`. */
  readonly service: string;
  readonly startMs: number;
  readonly endMs: number;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A trace in one line. */
export interface TraceLine {
  readonly traceId: string;
  /** Of its first span. */
  readonly name: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly spans: number;
}

/** Collected traces. */
export interface Traces {
  /** Takes the body of an export. Throws for what is none. */
  add(body: string): void;
  /** Newest first; only those with a span whose name holds `text`. */
  list(text: string): readonly TraceLine[];
  /** Its spans as an indented text, with when each began and how long it took; null for an unknown one. */
  draw(traceId: string): string | null;
}

const MOST_TRACES = 5_000;
const NANOSECONDS_PER_MS = 1e6;

/** An empty collection. */
export function createTraces(): Traces {
  const kept = new Map<string, Span[]>();
  return {
    add: (body) => {
      for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpBody).resourceSpans) {
        const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
        for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
          kept.set(span.traceId, [...(kept.get(span.traceId) ?? []), read(span, service)]);
        }
      }
      for (const traceId of kept.keys()) if (kept.size > MOST_TRACES) kept.delete(traceId);
    },
    list: (text) =>
      [...kept]
        .filter(([, spans]) => spans.some(({ name }) => name.includes(text)))
        .map(([traceId, spans]) => {
          const [first] = byStart(spans);
          return {
            traceId,
            name: first?.name ?? '',
            startedAt: new Date(first?.startMs ?? 0).toISOString(),
            spans: spans.length,
          };
        })
        .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt)),
    draw: (traceId) => {
      const spans = kept.get(traceId);
      return spans === undefined ? null : draw(byStart(spans));
    },
  };
}

function read({ spanId, parentSpanId = '', name, startTimeUnixNano, endTimeUnixNano }: OtlpSpan, service: string): Span {
  const startMs = Number(startTimeUnixNano) / NANOSECONDS_PER_MS;
  return { spanId, parentSpanId, name, service, startMs, endMs: Number(endTimeUnixNano) / NANOSECONDS_PER_MS };
}

function byStart(spans: readonly Span[]): readonly Span[] {
  return spans.toSorted((a, b) => a.startMs - b.startMs);
}

function draw(spans: readonly Span[]): string {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const beganMs = spans[0]?.startMs ?? 0;
  const lines: string[] = [];
  const write = (span: Span, depth: number): void => {
    const at = `+${(span.startMs - beganMs).toFixed(0)} ms`.padStart(10);
    const took = `${(span.endMs - span.startMs).toFixed(0)} ms`.padStart(9);
    lines.push(`${at} ${took}  ${span.service.padEnd(10)} ${'  '.repeat(depth)}${span.name}`);
    for (const child of spans) if (child.parentSpanId === span.spanId && child !== span) write(child, depth + 1);
  };
  for (const span of spans) if (!known.has(span.parentSpanId)) write(span, 0);
  return `${lines.join('\n')}\n`;
}
