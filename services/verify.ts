import { ServiceError } from '../domain/errors.ts';
import { sameLegs } from '../domain/legs.ts';
import type { ParsedPayment } from '../domain/payload.ts';
import { parsePayment } from '../domain/payload.ts';
import { slugOf } from '../domain/resource.ts';
import type { ObservedAgent } from '../domain/terms.ts';
import type { SettleReceipt } from './answers/receipt.ts';
import type { Refusal } from './answers/refuse.ts';
import { refuse } from './answers/refuse.ts';
import { withCredits } from './credits/book.ts';
import { atLedger } from './outage.ts';
import type { Caller, PublisherDeps } from './publisher.ts';
import { presentPricing } from './quotes.ts';
import type { SentQuote } from './resolveTerms.ts';
import { requireOwnedPage, resolveTerms } from './resolveTerms.ts';
import { findKnown } from './settlement/intake.ts';
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
 * settlement. Throws 400 and 403 before anything is recorded; every refusal of the payment itself
 * is a 402 and writes one `payment-failed` observation; outages are 503 and write none.
 */
export async function verifyPayment(deps: VerifyDeps, caller: Caller, request: VerifyRequest): Promise<SettleReceipt> {
  const page = requireOwnedPage({ ...request, tenant: caller.tenant });
  const { tenantId, keyId, mode } = caller.key;
  const { agent, idempotencyKey } = request;
  const slug = slugOf(presentPricing(caller.tenant).articlePrefixes, page.path) ?? '';
  const asked = { host: page.host, slug, kind: request.quote.kind ?? 'read', micro: null };
  const attempt = { ...asked, tenantId, mode, agent, network: deps.networks.first, x402Version: 2, payer: '' } as const;
  const parsed = parsePayment(request.payment);
  if (!parsed.ok) throw await refuse(deps, attempt, { ...parsed, sentence: parsed.detail });
  const { payment } = parsed;
  const { x402Version } = payment;
  const network = deps.networks.findForPayment(payment) ?? attempt.network;
  const readable = { ...attempt, network, x402Version, payer: payment.authorization.from };
  const met = await termsOf(deps, caller, request, payment).catch(async (error: unknown) => {
    if (!(error instanceof ServiceError) || error.kind !== 'payment') throw error;
    const raw = error.code === 'network_unsupported' ? 'invalid_exact_evm_network_mismatch' : error.code;
    throw await refuse(deps, readable, { reason: error.code as Refusal['reason'], raw, sentence: error.message });
  });
  const { host, kind, priceMicro: micro } = met.terms;
  if (!sameLegs(request.legs, met.terms.legs)) {
    const sold = { ...readable, host, slug: met.terms.slug, kind, micro };
    const sentence = 'the legs are not those of the quote';
    throw await refuse(deps, sold, { reason: 'authorization_invalid', raw: 'legs_mismatch', sentence });
  }
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return deps.settle({ tenantId, keyId, mode, ...met, payment, agent, ...key });
}

/**
 * The terms as of the payment's intake (safety 17): now for a new authorization, and for one we hold already the moment and the network we
 * took it in, so that a repeated call meets its own answer and not an expired quote, nor a network that the site left since.
 */
async function termsOf(
  deps: VerifyDeps,
  caller: Caller,
  request: VerifyRequest,
  payment: ParsedPayment,
): Promise<Pick<SettleRequest, 'terms' | 'known'>> {
  try {
    return { terms: await withCredits(deps.credits, () => resolveTerms(deps, { ...request, tenant: caller.tenant, payment })) };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'payment') throw error;
    const { from: payer, nonce } = payment.authorization;
    const { id: network, asset } = deps.networks.findForPayment(payment) ?? deps.networks.first;
    const known = await atLedger(() => findKnown(deps.database, { network, asset, payer, nonce }));
    if (known?.tenantId !== caller.tenant.tenantId) throw error;
    const judgedAtMs = known.acceptedAt.getTime() - INTAKE_MS;
    const tenant = await deps.snapshots.tenantAsOf(known.tenantId, judgedAtMs);
    if (!tenant) throw error;
    const then = { ...deps, clock: () => judgedAtMs };
    const taken = { network, asset, router: known.router, payTo: known.payTo };
    return { terms: await withCredits(deps.credits, () => resolveTerms(then, { ...request, tenant, payment, taken })), known };
  }
}
