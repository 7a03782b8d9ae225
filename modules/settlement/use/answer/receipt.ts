import type { ErrorCode, ErrorDetails } from '../../../kernel/errors.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import type { ReceiptExtension } from './signReceipt.ts';

/** How a settlement reference is to be read. */
export type SettlementRefKind = 'txHash' | 'transferId' | 'mock' | 'none';

/** What a settled payment is answered with. */
export interface SettleReceipt {
  readonly settlementRef: string | null;
  readonly settlementRefKind: SettlementRefKind;
  readonly payer: Address;
  /** base64 x402 SettlementResponse, for PAYMENT-RESPONSE and X-PAYMENT-RESPONSE. */
  readonly responseHeader: string;
  /** The re-read licence. */
  readonly licenseJws: string;
  /** What moved. */
  readonly chargedMicro: bigint;
  /** Names the payment's public record; a test key's has none. */
  readonly receiptId?: string;
  /** The signed receipt (JWS), whole, whether or not the header had room for it; none for a test key and for x402 v1. */
  readonly receiptJws?: string;
  /** The licence that was bought; a page's receipt has none. */
  readonly licence?: { readonly jti: string; readonly priceMicro: bigint };
}

/** What an error says besides its sentence; `offer` is the value of PAYMENT-REQUIRED. */
interface PaymentErrorDetails extends ErrorDetails {
  readonly offer?: string | null;
}

/** A payment refused, failed or undecided: a 402 with a settlement response of its own. */
export class PaymentError extends ServiceError {
  /** base64 x402 SettlementResponse; null when nothing was attempted. */
  readonly paymentResponse: string | null;
  /** The value of PAYMENT-REQUIRED: what may be paid instead; null when nothing may. */
  readonly offer: string | null;

  constructor(code: ErrorCode, sentence: string, paymentResponse: string | null, details: PaymentErrorDetails = {}) {
    const { offer = null, ...rest } = details;
    super(code, sentence, rest);
    this.name = 'PaymentError';
    this.paymentResponse = paymentResponse;
    this.offer = offer;
  }

  /** The same error with an offer. */
  withOffer(offer: string | null): PaymentError {
    return new PaymentError(this.code, this.message, this.paymentResponse, { ...this.details, offer });
  }
}

/** The members of an x402 SettlementResponse; `amount` is not known to version 1. */
export interface SettlementResponse {
  readonly success: boolean;
  readonly errorReason?: string;
  readonly transaction: string;
  /** The network's name in the payer's version of x402. */
  readonly network: string;
  readonly payer: string;
  readonly amount?: string;
  readonly extensions?: Readonly<Record<string, object>>;
}

/** The response as a header value: base64 of ASCII JSON. */
export function encodeSettlementResponse(response: SettlementResponse): string {
  return Buffer.from(JSON.stringify(response), 'utf8').toString('base64');
}

/**
 * Most characters of a settlement response and the licence beside it: a gate has 2,560 bytes for all of its headers, and needs 270 for the names of
 * these two and for the others.
 */
export const MOST_PAID_CHARS = 2_280;

/**
 * The response of a settled payment as a header value, with as much of its receipt as the licence leaves room for: all of it, the address of its
 * record alone, or nothing. The same facts give the same bytes.
 */
export function encodePaidResponse(
  response: SettlementResponse,
  receipt: ReceiptExtension | undefined,
  licenceJws: string,
): string {
  const bare = encodeSettlementResponse(response);
  if (!receipt) return bare;
  const { info } = receipt;
  const whole = encodeSettlementResponse({ ...response, extensions: { 'offer-receipt': { info } } });
  if (whole.length + licenceJws.length <= MOST_PAID_CHARS) return whole;
  const named = encodeSettlementResponse({ ...response, extensions: { 'offer-receipt': { info: { record: info.record } } } });
  return named.length + licenceJws.length <= MOST_PAID_CHARS ? named : bare;
}
