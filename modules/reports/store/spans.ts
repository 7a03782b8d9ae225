import type { Binder } from '../../../db/binder.ts';
import type { SignedSpan } from '../../kernel/time/window.ts';

/**
 * What a select gives of each span of several windows (`span.since` and `span.until` in it): `keys` as they are, `sums` added or taken off,
 * and `place`, the window's in the list. Each span is looked up by itself, in an index of the select.
 */
export function eachSpan(
  binder: Binder,
  windows: readonly (readonly SignedSpan[])[],
  { keys, sums, select }: { readonly keys: readonly string[]; readonly sums: readonly string[]; readonly select: string },
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
  ];
  const signed = sums.map((name) => `sign * ${name} as ${name}`);
  return `select ${['place', ...keys, ...signed].join(', ')}
      from unnest(${lists.join(', ')}) as span (since, until, sign, place) cross join lateral (${select} offset 0) part`;
}
