import { useRoute } from './router.ts';

/** Stretches of time one can pick; the first is looked at unless the address says another. */
export const WINDOWS = [
  { key: 'LAST_28_DAYS', label: 'Last 28 days' },
  { key: 'TODAY', label: 'Today' },
  { key: 'YESTERDAY', label: 'Yesterday' },
  { key: 'LAST_7_DAYS', label: 'Last 7 days' },
  { key: 'THIS_WEEK', label: 'This week' },
  { key: 'THIS_MONTH', label: 'This month' },
  { key: 'PREVIOUS_MONTH', label: 'Last month' },
  { key: 'LAST_90_DAYS', label: 'Last 90 days' },
  { key: 'THIS_YEAR', label: 'This year' },
] as const;

/** What `$window: WindowInput` takes. */
export type WindowInput =
  | { readonly named: string; readonly timeZone: string }
  | { readonly from: string | null; readonly to: string | null };

/** The window a screen looks at, as the address says it. */
export interface LookedAt {
  readonly window: WindowInput;
  readonly timeZone: string;
  /** Buckets that suit its length. */
  readonly every: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';
  /** Key of `WINDOWS`, or `custom`. */
  readonly key: string;
  /** First and last day of a custom one, `2026-11-22`. */
  readonly days: { readonly from: string; readonly to: string };
  /** As many days right before, whose buckets lie beside those of the window; null where none do. */
  readonly before: { readonly from: string; readonly to: string } | null;
}

/** The viewer's time zone. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** The window of the address, in a component. */
export function useWindow(): LookedAt {
  const { query } = useRoute();
  return lookedAt(query['window'] ?? null, query['from'] ?? '', query['to'] ?? '');
}

/** A window by its key, or by first and last day; what is not understood is the first of `WINDOWS`. */
export function lookedAt(asked: string | null, from: string, to: string): LookedAt {
  const [first, last] = [midnight(from, 0), midnight(to, 1)];
  if (asked === 'custom' && first !== null && last !== null && first < last) {
    const every = everyOf((last.getTime() - first.getTime()) / 86_400_000);
    const window = { from: first.toISOString(), to: last.toISOString() };
    const looked = { window, timeZone: TIME_ZONE, every, key: 'custom', days: { from, to } };
    return { ...looked, before: beforeOf(looked) };
  }
  const key = WINDOWS.find((one) => one.key === asked)?.key ?? WINDOWS[0].key;
  const every: LookedAt['every'] =
    key === 'TODAY' || key === 'YESTERDAY' ? 'HOUR' : key === 'THIS_YEAR' ? 'MONTH' : key === 'LAST_90_DAYS' ? 'WEEK' : 'DAY';
  const looked = { window: { named: key, timeZone: TIME_ZONE }, timeZone: TIME_ZONE, every, key, days: { from: '', to: '' } };
  return { ...looked, before: beforeOf(looked) };
}

/** Whether the last bucket of a window is not over yet. */
export function isRunning(at: Pick<LookedAt, 'key' | 'days'>, now: Date = new Date()): boolean {
  const [, last] = daysOf(at, now);
  return last.getTime() >= new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
}

/** First and last day of a window, by the calendar here. */
export function daysOf({ key, days }: Pick<LookedAt, 'key' | 'days'>, now: Date = new Date()): readonly [Date, Date] {
  const on = (back: number): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() - back);
  const today = on(0);
  switch (key) {
    case 'custom':
      return [midnight(days.from, 0) ?? today, midnight(days.to, 0) ?? today];
    case 'TODAY':
      return [today, today];
    case 'YESTERDAY':
      return [on(1), on(1)];
    case 'LAST_7_DAYS':
      return [on(6), today];
    case 'LAST_90_DAYS':
      return [on(89), today];
    case 'THIS_WEEK':
      return [on((now.getDay() + 6) % 7), today];
    case 'THIS_MONTH':
      return [new Date(now.getFullYear(), now.getMonth(), 1), today];
    case 'PREVIOUS_MONTH':
      return [new Date(now.getFullYear(), now.getMonth() - 1, 1), new Date(now.getFullYear(), now.getMonth(), 0)];
    case 'THIS_YEAR':
      return [new Date(now.getFullYear(), 0, 1), today];
    default:
      return [on(27), today];
  }
}

/** The days before a window, by whole weeks where its buckets are weeks, by months and years where it is one of these. */
function beforeOf(at: Pick<LookedAt, 'key' | 'days' | 'every'>): LookedAt['before'] {
  const [first, last] = daysOf(at);
  const on = (date: Date, months: number, days: number): Date =>
    new Date(date.getFullYear(), date.getMonth() + months, date.getDate() + days);
  const span = (from: Date, to: Date) => ({ from: from.toISOString(), to: to.toISOString() });
  const length = Math.round((last.getTime() - first.getTime()) / 86_400_000) + 1;
  if (at.key === 'THIS_YEAR') return span(on(first, -12, 0), first);
  if (at.key === 'THIS_MONTH' || at.key === 'PREVIOUS_MONTH') {
    const from = on(first, -1, 0);
    return span(from, new Date(Math.min(on(from, 0, length).getTime(), first.getTime())));
  }
  if (at.every === 'MONTH') return null;
  const back = at.key === 'THIS_WEEK' || at.every === 'WEEK' ? Math.ceil(length / 7) * 7 : length;
  return span(on(first, 0, -back), on(first, 0, length - back));
}

function everyOf(days: number): LookedAt['every'] {
  if (days <= 2) return 'HOUR';
  if (days <= 62) return 'DAY';
  return days <= 400 ? 'WEEK' : 'MONTH';
}

/** Midnight at the beginning of a day, by the clock here, some days on; null where the text is no day. */
function midnight(day: string, daysOn: number): Date | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (year === undefined) return null;
  const at = new Date(Number(year), Number(month) - 1, Number(date) + daysOn);
  return Number.isNaN(at.getTime()) ? null : at;
}
