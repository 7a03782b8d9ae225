/**
 * Who is credited for a page: a tree of contributors, each a leaf with a wallet or a composite
 * with members. A composite's weight is shared out among its members by their weights, exactly.
 */
import { ServiceError } from '../errors.ts';
import { hasControlCharacter } from '../hosts/host.ts';
import type { Address, LegRole } from './legs.ts';
import { canonicalPayees, MAX_LEGS } from './legs.ts';
import { parseDecimal } from './money.ts';
import type { PayeeRule } from './wallet.ts';
import { parseWallet } from './wallet.ts';

/** Deepest tree: a contributor of a page is at depth 1. */
export const MAX_CREDITS_DEPTH = 8;
/** Most contributors of a page, groups left out. */
export const MAX_LEAVES = 100;
/** With these two a quote of the largest credits fits into the body of verify, its token included. */
export const MAX_AUTHOR_ID_CHARS = 64;
export const MAX_TITLE_CHARS = 500;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** One leaf of the flattened tree; the weights of a page's leaves are whole numbers without a common divisor. */
export interface WeightedAuthor {
  readonly authorId: string;
  readonly wallet: Address;
  readonly weight: bigint;
  /** `author` when credited directly, `coauthor` as a member of a composite. */
  readonly role: LegRole;
}

/** The credits of one page, ready to be paid. */
export interface PageCredits {
  readonly title?: string;
  readonly authors: readonly WeightedAuthor[];
}

interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}
interface Leaf {
  readonly authorId: string;
  readonly wallet: Address;
  readonly share: Fraction;
  readonly role: LegRole;
}

/**
 * Checks and flattens the credits of one page. Throws ServiceError invalid_parameter that names the place (`parameter`): not a
 * leaf XOR a composite, deeper than 8, more than 50 distinct wallets, a wallet that is malformed, zero, forbidden (the asset, the router) or
 * of a wrong checksum, a weight that is not positive, or weights too fine for the contract (2^96). `rule` is what a door asks of what comes
 * in; credits that were taken before are read without it.
 */
export function flattenCredits(entry: unknown, place: string, rule: PayeeRule | null = null): PageCredits {
  const page = requireObject(entry, place);
  const title = page['title'] ?? undefined;
  if (title !== undefined && !isText(title, MAX_TITLE_CHARS)) refuse(`${place}.title`, 'a title is text');
  const leaves: Leaf[] = [];
  const whole = { place: `${place}.contributors`, depth: 1, share: { numerator: 1n, denominator: 1n }, rule };
  collect(page['contributors'], whole, leaves);
  for (const { wallet } of leaves) {
    if (rule?.forbidden.includes(wallet)) refuse(place, 'the token and the router cannot be paid');
  }
  const authors = weigh(leaves, place);
  return title === undefined ? { authors } : { title: title as string, authors };
}

/** Where a list of contributors stands, how deep, and what share of the page it has together. */
interface Group {
  readonly place: string;
  readonly depth: number;
  readonly share: Fraction;
  readonly rule: PayeeRule | null;
}

function collect(list: unknown, { place, depth, share, rule }: Group, leaves: Leaf[]): void {
  if (depth > MAX_CREDITS_DEPTH) refuse(place, `credits nest at most ${MAX_CREDITS_DEPTH} deep`);
  if (!Array.isArray(list) || list.length === 0) refuse(place, 'at least one contributor');
  const members = (list as unknown[]).map((member, index) => requireObject(member, `${place}.${index}`));
  const weights = members.map((member, index) => requireWeight(member['weight'] ?? 1, `${place}.${index}.weight`));
  const total = weights.reduce(add, { numerator: 0n, denominator: 1n });
  for (const [index, member] of members.entries()) {
    const part = multiply(share, divide(weights[index] as Fraction, total));
    const here = `${place}.${index}`;
    const { authorId, wallet, members: inner } = member;
    if (!isText(authorId, MAX_AUTHOR_ID_CHARS)) refuse(`${here}.authorId`, 'an authorId is text');
    if ((wallet === undefined) === (inner === undefined)) refuse(here, 'a contributor has either a wallet or members');
    if (inner !== undefined) {
      collect(inner, { place: `${here}.members`, depth: depth + 1, share: part, rule }, leaves);
      continue;
    }
    if (leaves.length >= MAX_LEAVES) refuse(place, `at most ${MAX_LEAVES} contributors`);
    const role = depth === 1 ? 'author' : 'coauthor';
    const payee = requireWallet(
      wallet,
      { place: `${here}.wallet`, whose: `the wallet of author ${authorId}${ofPage(rule)}` },
      rule,
    );
    leaves.push({ authorId: authorId as string, wallet: payee, share: part, role });
  }
}

/** Shares of leaves → whole weights without a common divisor; the same author at the same wallet stands once. */
function weigh(leaves: readonly Leaf[], place: string): WeightedAuthor[] {
  const denominator = leaves.reduce((least, { share }) => (least / gcd(least, share.denominator)) * share.denominator, 1n);
  const merged = new Map<string, WeightedAuthor>();
  for (const { authorId, wallet, share, role } of leaves) {
    const key = `${wallet} ${authorId}`;
    const known = merged.get(key);
    const weight = (known?.weight ?? 0n) + share.numerator * (denominator / share.denominator);
    merged.set(key, { authorId, wallet, weight, role: known?.role === 'author' ? 'author' : role });
  }
  const authors = [...merged.values()];
  const divisor = authors.reduce((common, { weight }) => gcd(common, weight), 0n);
  const reduced = authors.map((author) => ({ ...author, weight: author.weight / divisor }));
  if (new Set(reduced.map(({ wallet }) => wallet)).size > MAX_LEGS) refuse(place, `at most ${MAX_LEGS} distinct wallets`);
  try {
    canonicalPayees(reduced);
  } catch {
    refuse(place, 'the weights are too fine to be paid exactly');
  }
  return reduced;
}

function requireObject(value: unknown, place: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(place, 'must be an object');
  return value as Record<string, unknown>;
}

function ofPage(rule: PayeeRule | null): string {
  return rule?.page === undefined ? '' : ` of page ${rule.page}`;
}

function requireWallet(value: unknown, at: { readonly place: string; readonly whose: string }, rule: PayeeRule | null): Address {
  const wallet = parseWallet(value, at, rule?.checksum ?? (() => value as string));
  if (wallet === ZERO_ADDRESS) refuse(at.place, 'the zero address cannot be paid');
  return wallet;
}

/** A weight is a positive number of at most 12 digits before and after the point; taken as the decimal it is written as. */
function requireWeight(value: unknown, place: string): Fraction {
  const decimal = typeof value === 'number' ? parseDecimal(String(value)) : null;
  if (!decimal || decimal.digits <= 0n) refuse(place, 'a weight is a positive number');
  const { digits, scale } = decimal as NonNullable<typeof decimal>;
  return reduce({ numerator: digits, denominator: 10n ** BigInt(scale) });
}

function isText(value: unknown, maxChars: number): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= maxChars && value.isWellFormed() && !hasControlCharacter(value)
  );
}

function refuse(place: string, sentence: string): never {
  throw new ServiceError('invalid_parameter', `${place}: ${sentence}`, { parameter: place });
}

function add(a: Fraction, b: Fraction): Fraction {
  return reduce({
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  });
}
function multiply(a: Fraction, b: Fraction): Fraction {
  return reduce({ numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator });
}
function divide(a: Fraction, b: Fraction): Fraction {
  return reduce({ numerator: a.numerator * b.denominator, denominator: a.denominator * b.numerator });
}
function reduce({ numerator, denominator }: Fraction): Fraction {
  const divisor = gcd(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}
function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}
