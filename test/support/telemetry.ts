/** What processes of a service show of themselves: their metrics, and the spans a collector got. */
import { readFileSync } from 'node:fs';
import { METRICS } from '../../modules/kernel/metrics.ts';
import type { ServiceProcess } from '../../sandbox/processes-of-service.ts';
import type { Receiver } from './receiver.ts';

/** One span as a collector receives it. */
export interface SeenSpan {
  readonly traceId: string;
  readonly name: string;
  readonly service: string;
}

/** The text a process serves at /metrics; its address stands in its log. */
export async function readMetrics({ process }: ServiceProcess): Promise<string> {
  const line = readFileSync(process.logFile, 'utf8')
    .split('\n')
    .find((one) => one.includes('"metrics are served"'));
  if (line === undefined) throw new Error('the process has not said where its metrics are');
  const { url } = JSON.parse(line) as { url: string };
  return await (await fetch(url)).text();
}

/** The names under which Prometheus sees a measure. */
export function servedName(name: keyof typeof METRICS): string {
  return `${name.replaceAll('.', '_')}${METRICS[name].kind === 'counter' ? '_total' : ''}`;
}

/** The sum of all series of a measure in a text of metrics; histograms by their count. */
export function sumOf(text: string, name: keyof typeof METRICS): number {
  const served = METRICS[name].kind === 'histogram' ? `${servedName(name)}_count` : servedName(name);
  const values = text.split('\n').flatMap((line) => {
    const match = /^([a-z_]+)(?:\{[^}]*\})? (\S+)/.exec(line);
    return match?.[1] === served ? [Number(match[2])] : [];
  });
  return values.reduce((sum, value) => sum + value, 0);
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly { readonly traceId: string; readonly name: string }[] }[];
  }[];
}

/** All spans that a receiver got over OTLP in JSON. */
export function spansOf(receiver: Receiver): SeenSpan[] {
  return receiver.received.flatMap(({ body }) =>
    (JSON.parse(body) as OtlpBody).resourceSpans.flatMap(({ resource, scopeSpans }) => {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      return scopeSpans.flatMap(({ spans }) => spans.map(({ traceId, name }) => ({ traceId, name, service })));
    }),
  );
}
