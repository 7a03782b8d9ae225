import { findByAuthorization } from '../db/settlement/intake.ts';
import type { FailureReason } from '../domain/errors.ts';
import { ServiceError } from '../domain/errors.ts';
import { sameLegs } from '../domain/legs.ts';
import type { ParsedPayment } from '../domain/payload.ts';
import { parsePayment } from '../domain/payload.ts';
import { slugOf } from '../domain/resource.ts';
import type { ObservedAgent, Terms } from '../domain/terms.ts';
import { withCredits } from './credits/book.ts';
import { atDatabase } from './outage.ts';
import type { Caller, PublisherDeps } from './publisher.ts';
import { presentPricing } from './quotes.ts';
import type { SentQuote } from './resolveTerms.ts';
import { requireOwnedPage, resolveTerms } from './resolveTerms.ts';
import type { SettleReceipt } from './settlement/outcome.ts';
import { encodeSettlementResponse, PaymentError } from './settlement/outcome.ts';
import { recordRefusal } from './settlement/refusal.ts';
import type { SettleRequest } from './settlement/settle.ts';

/** What verifying needs besides the publisher's side: the settlement service, bound to its own deps. */
export interface VerifyDeps extends PublisherDeps {
  readonly settle: (request: SettleRequest) => Promise<SettleReceipt>;
}

/** A verify call of the right shape. */
export interface VerifyRequest {
  readonly payment: string;
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: bigint }[];
  readonly quote: SentQuote;
  readonly resource?: string;
  readonly agent: ObservedAgent;
  readonly idempotencyKey?: string;
}

/** The longest a payment takes from the judgement of its quote to its row; what was alive then must not look expired later. */
const INTAKE_MS = 60_000;

/**
 * Settles a buyer's payment for a page of the caller's site: whose page → payment readable → quote ours and alive → legs →
 * settlement (decisions: Order of checks). Throws 400 and 403 before anything is recorded; every refusal of the payment itself
 * is a 402 and writes one `payment-failed` observation; outages are 503 and write none.
 */
export async function verifyPayment(deps: VerifyDeps, caller: Caller, request: VerifyRequest): Promise<SettleReceipt> {
  const page = requireOwnedPage({ ...request, tenant: caller.tenant });
  const slug = slugOf(presentPricing(caller.tenant).articlePrefixes, page.path) ?? '';
  const attempt = { host: page.host, slug, kind: request.quote.kind ?? 'read', micro: null, payer: '', network: deps.network.id };
  const parsed = parsePayment(request.payment);
  if (!parsed.ok) {
    throw await refuse(deps, caller, request, attempt, { code: parsed.reason, raw: parsed.raw, sentence: parsed.detail });
  }
  const terms = await termsOf(deps, caller, request, parsed.payment, attempt);
  const { tenantId, keyId, mode } = caller.key;
  const { agent, idempotencyKey } = request;
  const settleRequest = { tenantId, keyId, mode, terms, payment: parsed.payment, agent };
  return deps.settle(idempotencyKey === undefined ? settleRequest : { ...settleRequest, idempotencyKey });
}

async function termsOf(
  deps: VerifyDeps,
  caller: Caller,
  request: VerifyRequest,
  payment: ParsedPayment,
  attempt: Attempt,
): Promise<Terms> {
  const payer = payment.authorization.from;
  const network = payment.x402Version === 1 ? (deps.network.v1Name ?? deps.network.id) : deps.network.id;
  let terms: Terms;
  try {
    terms = await termsAtIntake(deps, caller, request, payment);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'payment') throw error;
    throw await refuse(
      deps,
      caller,
      request,
      { ...attempt, payer, network },
      { code: error.code, raw: error.code, sentence: error.message },
    );
  }
  if (sameLegs(request.legs, terms.legs)) return terms;
  const { host, slug, kind, priceMicro: micro } = terms;
  const sentence = 'the legs are not those of the quote';
  throw await refuse(
    deps,
    caller,
    request,
    { host, slug, kind, micro, payer, network },
    { code: 'authorization_invalid', raw: 'legs_mismatch', sentence },
  );
}

/**
 * The terms as of the payment's intake (safety 17): now for a new authorization, and for one we hold already the moment we took
 * it in, so that a repeated call meets its own answer and not an expired quote (decisions: Idempotency).
 */
async function termsAtIntake(deps: VerifyDeps, caller: Caller, request: VerifyRequest, payment: ParsedPayment): Promise<Terms> {
  try {
    return await withCredits(deps.credits, () => resolveTerms(deps, { ...request, tenant: caller.tenant, payment }));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'payment') throw error;
    const { from: payer, nonce } = payment.authorization;
    const { id: network, asset } = deps.network;
    const known = await atDatabase(() => findByAuthorization(deps.database, { network, asset, payer, nonce }));
    if (known?.tenantId !== caller.tenant.tenantId) throw error;
    const judgedAtMs = known.acceptedAt.getTime() - INTAKE_MS;
    const tenant = await deps.snapshots.tenantAsOf(known.tenantId, judgedAtMs);
    if (!tenant) throw error;
    return withCredits(deps.credits, () => resolveTerms({ ...deps, clock: () => judgedAtMs }, { ...request, tenant, payment }));
  }
}

interface Attempt {
  readonly host: string;
  readonly slug: string;
  readonly kind: Terms['kind'];
  readonly micro: bigint | null;
  readonly payer: string;
  /** The network's name in the payer's version of x402. */
  readonly network: string;
}

interface Refusal {
  readonly code: ServiceError['code'];
  /** Reason in x402's words, for the settlement response. */
  readonly raw: string;
  readonly sentence: string;
}

/** Records a refused attempt and makes its 402. */
async function refuse(
  deps: VerifyDeps,
  { key }: Caller,
  { agent }: VerifyRequest,
  { payer, network, ...attempt }: Attempt,
  { code, raw, sentence }: Refusal,
): Promise<PaymentError> {
  if (key.mode === 'live') {
    const reason: FailureReason = code === 'quote_expired' ? 'authorization_invalid' : (code as FailureReason);
    await atDatabase(() => recordRefusal(deps.database, { ...attempt, tenantId: key.tenantId, reason, agent }));
  }
  deps.metrics?.count('svc.settle.outcome', 1, { reason: code });
  const response = { success: false, errorReason: raw, transaction: '', network, payer };
  return new PaymentError(code, sentence, encodeSettlementResponse(response));
}
