/** For how long and for what a licence is sold: periods, their price factors, and the words of use. */
import { ServiceError } from '../errors.ts';
import { parseDecimal } from '../money/money.ts';

/** Longest period, which is also how far ahead it may begin, and shortest, in days. */
export const MAX_PERIOD_DAYS = 366;
export const MIN_PERIOD_DAYS = 1 / 24;
const DAY_MS = 86_400_000;
/** A start this little in the past is a clock that differs, and counts as now. */
const START_SKEW_MS = 60_000;

/** Usage words of RSL 1.0. */
export const TERMS = ['search', 'ai-index', 'ai-input', 'ai-train', 'all'] as const;
/** One word of use. */
export type LicenceTerm = (typeof TERMS)[number];

/** A period in epoch milliseconds; `untilMs` is no longer part of it. */
export interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** One step of a site's table: periods of at most so many days cost the factor, a decimal as text. */
export interface PeriodFactor {
  readonly upToDays: number;
  readonly factor: string;
}

/**
 * The period asked for, in whole seconds. Throws invalid_parameter (400): days that are no number from 1/24 to 366, a start in
 * the past or more than 366 days ahead.
 */
export function parsePeriod(periodDays: number, startsAtMs: number | null, nowMs: number): Period {
  if (!Number.isFinite(periodDays) || periodDays > MAX_PERIOD_DAYS || periodDays < MIN_PERIOD_DAYS) {
    throw new ServiceError('invalid_parameter', `periodDays must be a number of days from 1/24 (an hour) to ${MAX_PERIOD_DAYS}`, {
      parameter: 'periodDays',
    });
  }
  const isSoon = startsAtMs === null || (startsAtMs >= nowMs - START_SKEW_MS && startsAtMs <= nowMs + MAX_PERIOD_DAYS * DAY_MS);
  if (!isSoon) {
    throw new ServiceError('invalid_parameter', `startsAt must be between now and ${MAX_PERIOD_DAYS} days ahead`, {
      parameter: 'startsAt',
    });
  }
  const fromMs = Math.floor(Math.max(startsAtMs ?? nowMs, nowMs) / 1000) * 1000;
  return { fromMs, untilMs: fromMs + Math.round(periodDays * 86_400) * 1000 };
}

/** The terms asked for, in the vocabulary's order. Throws invalid_parameter (400): none, an unknown one, one twice. */
export function parseTerms(terms: readonly string[]): readonly LicenceTerm[] {
  const known = TERMS.filter((term) => terms.includes(term));
  if (known.length === 0 || known.length !== terms.length) {
    throw new ServiceError('invalid_parameter', `terms must be a list of distinct words from ${TERMS.join(', ')}`, {
      parameter: 'terms',
    });
  }
  return known;
}

/** True when the terms include training. */
export function includesTraining(terms: readonly LicenceTerm[]): boolean {
  return terms.includes('ai-train') || terms.includes('all');
}

/**
 * What one page costs for the period, in micro: unit price × factor, rounded half up once. Without a table the factor is 1 up to
 * 30 days and half more for each further 30 begun; beyond a table's last step its last factor counts.
 */
export function pagePriceMicro(unitMicro: bigint, days: number, table: readonly PeriodFactor[] | null): bigint {
  const { digits, scale } = parseDecimal(factorOf(days, table)) ?? { digits: 1n, scale: 0 };
  const denominator = 10n ** BigInt(scale);
  return (2n * unitMicro * digits + denominator) / (2n * denominator);
}

/** Refuses a table that is not ascending or has a factor that is no positive decimal (invalid_parameter). */
export function validatePeriodFactors(table: readonly PeriodFactor[]): void {
  let before = 0;
  for (const { upToDays, factor } of table) {
    const decimal = parseDecimal(factor);
    const isStep =
      Number.isFinite(upToDays) && upToDays > before && decimal !== null && decimal.digits > 0n && decimal.scale <= 4;
    if (!isStep) throw new ServiceError('invalid_parameter', 'period factors must ascend by days and be positive decimals');
    before = upToDays;
  }
}

function factorOf(days: number, table: readonly PeriodFactor[] | null): string {
  const step = table?.find(({ upToDays }) => days <= upToDays) ?? table?.at(-1);
  if (step) return step.factor;
  const halves = 2 + Math.max(0, Math.ceil((days - 30) / 30));
  return `${Math.floor(halves / 2)}.${halves % 2 === 0 ? '0' : '5'}`;
}
