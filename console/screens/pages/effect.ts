/** What a change of prices would do, in sentences; every figure is the API's. */
import { span, usd } from '../../core/format.ts';
import { many } from '../../core/lists.ts';

/** What a page costs. */
export interface PagePrice {
  readonly state: 'PRICED' | 'ASKED' | 'FREE' | 'REFUSED';
  readonly readMicro: string | null;
  readonly citationMicro: string | null;
  readonly freeBecause: string | null;
}

/** Pages that go from one price to another. */
export interface PriceStep {
  readonly pages: number;
  readonly paths: readonly string[];
  readonly before: PagePrice;
  readonly after: PagePrice;
}

/** Who gets what of a read. */
export interface Payee {
  readonly authorId: string | null;
  readonly wallet: string;
  readonly micro: string;
}

/** What a change would do, as the API answers it. */
export interface PriceEffect {
  readonly version: number;
  readonly pages: number;
  readonly isWhole: boolean;
  readonly formerMs: number;
  readonly steps: readonly PriceStep[];
  readonly pageBefore: { readonly payees: readonly Payee[] } | null;
  readonly pageAfter: { readonly payees: readonly Payee[]; readonly price: PagePrice } | null;
}

const BECAUSE: Readonly<Record<string, string>> = {
  NO_CREDITS: 'no author is named to be paid',
  FREE_SLUG: 'named free',
  OUT_OF_SCOPE: 'under no article prefix',
  NO_PRICE: 'the price is 0',
  FREE_RULE: 'a price rule says so',
};

/** Why a page is free, in words. */
export function becauseOf(price: PagePrice): string {
  return BECAUSE[price.freeBecause ?? ''] ?? 'free';
}

/** One line of an effect: pages that change alike. */
export interface EffectLine {
  readonly text: string;
  readonly paths: readonly string[];
  /** How many pages stand behind the paths that are shown. */
  readonly pages: number;
}

/** An effect in words: what changes, what stays, and what of the former prices. */
export interface EffectText {
  readonly changes: readonly EffectLine[];
  readonly stays: readonly string[];
  readonly notes: readonly string[];
}

/** Puts an effect into words. */
export function effectText({ steps, pages, isWhole, formerMs }: PriceEffect): EffectText {
  const changed = steps.filter(({ before, after }) => !isSame(before, after));
  const kept = steps.filter(({ before, after }) => isSame(before, after));
  const notes = [
    ...(pages === 0
      ? ['The service knows no page of this site by name yet. The prices hold for every page that is asked for.']
      : []),
    ...(isWhole ? [] : [`The catalogue is longer than this: the first ${many(pages, 'page')} were looked at.`]),
    ...(changed.some(({ before }) => before.state !== 'FREE')
      ? [`A price that a buyer saw before is accepted for ${span(formerMs).replace(' min', ' minutes')} more.`]
      : []),
  ];
  return {
    changes: changed.map((step) => ({ text: changeText(step), paths: step.paths, pages: step.pages })),
    stays: kept.map(({ pages: n, after }) => `${many(n, 'page')} ${n === 1 ? 'stays' : 'stay'} ${priceText(after)}`),
    notes,
  };
}

function changeText({ before, after, pages }: PriceStep): string {
  const [what, one] = [many(pages, 'page'), pages === 1];
  if (before.state === 'REFUSED' || after.state === 'REFUSED') {
    return `${what} ${one ? 'changes' : 'change'} from ${priceText(before, false)} to ${priceText(after, false)}`;
  }
  if (before.state === 'FREE' && after.state === 'FREE') {
    return `${what} ${one ? 'stays' : 'stay'} free, now because: ${becauseOf(after)}`;
  }
  if (after.state === 'FREE')
    return `${what} ${one ? 'becomes' : 'become'} free: ${becauseOf(after)} (now ${usd(before.readMicro)})`;
  if (before.state === 'FREE')
    return `${what} ${one ? 'that is' : 'that are'} free now ${one ? 'costs' : 'cost'} ${priceText(after, false)}`;
  const verb = one ? 'changes' : 'change';
  if (before.readMicro === after.readMicro && before.citationMicro === after.citationMicro) {
    return after.state === 'ASKED'
      ? `${what} ${one ? 'costs' : 'cost'} the same, but only if the credits API names who is paid`
      : `${what} ${one ? 'costs' : 'cost'} the same, whatever the credits API says`;
  }
  const citation =
    before.citationMicro === after.citationMicro
      ? ''
      : `; a citation from ${usd(before.citationMicro)} to ${usd(after.citationMicro)}`;
  if (before.readMicro === after.readMicro) return `${what} ${verb}${citation.replace('; a', ': a')}`;
  return `${what} ${verb} from ${usd(before.readMicro)} to ${usd(after.readMicro)}${citation}`;
}

/** A price in words: `at $0.005`, or `free: named free`. */
export function priceText(price: PagePrice, withAt = true): string {
  if (price.state === 'FREE') return `free: ${becauseOf(price)}`;
  if (price.state === 'REFUSED') return 'refused by a price rule';
  const text = `${withAt ? 'at ' : ''}${usd(price.readMicro)}`;
  return price.state === 'ASKED' ? `${text}, if the credits API names who is paid` : text;
}

function isSame(a: PagePrice, b: PagePrice): boolean {
  return (
    a.state === b.state && a.readMicro === b.readMicro && a.citationMicro === b.citationMicro && a.freeBecause === b.freeBecause
  );
}

/** A part of a whole as percent with at most one place, from integers: `33.3 %`. */
export function shareText(micro: string, of: readonly { readonly micro: string }[]): string {
  const whole = of.reduce((sum, one) => sum + BigInt(one.micro), 0n);
  if (whole === 0n) return '–';
  const thousandths = (BigInt(micro) * 1_000n + whole / 2n) / whole;
  return `${thousandths / 10n}${thousandths % 10n === 0n ? '' : `.${thousandths % 10n}`} %`;
}
