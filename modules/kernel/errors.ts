/**
 * The closed list of errors of the service. A code is what goes into `x-svc-error-code` and
 * before the colon of an `error` text; its kind is what each surface maps to its own status, once, exhaustively.
 */

/** What went wrong in general; every surface (REST, GraphQL, activities) maps each kind to one answer of its own. */
export type ErrorKind =
  | 'invalid' // the request itself: 400
  | 'unauthenticated' // no or unrecognised credential: 401
  | 'forbidden' // credential not allowed here: 403
  | 'plan' // plan lacks API access: 403 with `upgrade: true`
  | 'missing' // 404
  | 'conflict' // 409
  | 'payment' // payment refused, failed or undecided: 402
  | 'throttled' // 429 with Retry-After
  | 'unavailable' // 503 with Retry-After; nothing counted
  | 'defect'; // ours: 500

/**
 * What a caller can do about a refusal, for programs: `fund` the wallet, then send the same payment again; `sign_again` by the present offer;
 * `wait`, then send the same again; `fix_clock` and `fix_domain`, then sign again; `ask_owner`, of the site or of the account; `get_it_free`;
 * `sign_in` with a credential; `fix_request`, which fails the same way as it stands.
 */
export const NEXT_ACTIONS = [
  'fund',
  'sign_again',
  'wait',
  'fix_clock',
  'fix_domain',
  'ask_owner',
  'get_it_free',
  'sign_in',
  'fix_request',
] as const;
/** One of them. */
export type NextAction = (typeof NEXT_ACTIONS)[number];

/** The kind of each code, and what its caller does next unless the error says more. */
const CODES = {
  // invalid
  malformed_body: ['invalid', 'fix_request'],
  body_too_large: ['invalid', 'fix_request'],
  invalid_parameter: ['invalid', 'fix_request'],
  query_limit: ['invalid', 'fix_request'],
  invalid_resource: ['invalid', 'fix_request'],
  money_verdict: ['invalid', 'fix_request'],
  // unauthenticated
  missing_credential: ['unauthenticated', 'sign_in'],
  unknown_credential: ['unauthenticated', 'sign_in'],
  // forbidden
  scope_missing: ['forbidden', 'ask_owner'],
  site_suspended: ['forbidden', 'ask_owner'],
  resource_not_owned: ['forbidden', 'ask_owner'],
  outside_period: ['forbidden', 'sign_again'],
  agent_refused: ['forbidden', 'ask_owner'],
  cross_site: ['forbidden', 'fix_request'],
  // plan
  plan_gate: ['plan', 'ask_owner'],
  // missing
  not_found: ['missing', 'fix_request'],
  // conflict
  conflict: ['conflict', 'fix_request'],
  idempotency_conflict: ['conflict', 'fix_request'],
  // payment: the five counted reasons, and those that are not counted
  insufficient_funds: ['payment', 'fund'],
  authorization_invalid: ['payment', 'sign_again'],
  malformed_payment: ['payment', 'sign_again'],
  network_unsupported: ['payment', 'sign_again'],
  settlement_failed: ['payment', 'sign_again'],
  settlement_pending: ['payment', 'wait'],
  quote_expired: ['payment', 'sign_again'],
  budget_exceeded: ['payment', 'ask_owner'],
  approval_required: ['payment', 'ask_owner'],
  // throttled
  throttled: ['throttled', 'wait'],
  // unavailable
  credits_unavailable: ['unavailable', 'wait'],
  payee_blocked: ['unavailable', 'wait'],
  chain_unavailable: ['unavailable', 'wait'],
  database_unavailable: ['unavailable', 'wait'],
  workflows_unavailable: ['unavailable', 'wait'],
  signing_key_unavailable: ['unavailable', 'wait'],
  identity_unavailable: ['unavailable', 'wait'],
  overloaded: ['unavailable', 'wait'],
  payer_limited: ['unavailable', 'wait'],
  gas_budget_spent: ['unavailable', 'wait'],
  // defect
  internal: ['defect', 'wait'],
} as const satisfies Record<string, readonly [ErrorKind, NextAction]>;

/** A machine code of the closed list. */
export type ErrorCode = keyof typeof CODES;

/** Every code, in the order of its kind. */
export const ERROR_CODES = Object.keys(CODES) as readonly ErrorCode[];

/** The five failure reasons counted in audit totals. */
export const FAILURE_REASONS = [
  'insufficient_funds',
  'authorization_invalid',
  'malformed_payment',
  'network_unsupported',
  'settlement_failed',
] as const;
/** One of the five counted failure reasons of a payment. */
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** The kind of a code. */
export function kindOf(code: ErrorCode): ErrorKind {
  return CODES[code][0];
}

/** What to do next about a refusal. Amounts in micro, addresses with `0x`, times in epoch seconds. */
export type NextStep =
  | { readonly action: Exclude<NextAction, 'fund' | 'wait' | 'fix_clock' | 'fix_domain' | 'get_it_free' | 'sign_in'> }
  | { readonly action: 'get_it_free'; readonly url?: string }
  /** Where a client that has nothing registers itself (RFC 7591). */
  | { readonly action: 'sign_in'; readonly register?: string }
  | { readonly action: 'wait'; readonly seconds: number }
  | {
      readonly action: 'fund';
      /** The wallet that lacks money. */
      readonly address?: string;
      readonly network?: string;
      readonly asset?: string;
      readonly needsMicro?: number;
      readonly hasMicro?: number;
    }
  /** Our time, and the signed ones as they came: where the clocks agree, it was sent too late. */
  | { readonly action: 'fix_clock'; readonly serverTime: number; readonly validAfter: string; readonly validBefore: string }
  /** The EIP-712 domain that the signature is read by. */
  | {
      readonly action: 'fix_domain';
      readonly domain: {
        readonly name: string;
        readonly version: string;
        readonly chainId: number;
        readonly verifyingContract: string;
      };
    };

/** Seconds to wait where an error that says to wait names none. */
export const WAIT_SECONDS = 5;

/** What an error may carry for its caller besides code and sentence. */
export interface ErrorDetails {
  /** What to do next, where it is more or something else than the code says by itself. */
  readonly next?: NextStep;
  /** Seconds a client should wait; sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Name of the offending parameter or body path, for logs and problem details. */
  readonly parameter?: string;
  /** What a wallet may sign to be let in: the member `sign-in-with-x` of the body's `extensions` (x402). */
  readonly signIn?: object;
  /** Address of the protected resource's metadata (RFC 9728), which a 401 names in `WWW-Authenticate`. */
  readonly resourceMetadata?: string;
  /** What a buyer account may spend, where that is in the way. */
  readonly spending?: SpendingDetails;
}

/** What is in the way of a purchase by an account; amounts in micro-USDC. */
export interface SpendingDetails {
  readonly limit: 'stopped' | 'page' | 'total' | 'host' | 'approval';
  readonly limitMicro: bigint;
  readonly spentMicro: bigint;
  /** When the budget begins again, epoch ms. */
  readonly periodEndsAtMs: number;
  /** What the owner was asked; null where no yes would help. */
  readonly approvalId: string | null;
}

/** An expected error: a code of the closed list and a sentence for a person. Never carries a secret. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, sentence: string, details: ErrorDetails = {}) {
    super(plain(sentence));
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }

  /** The kind that surfaces map to a status. */
  get kind(): ErrorKind {
    return kindOf(this.code);
  }

  /** What its caller does next. */
  get next(): NextStep {
    const { next, retryAfterSeconds = WAIT_SECONDS } = this.details;
    const action: NextAction = CODES[this.code][1];
    if (next) return next;
    return action === 'wait' ? { action, seconds: retryAfterSeconds } : { action };
  }

  /** The `error` text of an answer: `<code>: <sentence>`. */
  get text(): string {
    return `${this.code}: ${this.message}`;
  }
}

const PLAIN: Readonly<Record<string, string>> = {
  '\u2018': "'",
  '\u2019': "'",
  '\u201c': '"',
  '\u201d': '"',
  '\u2013': '-',
  '\u2026': '...',
};

/** A sentence with the quotes and dashes of ASCII: it travels in headers, and clients read those as Latin-1. */
function plain(sentence: string): string {
  return sentence.replace(/[\u2018\u2019\u201c\u201d\u2013\u2026]/g, (letter) => PLAIN[letter] ?? letter);
}

/** True for errors of the closed list; anything else that is thrown is a defect. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof ServiceError;
}

/** What a log says of an error that is ours, with the driver's reason, which no caller gets to see. */
export function outageFields({ code, message, cause }: ServiceError): Readonly<Record<string, string>> {
  return { code, sentence: message, ...(cause === undefined ? {} : { reason: String(cause) }) };
}
