/** The public record of a payment: what a stranger needs to check it on chain, and nothing about people but addresses. Pure. */
import type { Address } from '../../kernel/money/legs.ts';
import { microToJson } from '../../kernel/money/money.ts';
import type { ReceiptPayload } from '../../kernel/receipt.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { TokenDomain } from '../../pricing/rules/quote.ts';
import type { PageAnswer } from './answer.ts';
import { heldMessage, isAsSent } from './answer.ts';

/** A licence that was sold; times in epoch milliseconds. */
export interface SoldLicence {
  readonly patterns: readonly string[];
  readonly terms: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What was sold, to whom and by whom it was paid for, as its terms say it. */
export interface SoldFacts {
  readonly host: string;
  /** For everybody to see (`publicResourceOf`). */
  readonly resourceUrl: string;
  readonly kind: CrossingKind;
  readonly amountMicro: bigint;
  readonly network: string;
  readonly asset: Address;
  readonly payTo: Address;
  readonly legs: readonly { readonly toAddress: Address; readonly amountMicro: bigint }[];
  /** Null for a page. */
  readonly licence: SoldLicence | null;
}

/** The terms a payment was made under, as the text that is hashed: its bytes are the document, in this order of members. */
export function termsText({ licence, ...sold }: SoldFacts): string {
  const scope = licence && {
    patterns: licence.patterns,
    terms: licence.terms,
    from: new Date(licence.fromMs).toISOString(),
    until: new Date(licence.untilMs).toISOString(),
  };
  return JSON.stringify({
    version: 1,
    sells: licence ? 'licence' : 'page',
    host: sold.host,
    resourceUrl: sold.resourceUrl,
    kind: sold.kind,
    ...(scope ?? {}),
    amountMicro: microToJson(sold.amountMicro),
    currency: 'USDC',
    network: sold.network,
    asset: sold.asset,
    payTo: sold.payTo,
    legs: legsToJson(sold.legs),
  });
}

/** One transfer of the token in the transaction of a payment. */
export interface RecordTransfer {
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly blockTimeMs: number;
  /** In the block, as nodes count it. */
  readonly logIndex: number;
  readonly from: string;
  readonly to: string;
  readonly amountMicro: bigint;
  /** The buyer's own; into the same split, for another payment; or out of it, to the authors. */
  readonly role: 'payment' | 'beside' | 'payout';
}

/** What the buyer signed (EIP-3009). */
export interface SignedAuthorization {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: string;
  readonly signature: string;
}

/** Everything a record is made of. */
export interface RecordFacts {
  readonly receipt: ReceiptPayload;
  readonly id: string;
  readonly url: string;
  readonly isFinal: boolean;
  readonly sold: SoldFacts;
  readonly transfers: readonly RecordTransfer[];
  readonly authorization: SignedAuthorization;
  /** Null once the network is not configured any more: the token itself says it. */
  readonly domain: TokenDomain | null;
  /** How the answer with the page went, as the site and the buyer say. */
  readonly answer: PageAnswer;
}

/**
 * The record: a receipt with more members, so that code that verifies the one verifies the other. `sha256` gives the digest of a text
 * in lower-case hex. The same facts give the same record, member for member.
 */
export function recordOf(facts: RecordFacts, sha256: (text: string) => string) {
  const { receipt, id, url, isFinal, sold, authorization, domain, answer } = facts;
  const document = termsText(sold);
  const { value, validAfter, validBefore } = authorization;
  return {
    ...receipt,
    id,
    url,
    status: isFinal ? 'final' : 'settled',
    sells: sold.licence ? 'licence' : 'page',
    kind: sold.kind,
    host: sold.host,
    amountMicro: microToJson(sold.amountMicro),
    currency: 'USDC',
    asset: sold.asset,
    payTo: sold.payTo,
    legs: legsToJson(sold.legs),
    transfers: facts.transfers.map(transferToJson),
    authorization: {
      ...authorization,
      value: value.toString(),
      validAfter: validAfter.toString(),
      validBefore: validBefore.toString(),
    },
    domain: domain && { ...domain, chainId: chainIdOf(receipt.network), verifyingContract: sold.asset },
    terms: { sha256: sha256(document), document },
    body: answer.body,
    answer: answerToJson(answer),
    held: heldToJson(id, answer),
  };
}

/** The record as it is told. */
export type PaymentRecord = ReturnType<typeof recordOf>;

/** Null where the site said nothing of how its answers ended. */
function answerToJson({ isTold, outcome, lostAtMs: lostAt, servedAgain, bodyAgain }: PageAnswer) {
  return isTold ? { outcome, lostAt, servedAgain, bodyAgain } : null;
}

/** What was signed stands beside its signature, so that a stranger needs no rule of ours to check it. */
function heldToJson(id: string, answer: PageAnswer) {
  if (answer.held === null) return null;
  const { sha256, signature, atMs: heldAt } = answer.held;
  return { sha256, message: heldMessage(id, sha256), signature, heldAt, isAsSent: isAsSent(answer, sha256) };
}

function legsToJson(legs: SoldFacts['legs']) {
  return legs.map(({ toAddress, amountMicro }) => ({ toAddress, amountMicro: microToJson(amountMicro) }));
}

function transferToJson({ txHash, blockNumber, blockHash, blockTimeMs, logIndex, from, to, amountMicro, role }: RecordTransfer) {
  return {
    role,
    transaction: txHash,
    blockNumber: Number(blockNumber),
    blockHash,
    blockTime: blockTimeMs,
    logIndex,
    from,
    to,
    amountMicro: microToJson(amountMicro),
  };
}

/** The number in a CAIP-2 id of an EVM chain. */
function chainIdOf(network: string): number {
  return Number(network.split(':')[1]);
}
