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

const KIND_BY_CODE = {
  // invalid
  malformed_body: 'invalid',
  body_too_large: 'invalid',
  invalid_parameter: 'invalid',
  query_limit: 'invalid',
  invalid_resource: 'invalid',
  money_verdict: 'invalid',
  // unauthenticated
  missing_credential: 'unauthenticated',
  unknown_credential: 'unauthenticated',
  // forbidden
  scope_missing: 'forbidden',
  site_suspended: 'forbidden',
  resource_not_owned: 'forbidden',
  outside_period: 'forbidden',
  agent_refused: 'forbidden',
  cross_site: 'forbidden',
  // plan
  plan_gate: 'plan',
  // missing
  not_found: 'missing',
  // conflict
  conflict: 'conflict',
  idempotency_conflict: 'conflict',
  // payment: the five counted reasons, and those that are not counted
  insufficient_funds: 'payment',
  authorization_invalid: 'payment',
  malformed_payment: 'payment',
  network_unsupported: 'payment',
  settlement_failed: 'payment',
  settlement_pending: 'payment',
  quote_expired: 'payment',
  budget_exceeded: 'payment',
  approval_required: 'payment',
  // throttled
  throttled: 'throttled',
  // unavailable
  credits_unavailable: 'unavailable',
  payee_blocked: 'unavailable',
  chain_unavailable: 'unavailable',
  database_unavailable: 'unavailable',
  workflows_unavailable: 'unavailable',
  signing_key_unavailable: 'unavailable',
  identity_unavailable: 'unavailable',
  overloaded: 'unavailable',
  payer_limited: 'unavailable',
  gas_budget_spent: 'unavailable',
  // defect
  internal: 'defect',
} as const satisfies Record<string, ErrorKind>;

/** A machine code of the closed list. */
export type ErrorCode = keyof typeof KIND_BY_CODE;

/** Every code, in the order of its kind. */
export const ERROR_CODES = Object.keys(KIND_BY_CODE) as readonly ErrorCode[];

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
  return KIND_BY_CODE[code];
}

/** What an error may carry for its caller besides code and sentence. */
export interface ErrorDetails {
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
  /** When the budget begins anew, epoch ms. */
  readonly periodEndsAtMs: number;
  /** What the owner was asked; null where no yes would help. */
  readonly approvalId: string | null;
}

/** An expected error: a code of the closed list and a sentence for a person. Never carries a secret. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, sentence: string, details: ErrorDetails = {}) {
    super(sentence);
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }

  /** The kind that surfaces map to a status. */
  get kind(): ErrorKind {
    return kindOf(this.code);
  }

  /** The `error` text of an answer: `<code>: <sentence>`. */
  get text(): string {
    return `${this.code}: ${this.message}`;
  }
}

/** True for errors of the closed list; anything else that is thrown is a defect. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof ServiceError;
}
