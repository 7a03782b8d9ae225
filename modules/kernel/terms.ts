import type { Address, Leg } from './money/legs.ts';

/** What a crossing is: a page read, or a page cited. */
export type CrossingKind = 'read' | 'citation';

/** One payee of a quote: who, where to, and its share of the price (0 … 1). */
export interface Payee {
  readonly authorId: string;
  readonly wallet: Address;
  readonly share: number;
}

/** Where a payment may go: a network, its token, and the recipient there. */
export interface Destination {
  /** CAIP-2 id. */
  readonly network: string;
  readonly asset: Address;
  readonly router: Address;
  readonly payTo: Address;
}

/**
 * The terms one payment must meet: a quote that was proven to be ours (its token, or a price version in force), turned
 * back into price, legs and recipient. Nothing in here comes from the buyer.
 */
export interface Terms extends Destination {
  readonly tenantId: string;
  readonly host: string;
  readonly slug: string;
  /** The full URL of the resource. */
  readonly resource: string;
  /** `host` + path: what the open-purchase guard and a licence are about. */
  readonly resourceKey: string;
  readonly kind: CrossingKind;
  readonly priceMicro: bigint;
  readonly payees: readonly Payee[];
  /** Canonical order; Σ amountMicro = priceMicro. */
  readonly legs: readonly Leg[];
  /** The split's leg words; null where the single payee is paid directly. */
  readonly legWords: readonly `0x${string}`[] | null;
  readonly quoteId: string;
}

/** Telemetry of the publisher's own classifier, never used for authorization. */
export interface ObservedAgent {
  readonly ua?: string;
  readonly classifyReason?: string;
  readonly verified?: boolean;
  readonly verifiedAgent?: string;
  readonly sigInvalid?: boolean;
}
