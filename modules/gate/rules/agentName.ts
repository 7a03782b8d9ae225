import { MAX_UA_CHARS } from './crawlers.ts';

/** Most names that agents give themselves, of one site and day (UTC); requests under any further name are `other`. */
export const MAX_NAMES = 200;
/** As many of them, at most, go to those of the day before that had the most requests; the rest to names in the order they come. */
export const MAX_CARRIED_NAMES = 150;

/** A product token and what may end it. Others of HTTP's characters make no name: it is text that strangers send, and owners read. */
const TOKEN = '([A-Za-z0-9][A-Za-z0-9._-]{1,39})(?=[\\s/();,]|$)';
const FIRST = new RegExp(`^\\s*${TOKEN}`);
const COMPATIBLE = new RegExp(`\\bcompatible;\\s*${TOKEN}`);
/** Browsers, all of whose first product says `Mozilla`, and words that stand for no agent in reports. */
const NO_NAMES = new Set(['mozilla', 'msie', 'opera', 'other', 'unknown', 'removed']);

/**
 * The name that an agent gives itself: the first product of its User-Agent, or the one behind `compatible;` where that is `Mozilla`; lower
 * case, 2 to 40 of `a-z 0-9 _ -`. A dot becomes `_`, so that no name reads like a host that was verified. Null: it gives none.
 * No more than 512 characters are looked at.
 */
export function nameOf(userAgent: string): string | null {
  const text = userAgent.slice(0, MAX_UA_CHARS);
  const first = read(FIRST, text);
  return first === 'mozilla' ? named(read(COMPATIBLE, text)) : named(first);
}

function read(pattern: RegExp, text: string): string | null {
  return pattern.exec(text)?.[1]?.toLowerCase().replaceAll('.', '_') ?? null;
}

function named(name: string | null): string | null {
  return name === null || NO_NAMES.has(name) ? null : name;
}
