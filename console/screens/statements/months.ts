/** How far back months can be picked. */
const MONTHS = 12;

/** A month of the calendar here. */
export interface Month {
  /** 2026-10 */
  readonly key: string;
  /** October 2026 */
  readonly name: string;
  readonly from: Date;
  /** Its end, the first moment of the next. */
  readonly to: Date;
}

/** This month and those before, the newest first. */
export function monthsUpTo(now: Date = new Date()): readonly Month[] {
  return Array.from({ length: MONTHS + 1 }, (_, back) => monthOf(now.getFullYear(), now.getMonth() - back));
}

/** The month of the address; last month where it says none that can be picked. */
export function monthNamed(key: string | undefined, months: readonly Month[]): Month {
  return (months.find((month) => month.key === key) ?? months[1]) as Month;
}

/** True while a month is not over. */
export function isRunning({ to }: Month, now: Date = new Date()): boolean {
  return to.getTime() > now.getTime();
}

function monthOf(year: number, month: number): Month {
  const from = new Date(year, month, 1);
  const key = `${from.getFullYear()}-${String(from.getMonth() + 1).padStart(2, '0')}`;
  const name = from.toLocaleDateString('en-GB', { month: 'long', year: 'numeric' });
  return { key, name, from, to: new Date(from.getFullYear(), from.getMonth() + 1, 1) };
}
