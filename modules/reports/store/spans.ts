import type { Binder } from '../../../db/binder.ts';
import type { SignedSpan, Span } from '../../kernel/time/window.ts';

/** What is read of each span. */
interface OfSpan {
  readonly keys: readonly string[];
  readonly sums: readonly string[];
  readonly select: string;
  /** Whose each window is, `span.tenant_id` in the select; left out: the select names its site. */
  readonly tenants?: readonly string[];
}

/**
 * What a select gives of each span of several windows (`span.since` and `span.until` in it): `keys` as they are, `sums` added or taken off,
 * and `place`, the window's in the list. Each span is looked up by itself, in an index of the select.
 */
export function eachSpan(
  binder: Binder,
  windows: readonly (readonly SignedSpan[])[],
  { keys, sums, select, tenants }: OfSpan,
): string {
  const spans = windows.flatMap((pieces, place) => pieces.map((piece) => ({ ...piece, place })));
  const list = (type: string, values: readonly unknown[]): string => `(select ${binder.bind(values)}::${type}[])`;
  const times = (moments: readonly (number | null)[]): string =>
    list(
      'timestamptz',
      moments.map((ms) => (ms === null ? 'infinity' : new Date(ms))),
    );
  const numbers = (values: readonly number[]): string => list('int', values);
  const lists = [
    times(spans.map(({ fromMs }) => fromMs)),
    times(spans.map(({ toMs }) => toMs)),
    numbers(spans.map(({ sign }) => sign)),
    numbers(spans.map(({ place }) => place)),
    ...(tenants
      ? [
          list(
            'uuid',
            spans.map(({ place }) => tenants[place]),
          ),
        ]
      : []),
  ];
  const signed = sums.map((name) => `sign * ${name} as ${name}`);
  return `select ${['place', ...keys, ...signed].join(', ')}
      from unnest(${lists.join(', ')}) as span (since, until, sign, place${tenants ? ', tenant_id' : ''}) cross join lateral (${select} offset 0) part`;
}

/** Several windows as a relation `span (since, until, place)`, `place` being the window's in the list. */
export function spansOf(binder: Binder, windows: readonly Span[]): string {
  const times = (moments: readonly (number | null)[]): string =>
    `(select ${binder.bind(moments.map((ms) => (ms === null ? 'infinity' : new Date(ms))))}::timestamptz[])`;
  const places = `(select ${binder.bind(windows.map((_window, place) => place))}::int[])`;
  const lists = [times(windows.map(({ fromMs }) => fromMs)), times(windows.map(({ toMs }) => toMs)), places];
  return `unnest(${lists.join(', ')}) as span (since, until, place)`;
}
