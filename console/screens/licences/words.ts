/** How licences stand, and offerings as they are typed. */
import { ago } from '../../core/format.ts';
import type { Tone } from '../../parts/panel.ts';
import type { Licence, Offering } from './documents.ts';

const SOON_MS = 14 * 86_400_000;

/** How a licence stands. */
export function licenceState(
  { revokedAt, revokedReason, from, until }: Pick<Licence, 'revokedAt' | 'revokedReason' | 'from' | 'until'>,
  now: number = Date.now(),
): { readonly tone: Tone; readonly text: string } {
  if (revokedAt !== null) return { tone: 'bad', text: revokedReason === 'payment_reverted' ? 'Payment taken back' : 'Revoked' };
  if (until <= now) return { tone: 'plain', text: 'Ended' };
  if (from > now) return { tone: 'plain', text: `Begins ${ago(from, now)}` };
  return until - now < SOON_MS ? { tone: 'warn', text: `Ends ${ago(until, now)}` } : { tone: 'good', text: 'In force' };
}

/** Periods as lines of text: `30: 1`. */
export function periodsText({ periodFactors }: Pick<Offering, 'periodFactors'>): string {
  return (periodFactors ?? []).map(({ upToDays, factor }) => `${upToDays}: ${factor}`).join('\n');
}

/** Lines of text as periods; null: the usual ones. The first line that is none is told. */
export function periodsOf(text: string): { readonly periods: Offering['periodFactors']; readonly wrong: string | null } {
  const periods: { upToDays: number; factor: string }[] = [];
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const [, days = '', factor = ''] = /^(\d+(?:[.,]\d+)?)\s*[:=;\s]\s*(\d+(?:[.,]\d+)?)$/.exec(line) ?? [];
    if (factor === '') return { periods: null, wrong: line };
    periods.push({ upToDays: Number(days.replace(',', '.')), factor: factor.replace(',', '.') });
  }
  return { periods: periods.length === 0 ? null : periods, wrong: null };
}

/** What a page costs for each period, in words. */
export function periodLines({ periodFactors }: Pick<Offering, 'periodFactors'>): readonly string[] {
  if (periodFactors === null) return ['up to 30 days: one price a page', 'each further 30 days: half a price more'];
  return periodFactors.map(({ upToDays, factor }, at) => {
    const beyond = at === periodFactors.length - 1 ? ', and beyond' : '';
    return `up to ${upToDays} ${upToDays === 1 ? 'day' : 'days'}${beyond}: ${factor} × the price a page`;
  });
}
