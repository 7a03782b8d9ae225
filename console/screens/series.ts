import { day, exactDay, exactUsd, moment, usd } from '../core/format.ts';
import type { LookedAt } from '../core/windows.ts';
import type { Line } from '../parts/trend.ts';

/** How a bucket of a series is labelled below it, and told. */
export function bucketTimes(
  from: number,
  every: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH',
): { readonly label: string; readonly title: string } {
  const at = new Date(from);
  if (every === 'HOUR')
    return { label: at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' }), title: moment(from) };
  if (every === 'MONTH')
    return {
      label: at.toLocaleDateString('en-GB', { month: 'short' }),
      title: at.toLocaleDateString('en-GB', { month: 'long', year: 'numeric' }),
    };
  const weekday = at.toLocaleDateString('en-GB', { weekday: 'short' });
  return { label: day(from), title: every === 'WEEK' ? `From ${exactDay(from)}` : `${weekday} ${exactDay(from)}` };
}

/** Micro-USDC on an axis: whole dollars where there are many, else cents, else what there is. */
export function axisUsd(micro: number): string {
  if (micro >= 10_000_000_000) return `$${(micro / 1_000_000_000).toLocaleString('en-US', { maximumFractionDigits: 1 })}k`;
  if (micro >= 10_000_000) return `$${Math.round(micro / 1_000_000).toLocaleString('en-US')}`;
  const cents = Math.round(micro / 10_000);
  return cents * 10_000 === Math.round(micro) ? `$${(cents / 100).toFixed(2)}` : usd(Math.round(micro));
}

/** What was earned in the days before, as the line of a chart; null where nothing was, or the plan does not keep all of it. */
export function lineOf(
  former:
    | {
        readonly window: { readonly retentionClampedTo: number | null };
        readonly series: readonly { readonly grossMicro: string }[];
      }
    | null
    | undefined,
  before: LookedAt['before'],
): Line | null {
  if (!former || before === null || former.window.retentionClampedTo !== null) return null;
  if (former.series.every(({ grossMicro }) => grossMicro === '0')) return null;
  const last = new Date(before.to).getTime() - 1;
  const amounts = former.series.map(({ grossMicro }) => grossMicro);
  return {
    name: day(before.from) === day(last) ? `Earned on ${day(last)}` : `Earned ${day(before.from)} – ${day(last)}`,
    values: amounts.map(Number),
    texts: amounts.map((micro) => usd(micro)),
    exact: amounts.map((micro) => exactUsd(micro)),
  };
}
