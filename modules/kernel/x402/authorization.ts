import type { FailureReason, NextStep } from '../errors.ts';
import type { Address } from '../money/legs.ts';
import type { Authorization, ParsedPayment } from './payload.ts';

/** Does a payment meet our terms? The cheap and pure checks, in the order of safety rule 12, before its signature is read. */

/** What a payment must say. `extra` is our offer's; the buyer's may hold more. Amounts in micro. */
export interface PaymentTerms {
  /** CAIP-2 id. */
  readonly network: string;
  /** Name of the network in x402 v1; null where it has none: then no v1 payment can meet the terms. */
  readonly v1Network: string | null;
  readonly asset: Address;
  readonly payTo: Address;
  readonly amountMicro: bigint;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly maxTimeoutSeconds?: number;
}

/** What times are judged by. */
export interface TimeLimits {
  readonly blockTimeMs: number;
}

/** Why a payment is refused: our reason, the reference's code, a sentence for a person. */
export interface PaymentRefusal {
  readonly reason: FailureReason;
  readonly raw: string;
  readonly sentence: string;
  /** What to do next, where the reason does not say it by itself. */
  readonly next?: NextStep;
  /** True where the authorization's time is over, and it fits its terms in everything but `accepted`. */
  readonly isOver?: true;
}

const RAW_VALID_BEFORE = 'invalid_exact_evm_payload_authorization_valid_before';
const OVER: PaymentRefusal = {
  ...invalid(RAW_VALID_BEFORE, 'the authorization expires too soon to be settled; check your clock'),
  isOver: true,
};

/** Seconds the reference leaves between check and expiry; two block times come on top (safety 10). */
const SETTLE_MARGIN_SECONDS = 6;
/**
 * How long an authorization may still be valid when it is taken in. Clients sign for `maxTimeoutSeconds`, 300; one of years would be
 * watched for years, since a failure is final only when its authorization cannot be used any more (safety 3).
 */
const LONGEST_VALID_SECONDS = 24 * 3_600;

/**
 * Null when the payment meets the terms, else the first refusal: network, scheme, asset, recipient, value (equal, not at
 * least), times (at most 24 hours ahead), and for v2 that `accepted` repeats our offer.
 */
export function checkTerms(
  payment: ParsedPayment,
  terms: PaymentTerms,
  nowSeconds: number,
  limits: TimeLimits,
): PaymentRefusal | null {
  const { authorization, accepted } = payment;
  const network = payment.x402Version === 2 ? terms.network : terms.v1Network;
  if (payment.network !== network) {
    return unsupported('invalid_exact_evm_network_mismatch', 'this payment is for another network');
  }
  if (payment.scheme !== 'exact') return unsupported('unsupported_scheme', 'only the scheme exact is accepted');
  if (accepted && accepted.asset !== lower(terms.asset)) {
    return unsupported('asset_not_supported', 'this asset is not accepted');
  }
  if (authorization.to !== lower(terms.payTo)) {
    return invalid('invalid_exact_evm_recipient_mismatch', 'the payment is signed for another recipient');
  }
  if (authorization.from === authorization.to) {
    return invalid('invalid_payment', 'the payer and the recipient are the same address');
  }
  if (authorization.value !== terms.amountMicro) {
    return invalid('invalid_exact_evm_payload_authorization_value_mismatch', 'the signed value differs from the price');
  }
  if (authorization.validBefore > BigInt(Math.floor(nowSeconds) + LONGEST_VALID_SECONDS)) {
    const tooLong = invalid(
      RAW_VALID_BEFORE,
      'the authorization is valid for more than a day; sign for maxTimeoutSeconds of the offer',
    );
    // A client that is set up so signs the same again.
    return { ...tooLong, next: { action: 'fix_request' } };
  }
  return checkTimes(authorization, nowSeconds, limits) ?? (accepted ? checkAccepted(accepted, terms) : null);
}

/**
 * Null when the authorization is valid now and long enough to be mined: 6 s plus two block times (safety 10). Called again
 * just before broadcast.
 */
export function checkTimes(
  authorization: Pick<Authorization, 'validAfter' | 'validBefore'>,
  nowSeconds: number,
  limits: TimeLimits,
): PaymentRefusal | null {
  const needed = nowSeconds + SETTLE_MARGIN_SECONDS + (2 * limits.blockTimeMs) / 1_000;
  if (authorization.validBefore < BigInt(Math.ceil(needed))) return { ...OVER, next: fixClock(authorization, nowSeconds) };
  if (authorization.validAfter > BigInt(Math.floor(nowSeconds))) {
    const sentence = 'the authorization is not valid yet; check your clock';
    return {
      ...invalid('invalid_exact_evm_payload_authorization_valid_after', sentence),
      next: fixClock(authorization, nowSeconds),
    };
  }
  return null;
}

function fixClock({ validAfter, validBefore }: Pick<Authorization, 'validAfter' | 'validBefore'>, nowSeconds: number): NextStep {
  return {
    action: 'fix_clock',
    serverTime: Math.floor(nowSeconds),
    validAfter: String(validAfter),
    validBefore: String(validBefore),
  };
}

function checkAccepted(accepted: NonNullable<ParsedPayment['accepted']>, terms: PaymentTerms): PaymentRefusal | null {
  const { maxTimeoutSeconds: sent } = accepted;
  const ours = terms.maxTimeoutSeconds;
  const same =
    accepted.payTo === lower(terms.payTo) &&
    accepted.amount === terms.amountMicro &&
    (sent === undefined || ours === undefined || sent === ours) &&
    Object.keys(terms.extra).every((key) => Object.hasOwn(accepted.extra, key) && equal(accepted.extra[key], terms.extra[key]));
  return same ? null : invalid('no_matching_payment_requirements', 'the accepted terms differ from those offered');
}

/** Deep equality of JSON values; addresses in any case. */
function equal(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string') {
    return a === b || (/^0x[0-9a-fA-F]{40}$/.test(a) && a.toLowerCase() === b.toLowerCase());
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key]))
  );
}

function lower(address: string): string {
  return address.toLowerCase();
}

function unsupported(raw: string, sentence: string): PaymentRefusal {
  return { reason: 'network_unsupported', raw, sentence };
}

function invalid(raw: string, sentence: string): PaymentRefusal {
  return { reason: 'authorization_invalid', raw, sentence };
}
