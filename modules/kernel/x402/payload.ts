import type { NextStep } from '../errors.ts';
import type { Address } from '../money/legs.ts';

/**
 * Reads the payment a buyer sent: x402 v2 or v1, scheme `exact` with an EIP-3009 authorization, as base64, base64url or
 * raw JSON. Shape only; terms, times and signature are judged elsewhere.
 */

/** Hexadecimal text with `0x`. */
export type Hex = `0x${string}`;

/** A signed EIP-3009 transfer. `value` in micro, times in epoch seconds; addresses and nonce lower-case. */
export interface Authorization {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
}

/** What a v2 payment says it accepted: the offer item the client chose (x402 v2 §5.2). */
export interface AcceptedTerms {
  readonly scheme: string;
  readonly network: string;
  readonly amount: bigint;
  readonly asset: Address;
  readonly payTo: Address;
  readonly maxTimeoutSeconds?: number;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A payment of the right shape. `network` as sent: CAIP-2 in v2, a name in v1. `erc6492`: wrapped signature, refused later. */
export interface ParsedPayment {
  readonly x402Version: 1 | 2;
  readonly scheme: string;
  readonly network: string;
  readonly asset?: Address;
  readonly accepted?: AcceptedTerms;
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly paymentIdentifier?: string;
  /** It says that it must have one, and has none. */
  readonly lacksIdentifier?: true;
  readonly authorization: Authorization;
  readonly signature: Hex;
  readonly erc6492: boolean;
}

/** The outcome of reading one payment; `raw` is the x402 reference's code, stored beside ours. */
export type PaymentParse =
  | { readonly ok: true; readonly payment: ParsedPayment }
  | {
      readonly ok: false;
      readonly detail: string;
      readonly reason: 'malformed_payment' | 'network_unsupported';
      readonly raw: string;
      /** What to do next, where the reason does not say it by itself. */
      readonly next?: NextStep;
    };

/** Longest payment text in bytes. */
export const MAX_PAYMENT_BYTES = 16_384;
const MAX_DEPTH = 16;
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Longest signature: a wallet of twenty owners fits; every byte of it is call data on our gas. */
const MAX_SIGNATURE_BYTES = 1_536;
const MAX_UINT256 = (1n << 256n) - 1n;
const ERC6492_SUFFIX = '6492'.repeat(16);

type Members = Readonly<Record<string, unknown>>;

/** A shape that is refused; caught by `parsePayment`, never leaves this file. */
class Refusal extends Error {
  readonly reason: 'malformed_payment' | 'network_unsupported';
  readonly raw: string;
  readonly next: NextStep | null;

  constructor(
    detail: string,
    raw = 'invalid_payload',
    reason: 'malformed_payment' | 'network_unsupported' = 'malformed_payment',
    next: NextStep | null = null,
  ) {
    super(detail);
    this.reason = reason;
    this.raw = raw;
    this.next = next;
  }
}

/** A client that is set up so signs the same again. */
const FIX_REQUEST: NextStep = { action: 'fix_request' };

/**
 * Parses a payment. Never throws; `detail` is a sentence for a person and repeats nothing the buyer sent. Unknown members
 * are ignored, arrays of payloads refused. A scheme or chain family whose payload we cannot know is `network_unsupported`.
 */
export function parsePayment(text: string): PaymentParse {
  try {
    return { ok: true, payment: readPayment(decode(text)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { message: detail, reason, raw, next } = error;
    return { ok: false, detail, reason, raw, ...(next ? { next } : {}) };
  }
}

function decode(text: string): unknown {
  if (text.length > MAX_PAYMENT_BYTES || Buffer.byteLength(text) > MAX_PAYMENT_BYTES) {
    throw new Refusal('the payment is larger than 16 KiB');
  }
  const trimmed = text.trim();
  const json = /^[{[]/.test(trimmed) ? trimmed : fromBase64(trimmed);
  if (depthOf(json) > MAX_DEPTH) throw new Refusal('the payment is nested too deeply');
  try {
    return JSON.parse(json);
  } catch {
    throw new Refusal('the payment is not JSON');
  }
}

function fromBase64(text: string): string {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1) {
    throw new Refusal('the payment is neither base64 nor JSON');
  }
  try {
    // Buffer reads both alphabets.
    return utf8.decode(Buffer.from(text, 'base64'));
  } catch {
    throw new Refusal('the payment is not UTF-8');
  }
}

/** Deepest nesting of braces and brackets outside strings. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{[\]}]/gs)) {
    if (token === '{' || token === '[') deepest = Math.max(deepest, ++depth);
    else if (token === '}' || token === ']') depth -= 1;
  }
  return deepest;
}

function readPayment(value: unknown): ParsedPayment {
  if (Array.isArray(value)) throw new Refusal('one payment pays all legs; a list of payments is not accepted');
  const payment = members(value, 'the payment');
  const version = own(payment, 'x402Version');
  if (version !== 1 && version !== 2) throw new Refusal('x402Version must be 1 or 2', 'invalid_x402_version');
  const chosen = version === 2 ? members(own(payment, 'accepted'), 'accepted') : payment;
  const scheme = name(chosen, 'scheme');
  const network = name(chosen, 'network');
  if (scheme !== 'exact')
    throw new Refusal('only the scheme exact is accepted', 'unsupported_scheme', 'network_unsupported', FIX_REQUEST);
  if (version === 2 && !network.startsWith('eip155:')) {
    throw new Refusal('payments on this network are not accepted', 'invalid_network', 'network_unsupported');
  }
  const payload = members(own(payment, 'payload'), 'payload');
  if (own(payload, 'permit2Authorization') !== undefined) {
    throw new Refusal('permit2 payments are not accepted', 'unsupported_payload_type', 'malformed_payment', FIX_REQUEST);
  }
  const signature = readSignature(own(payload, 'signature'));
  const authorization = readAuthorization(members(own(payload, 'authorization'), 'payload.authorization'));
  const common = { x402Version: version, scheme, network, authorization, signature, erc6492: isErc6492(signature) } as const;
  if (version === 1) return common;
  const accepted = readAccepted(chosen, scheme, network);
  return { ...common, accepted, asset: accepted.asset, ...readExtensions(own(payment, 'extensions')) };
}

function readAccepted(chosen: Members, scheme: string, network: string): AcceptedTerms {
  const timeout = own(chosen, 'maxTimeoutSeconds') ?? undefined;
  if (timeout !== undefined && (typeof timeout !== 'number' || !(timeout > 0))) {
    throw new Refusal('accepted.maxTimeoutSeconds must be a positive number');
  }
  const extra = own(chosen, 'extra') ?? {};
  return {
    scheme,
    network,
    amount: decimal(chosen, 'amount'),
    asset: address(chosen, 'asset'),
    payTo: address(chosen, 'payTo'),
    ...(timeout === undefined ? {} : { maxTimeoutSeconds: timeout }),
    extra: members(extra, 'accepted.extra'),
  };
}

function readAuthorization(value: Members): Authorization {
  const nonce = own(value, 'nonce');
  if (typeof nonce !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(nonce)) throw new Refusal('nonce must be 32 bytes of hex');
  return {
    from: address(value, 'from'),
    to: address(value, 'to'),
    value: decimal(value, 'value'),
    validAfter: decimal(value, 'validAfter'),
    validBefore: decimal(value, 'validBefore'),
    nonce: nonce.toLowerCase() as Hex,
  };
}

function readSignature(value: unknown): Hex {
  const bytes = typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})+$/.test(value) ? (value.length - 2) / 2 : 0;
  if (typeof value !== 'string' || bytes === 0 || bytes > MAX_SIGNATURE_BYTES) {
    throw new Refusal('signature must be hex of 65 bytes, or up to 1,536 bytes for a contract wallet', 'invalid_payload');
  }
  return value.toLowerCase() as Hex;
}

/** True for a signature in the ERC-6492 envelope (magic suffix): one of a wallet that is not deployed yet. */
function isErc6492(signature: Hex): boolean {
  return signature.endsWith(ERC6492_SUFFIX);
}

function readExtensions(value: unknown): Pick<ParsedPayment, 'extensions' | 'paymentIdentifier' | 'lacksIdentifier'> {
  if (value === undefined || value === null) return {};
  const extensions = members(value, 'extensions');
  const entry = own(extensions, 'payment-identifier');
  const info = isMembers(entry) ? own(entry, 'info') : undefined;
  const id = isMembers(info) ? own(info, 'id') : undefined;
  const isRequired = isMembers(info) && own(info, 'required') === true;
  if (id === undefined || id === null) return isRequired ? { extensions, lacksIdentifier: true } : { extensions };
  if (typeof id !== 'string' || !/^[A-Za-z0-9_-]{16,128}$/.test(id)) {
    throw new Refusal('the payment identifier must be 16 to 128 letters, digits, hyphens or underscores');
  }
  return { extensions, paymentIdentifier: id };
}

/** An own member; what a prototype holds, or `__proto__`, is never read. */
function own(of: Members, key: string): unknown {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function members(value: unknown, what: string): Members {
  if (!isMembers(value)) throw new Refusal(`${what} must be an object`);
  return value;
}

function name(of: Members, key: string): string {
  const value = own(of, key);
  if (typeof value !== 'string' || value.length === 0 || value.length > 64) throw new Refusal(`${key} must be a short text`);
  return value;
}

function address(of: Members, key: string): Address {
  const value = own(of, key);
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) throw new Refusal(`${key} must be an address`);
  return value.toLowerCase() as Address;
}

function decimal(of: Members, key: string): bigint {
  const value = own(of, key);
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value) || BigInt(value) > MAX_UINT256) {
    throw new Refusal(`${key} must be a decimal string below 2^256`);
  }
  return BigInt(value);
}
