/**
 * A quote: terms, the text its token signs, and its body. Nothing in here knows a clock, a key or the
 * network; who can pay to a split is passed in.
 */

import { parseResource, resourceKeyOf } from '../../kernel/hosts/host.ts';
import type { WeightedAuthor } from '../../kernel/money/credits.ts';
import type { Address, Leg } from '../../kernel/money/legs.ts';
import { canonicalPayees, splitAmounts } from '../../kernel/money/legs.ts';
import { microToJson } from '../../kernel/money/money.ts';
import type { CrossingKind, Destination, Payee, Terms } from '../../kernel/terms.ts';
import type { Asker } from './compiled.ts';

/** Life of a quote token, in milliseconds; judged at intake. */
export const QUOTE_LIFE_MS = 600_000;
/** How long a buyer's authorization may be valid (x402 `maxTimeoutSeconds`). */
export const MAX_TIMEOUT_SECONDS = 300;

/** Everything that fixes what one payment must be, before the recipient is computed; this is what a quote token signs. */
export interface QuoteFacts extends Destination {
  readonly tenantId: string;
  readonly host: string;
  readonly slug: string;
  readonly resource: string;
  readonly kind: CrossingKind;
  readonly priceMicro: bigint;
  readonly authors: readonly WeightedAuthor[];
  /** Where the price may be paid as well, in the order offered. */
  readonly others: readonly Destination[];
  /** Who was asked this price, where that may change it. */
  readonly asker?: Asker;
}

/** A quote of one moment. */
export interface IssuedQuote extends QuoteFacts {
  readonly quoteId: string;
  readonly expiresAtMs: number;
}

/** One payee on the wire. */
export interface QuotePayee {
  readonly authorId: string;
  readonly wallet: string;
  readonly share: number;
}
/** One leg on the wire; `authorId` is absent where several authors share a wallet. */
export interface QuoteLeg {
  readonly toAddress: string;
  readonly amountMicro: number;
  readonly role: string;
  readonly authorId?: string;
}

/** Name and version of a token's EIP-712 domain. */
export interface TokenDomain {
  readonly name: string;
  readonly version: string;
}
/** A further network on the wire. */
export interface QuoteNetwork {
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  readonly extra: TokenDomain;
}

/** The members of a quote that stay the same for a page while its price does. */
export interface QuoteBase {
  readonly price: number;
  readonly currency: 'USDC';
  readonly kind: CrossingKind;
  readonly slug: string;
  readonly title?: string;
  readonly host: string;
  readonly resource: string;
  readonly payTo: string;
  readonly payees: readonly QuotePayee[];
  readonly legs: readonly QuoteLeg[];
  readonly network: string;
  readonly asset: string;
  readonly extra: TokenDomain;
  readonly maxTimeoutSeconds: number;
  /** The same price on further networks, the cheapest first; absent where there is one network. */
  readonly otherNetworks?: readonly QuoteNetwork[];
}

/** The body of GET /_svc/quote; addresses checksummed (EIP-55), times in epoch milliseconds. */
export interface Quote extends QuoteBase {
  readonly quoteId: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly quoteToken: string;
}

/** Legs of a price for these authors, canonical: Σ amountMicro = priceMicro. */
export function legsOf(priceMicro: bigint, authors: readonly WeightedAuthor[]): readonly Leg[] {
  const canonical = canonicalPayees(authors);
  const amounts = splitAmounts(priceMicro, canonical);
  return canonical.map(({ wallet }, index) => {
    const here = authors.filter((author) => author.wallet === wallet);
    const ids = new Set(here.map(({ authorId }) => authorId));
    const role = here.some((author) => author.role === 'author') ? 'author' : 'coauthor';
    const leg = { toAddress: wallet, amountMicro: amounts[index] ?? 0n, role } as const;
    const [authorId] = ids;
    return ids.size === 1 && authorId !== undefined ? { ...leg, authorId } : leg;
  });
}

/** Payees of authors, in their order, with their shares of the price. */
export function payeesOf(authors: readonly WeightedAuthor[]): readonly Payee[] {
  const total = authors.reduce((sum, { weight }) => sum + weight, 0n);
  return authors.map(({ authorId, wallet, weight }) => ({ authorId, wallet, share: Number(weight) / Number(total) }));
}

/** The terms of a quote; `legWords` are those of its split, null for a single payee. */
export function buildTerms(facts: QuoteFacts & { readonly quoteId: string }, legWords: readonly `0x${string}`[] | null): Terms {
  const { tenantId, host, slug, resource, kind, priceMicro, payTo, network, asset, router, quoteId } = facts;
  const parsed = parseResource(resource);
  if (!parsed) throw new RangeError('a quote has a resource');
  const legs = legsOf(priceMicro, facts.authors);
  const payees = payeesOf(facts.authors);
  const resourceKey = resourceKeyOf(parsed);
  return {
    tenantId,
    host,
    slug,
    resource,
    resourceKey,
    kind,
    priceMicro,
    payees,
    legs,
    legWords,
    payTo,
    network,
    asset,
    router,
    quoteId,
  };
}

/** What a quote's body says besides its terms. */
export interface QuoteText {
  readonly extra: TokenDomain;
  readonly title?: string;
  /** The further networks, with the domain of each one's token. */
  readonly others?: readonly (Destination & { readonly extra: TokenDomain })[];
}

/** The unchanging part of a quote's body; `checksum` writes an address as EIP-55 does. */
export function buildQuoteBase(terms: Terms, text: QuoteText, checksum: (address: Address) => string): QuoteBase {
  const others = (text.others ?? []).map(({ network, asset, payTo, extra }) => ({
    network,
    asset: checksum(asset),
    payTo: checksum(payTo),
    extra,
  }));
  const legs = terms.legs.map(({ toAddress, amountMicro, ...rest }) => ({
    toAddress: checksum(toAddress),
    amountMicro: microToJson(amountMicro),
    ...rest,
  }));
  return {
    price: microToJson(terms.priceMicro),
    currency: 'USDC',
    kind: terms.kind,
    slug: terms.slug,
    ...(text.title === undefined ? {} : { title: text.title }),
    host: terms.host,
    resource: terms.resource,
    payTo: checksum(terms.payTo),
    payees: terms.payees.map(({ authorId, wallet, share }) => ({ authorId, wallet: checksum(wallet), share })),
    legs,
    network: terms.network,
    asset: checksum(terms.asset),
    extra: text.extra,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    ...(others.length === 0 ? {} : { otherNetworks: others }),
  };
}

/**
 * The text of the facts that a token signs, without the two members that change with every quote. Version 2 of the text says further
 * networks, version 3 who was asked; where there is nothing of that, it is version 1, which processes of an older release read.
 */
export function tokenBase(facts: QuoteFacts): string {
  const authors = facts.authors.map(({ authorId, wallet, weight, role }) => [authorId, wallet, String(weight), role]);
  const { tenantId, host, slug, resource, kind, priceMicro, network, asset, router, payTo } = facts;
  const first = [tenantId, host, slug, resource, kind, String(priceMicro), network, asset, router, payTo, authors];
  const { asker } = facts;
  if (facts.others.length === 0 && !asker) return JSON.stringify([1, ...first]);
  const others = facts.others.map((other) => [other.network, other.asset, other.router, other.payTo]);
  if (!asker) return JSON.stringify([2, ...first, others]);
  return JSON.stringify([3, ...first, others, [asker.operator, asker.category, asker.terms]]);
}

/** How many members the text of a version has. */
const TEXT_MEMBERS: Readonly<Record<string, number>> = { 1: 12, 2: 13, 3: 14 };

/** The whole text a token signs. */
export function tokenText(base: string, quoteId: string, expiresAtMs: number): string {
  return `${base}\n${quoteId}\n${expiresAtMs}`;
}

/** Reads the text of a token whose signature was proven; null for a text of another version. */
export function parseTokenText(text: string): IssuedQuote | null {
  const [base = '', quoteId = '', expiresAt = ''] = text.split('\n');
  const parts = JSON.parse(base) as unknown[];
  if (parts.length !== TEXT_MEMBERS[String(parts[0])]) return null;
  const [, tenantId, host, slug, resource, kind, price, network, asset, router, payTo, list] = parts as string[];
  const authors = (list as unknown as [string, Address, string, WeightedAuthor['role']][]).map(
    ([authorId, wallet, weight, role]) => ({ authorId, wallet, weight: BigInt(weight), role }),
  );
  const facts = { tenantId, host, slug, resource, kind, network, asset, router, payTo } as Omit<
    QuoteFacts,
    'authors' | 'priceMicro' | 'others' | 'asker'
  >;
  const more = (parts[12] ?? []) as [string, Address, Address, Address][];
  const others = more.map(([network, asset, router, payTo]) => ({ network, asset, router, payTo }));
  const [operator, category, terms] = (parts[13] ?? []) as [Asker['operator'], Asker['category'], Asker['terms']];
  const asker = parts[13] === undefined ? {} : { asker: { operator, category, terms } };
  return { ...facts, ...asker, priceMicro: BigInt(price ?? ''), authors, others, quoteId, expiresAtMs: Number(expiresAt) };
}

/**
 * The first member in which a quote sent back differs from the quote we issued, or null. Members that were left out or that
 * we do not know are no difference; addresses are compared without case.
 */
export function findDifference(sent: Readonly<Record<string, unknown>>, base: Omit<QuoteBase, 'payees'>): string | null {
  const lower = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);
  const plain = ['price', 'currency', 'kind', 'slug', 'host', 'network', 'resource'] as const;
  for (const member of plain) if (sent[member] !== undefined && sent[member] !== base[member]) return member;
  for (const member of ['payTo', 'asset'] as const) {
    if (sent[member] !== undefined && lower(sent[member]) !== lower(base[member])) return member;
  }
  return null;
}
