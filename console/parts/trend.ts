import type { View } from '../core/html.ts';
import { html, useEffect, useRef, useState } from '../core/html.ts';

/** A stretch of time and what it came to, one value a series. Values draw only; texts are what is said. */
export interface Bucket {
  readonly label: string;
  readonly title: string;
  readonly values: readonly number[];
  readonly texts: readonly string[];
  /** For the table of screen readers, where it differs from `texts`. */
  readonly exact?: readonly string[];
}

/** What a line over the bars is called, and its value in each bucket. */
export interface Line {
  readonly name: string;
  readonly values: readonly number[];
  readonly texts: readonly string[];
  readonly exact: readonly string[];
}

/** A series of a trend. */
export interface Series {
  readonly name: string;
  readonly tone: 'accent' | 'quiet' | 'bad';
}

const HEIGHT = 188;
const TOP = 8;
const FOOT = 20;
const GUTTER = 52;

/**
 * Bars side by side over time, as SVG: it follows the theme, prints, and is sharp at every size. The pointer and the arrow keys tell a bucket;
 * a table has all of it for those who do not see it. Steps of the axis are of the values; `axis` writes them.
 */
export function Trend({
  label,
  series,
  buckets,
  axis,
  line,
  isRunning = false,
}: {
  readonly label: string;
  readonly series: readonly Series[];
  readonly buckets: readonly Bucket[];
  readonly axis: (value: number) => string;
  /** A further series, drawn as a line over the bars: what was before. */
  readonly line?: Line | null;
  /** The last bucket is not over yet: it is drawn lighter, and told as what came so far. */
  readonly isRunning?: boolean;
}): View {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(720);
  const [at, look] = useState<number | null>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.max(240, Math.round(entry.contentRect.width))));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const steps = stepsOf(Math.max(0, ...buckets.flatMap(({ values }) => values), ...(line?.values ?? [])));
  const pointOf = (index: number): string => `${GUTTER + (index + 0.5) * slot},${yOf(line?.values[index] ?? 0, steps)}`;
  const slot = (width - GUTTER) / Math.max(1, buckets.length);
  const over = (event: PointerEvent): void => {
    const x = event.clientX - (event.currentTarget as Element).getBoundingClientRect().left - GUTTER;
    look(x < 0 ? null : Math.min(buckets.length - 1, Math.floor(x / slot)));
  };
  const keyed = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    look((now) => Math.max(0, Math.min(buckets.length - 1, now === null ? (step > 0 ? 0 : buckets.length - 1) : now + step)));
  };
  return html`<div class="trend">
    <${Legend} series=${series} line=${line ?? null} at=${at} bucket=${at === null ? null : (buckets[at] ?? null)} isSoFar=${isRunning && at === buckets.length - 1} />
    <div class="plot" ref=${frame} tabindex="0" role="group" aria-label=${`${label}. Arrow keys go through it.`} onKeyDown=${keyed} onBlur=${() => look(null)}>
      <svg width=${width} height=${HEIGHT} viewBox=${`0 0 ${width} ${HEIGHT}`} aria-hidden="true" onPointerMove=${over} onPointerLeave=${() => look(null)}>
        ${steps.map((value) => html`<${Step} key=${value} y=${yOf(value, steps)} width=${width} text=${axis(value)} />`)}
        ${at === null ? null : html`<rect class="looked" x=${GUTTER + at * slot} y=${TOP} width=${slot} height=${HEIGHT - TOP - FOOT} />`}
        ${buckets.map((bucket, place) => html`<${Group} key=${place} ...${{ bucket, series, steps, slot, place, isRunning: isRunning && place === buckets.length - 1 }} />`)}
        ${
          line
            ? html`<polyline class="before" points=${line.values
                .slice(0, buckets.length)
                .map((_, index) => pointOf(index))
                .join(' ')} />`
            : null
        }
        ${labelled(buckets, width).map((place) => html`<text class="tick" x=${Math.min(width - 22, GUTTER + (place + 0.5) * slot)} y=${HEIGHT - 5} text-anchor="middle">${buckets[place]?.label}</text>`)}
      </svg>
    </div>
    <${AsTable} ...${{ label, series, buckets, line: line ?? null }} />
  </div>`;
}

function Legend({
  series,
  line,
  at,
  bucket,
  isSoFar,
}: {
  readonly series: readonly Series[];
  readonly line: Line | null;
  readonly at: number | null;
  readonly bucket: Bucket | null;
  readonly isSoFar: boolean;
}): View {
  const told = bucket && at !== null ? (line?.texts[at] ?? '–') : null;
  return html`<div class="legend" aria-live="polite">
    ${series.map((one, place) => html`<span key=${one.name}><i class=${one.tone}></i>${one.name}${bucket ? html` <b>${bucket.texts[place]}</b>` : null}</span>`)}
    ${line ? html`<span><i class="line"></i>${line.name}${told === null ? null : html` <b>${told}</b>`}</span>` : null}
    <span class="when">${bucket?.title}${isSoFar ? ', so far' : ''}</span>
  </div>`;
}

function Step({ y, width, text }: { readonly y: number; readonly width: number; readonly text: string }): View {
  return html`<g><line class="grid" x1=${GUTTER} x2=${width} y1=${y} y2=${y} /><text class="tick" x=${GUTTER - 8} y=${y + 4} text-anchor="end">${text}</text></g>`;
}

function Group({
  bucket,
  series,
  steps,
  slot,
  place,
  isRunning,
}: {
  readonly bucket: Bucket;
  readonly series: readonly Series[];
  readonly steps: readonly number[];
  readonly slot: number;
  readonly place: number;
  readonly isRunning: boolean;
}): View {
  const wide = Math.max(1, Math.min(22, (slot * 0.7) / series.length));
  const left = GUTTER + place * slot + (slot - wide * series.length) / 2;
  return html`<g class=${isRunning ? 'running' : undefined}>
    ${series.map((one, index) => {
      const y = yOf(bucket.values[index] ?? 0, steps);
      const height = Math.max(0, HEIGHT - FOOT - y);
      return html`<rect key=${one.name} class=${one.tone} x=${left + index * wide} y=${y} width=${Math.max(1, wide - 1)} height=${height} rx=${Math.min(2, height)} />`;
    })}
  </g>`;
}

function AsTable({
  label,
  series,
  buckets,
  line,
}: {
  readonly label: string;
  readonly series: readonly Series[];
  readonly buckets: readonly Bucket[];
  readonly line: Line | null;
}): View {
  return html`<div class="sr"><table>
    <caption>${label}</caption>
    <thead><tr><th scope="col">When</th>${series.map(({ name }) => html`<th scope="col">${name}</th>`)}${line ? html`<th scope="col">${line.name}</th>` : null}</tr></thead>
    <tbody>
      ${buckets.map((bucket, at) => html`<tr><th scope="row">${bucket.title}</th>${(bucket.exact ?? bucket.texts).map((text) => html`<td>${text}</td>`)}${line ? html`<td>${line.exact[at] ?? '–'}</td>` : null}</tr>`)}
    </tbody>
  </table></div>`;
}

/** Four steps or less from nothing to above the largest value, by 1, 2 or 5 times a power of ten. */
export function stepsOf(largest: number): readonly number[] {
  if (largest <= 0) return [0];
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, index) => index * step);
}

function yOf(value: number, steps: readonly number[]): number {
  const top = steps.at(-1) ?? 0;
  const room = HEIGHT - TOP - FOOT;
  return top === 0 ? HEIGHT - FOOT : TOP + room * (1 - Math.max(0, value) / top);
}

/** As many labels as there is room for. */
function labelled(buckets: readonly Bucket[], width: number): readonly number[] {
  const every = Math.max(1, Math.ceil((buckets.length * 54) / Math.max(1, width - GUTTER)));
  return buckets.map((_, place) => place).filter((place) => place % every === 0);
}
