import { day, exactDay, moment, usd } from '../core/format.ts';

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
