import { createHash } from 'node:crypto';
import { checkSignature } from '../../chain/contract-wallet.ts';
import type { Network } from '../../chain/network.ts';
import type { Rpc } from '../../chain/rpc.ts';
import { isDatabaseOutage, isStatementTimeout } from '../../db/database.ts';
import { findCoveringPurchase } from '../../db/licences/licences.ts';
import type { NewPayment } from '../../db/settlement/intake.ts';
import { rememberRequestKey } from '../../db/settlement/intake.ts';
import type { Payment, PaymentRef, StoredLeg } from '../../db/settlement/payment.ts';
import { checkTerms } from '../../domain/authorization.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ParsedPayment } from '../../domain/payload.ts';
import { guardLicence, guardPurchase } from '../../domain/payment/guard.ts';
import { isSettled, isUndecided } from '../../domain/payment/state.ts';
import type { ObservedAgent, Terms } from '../../domain/terms.ts';
import { admit } from './admission.ts';
import type { AnswerDeps } from './answer.ts';
import { answerPayment, pendingError } from './answer.ts';
import type { SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import { findKnown, store } from './intake.ts';
import { settleMock } from './mock.ts';
import { lookAtNonce } from './nonceLook.ts';
import type { SettleReceipt } from './outcome.ts';
import { encodeSettlementResponse, PaymentError } from './outcome.ts';
import { recordRefusal, storedAgent } from './refusal.ts';
import type { BatchStarter } from './starter.ts';
import type { Waiter } from './waiter.ts';

/** What settling needs on the side that answers callers. */
export interface SettleDeps extends Omit<AnswerDeps, 'database' | 'networks' | 'now'>, SettlementDeps {
  readonly waiter: Waiter;
  readonly starter: BatchStarter;
  readonly newId: () => string;
  /** Told of every licence purchase that got its row; starts the workflow that stays with it. */
  readonly onPurchase?: (payment: PaymentRef) => void;
}

/** One payment to settle, with the terms it must meet. Bodies and quotes were checked before (api). */
export interface SettleRequest {
  readonly tenantId: string;
  readonly keyId: string | null;
  readonly mode: 'live' | 'mock';
  readonly terms: Terms;
  readonly payment: ParsedPayment;
  readonly agent: ObservedAgent;
  readonly idempotencyKey?: string;
  /** A licence purchase: whose, and the frozen offer that is paid. */
  readonly purchase?: { readonly accountId: string; readonly offerId: string };
}

/**
 * Settles one payment and answers with its receipt (specification: POST verify). The order of checks is safety 12:
 * terms → signature → replay → open purchase → row → chain. A second call with the same authorization and the same
 * purchase gets the first one's answer, byte for byte, until its licence ends; for another purchase it is refused.
 * Throws PaymentError for a refused, failed or undecided payment, ServiceError `unavailable` kinds for outages before
 * the row exists (nothing is counted then).
 */
export async function settle(deps: SettleDeps, request: SettleRequest): Promise<SettleReceipt> {
  const { network, rpc } = chainOf(deps, request.terms.network);
  deps.signer.current();
  const nowSeconds = Math.floor(deps.now() / 1000);
  const refusal = checkTerms(request.payment, expectedTerms(request.terms, network), nowSeconds, network);
  if (refusal && !(await isKnownPayment(deps, request, network))) throw await refuse(deps, request, network, refusal);
  const signature = await checkSignature(rpc, network, request.payment);
  if (!signature.ok) throw await refuse(deps, request, network, signature);
  await checkRequestKeys(deps, request, network);
  const known = await atIntake(() => findKnown(deps.database, claimOf(request, network)));
  if (known) return answerKnown(deps, request, network, known);
  if (refusal) throw await refuse(deps, request, network, refusal);
  await atIntake(() => admit(deps, request, network));
  const unusedAtBlock = await lookBeforeRow(deps, request, network, rpc);
  const intake = await atIntake(() => insert(deps, request, network, { lane: signature.lane, unusedAtBlock }));
  if (intake.kind === 'known') return answerKnown(deps, request, network, intake.payment);
  if (request.purchase) deps.onPurchase?.(intake.payment);
  if (intake.payment.facts.state === 'held') deps.metrics?.count('svc.settle.guard_held');
  deps.crashAt('after_intake');
  return awaitDecision(deps, intake.payment);
}

/**
 * The block at which the nonce was seen unused before the row is written (safety 2), null for a test key's payment. One used
 * already was not paid to us: it is refused, unless another call stored it in the meantime.
 */
async function lookBeforeRow(deps: SettleDeps, request: SettleRequest, network: Network, rpc: Rpc): Promise<bigint | null> {
  if (request.mode === 'mock') return null;
  const { from, nonce } = request.payment.authorization;
  const look = await lookAtNonce(rpc, network, from, nonce);
  if (!look.used || (await isKnownPayment(deps, request, network))) return look.blockNumber;
  throw await refuse(deps, request, network, {
    reason: 'authorization_invalid',
    raw: 'invalid_exact_evm_nonce_already_used',
    sentence: 'this authorization was used or cancelled before it was shown to us',
  });
}

/** The terms as the authorization check wants them. */
function expectedTerms(terms: Terms, network: Network): Parameters<typeof checkTerms>[1] {
  return {
    network: terms.network,
    v1Network: network.v1Name,
    asset: terms.asset,
    payTo: terms.payTo,
    amountMicro: terms.priceMicro,
    extra: { name: network.assetName, version: network.assetVersion },
  };
}

function claimOf(request: SettleRequest, network: Network) {
  const { authorization } = request.payment;
  return { network: network.id, asset: network.asset, payer: authorization.from, nonce: authorization.nonce };
}

/** True when the authorization is one we hold: its time may be over, its stored answer still counts. */
async function isKnownPayment(deps: SettleDeps, request: SettleRequest, network: Network): Promise<boolean> {
  return (await atIntake(() => findKnown(deps.database, claimOf(request, network)))) !== null;
}

/** True when the ledger did not answer: it cannot be reached, or took too long. Neither decides anything. */
function isAway(error: unknown): boolean {
  return isDatabaseOutage(error) || isStatementTimeout(error);
}

/** Outages before the payment row exists are 503, nothing counted (safety 15). */
async function atIntake<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAway(error)) throw error;
    const sentence = 'the ledger cannot be reached; send the same payment again and do not sign another one';
    throw new ServiceError('database_unavailable', sentence, { retryAfterSeconds: 2 });
  }
}

/** Records the refusal, once and for live keys only, and makes its answer. */
async function refuse(
  deps: SettleDeps,
  request: SettleRequest,
  network: Network,
  refusal: { readonly reason: Parameters<typeof recordRefusal>[1]['reason']; readonly raw: string; readonly sentence: string },
): Promise<PaymentError> {
  const { terms, payment } = request;
  const { host, slug, kind } = terms;
  const entry = {
    tenantId: request.tenantId,
    host,
    slug,
    kind,
    micro: terms.priceMicro,
    reason: refusal.reason,
    agent: request.agent,
  };
  if (request.mode === 'live') await atIntake(() => recordRefusal(deps.database, entry));
  const name = payment.x402Version === 1 ? (network.v1Name ?? network.id) : network.id;
  const response = {
    success: false,
    errorReason: refusal.raw,
    transaction: '',
    network: name,
    payer: payment.authorization.from,
  };
  return new PaymentError(refusal.reason, refusal.sentence, encodeSettlementResponse(response));
}

/** An Idempotency-Key, or a payment-identifier of the payer, belongs to one authorization for a day. */
async function checkRequestKeys(deps: SettleDeps, request: SettleRequest, network: Network): Promise<void> {
  const claim = claimOf(request, network);
  const requestHash = sha256([claim.network, claim.asset, claim.payer, claim.nonce]);
  const remember = async (key: string) => {
    const found = await atIntake(() => rememberRequestKey(deps.database, { tenantId: request.tenantId, key, requestHash }));
    if (found === 'same' || !request.purchase) return found;
    throw new ServiceError('idempotency_conflict', 'this key belongs to another payment'); // 409, on licences only (x402 §5.5)
  };
  if (request.idempotencyKey && (await remember(`key:${request.idempotencyKey}`)) === 'other') {
    throw new ServiceError('invalid_parameter', 'this Idempotency-Key was used with another payment', {
      parameter: 'Idempotency-Key',
    });
  }
  const identifier = request.payment.paymentIdentifier;
  if (identifier && (await remember(`id:${claim.payer}:${sha256([identifier])}`)) === 'other') {
    const sentence = 'this payment-identifier belongs to another payment';
    throw await refuse(deps, request, network, { reason: 'authorization_invalid', raw: 'payment_identifier_conflict', sentence });
  }
}

function sha256(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** What an authorization is bound to: the purchase, not the bytes that asked for it (decisions: Idempotency). */
function bindingOf(terms: Terms): string {
  const legs = terms.legs.map((leg) => `${leg.toAddress}:${leg.amountMicro}`);
  return sha256([terms.tenantId, terms.host, terms.resourceKey, terms.kind, terms.priceMicro.toString(), ...legs]);
}

/** What was found out about the payer before the row. */
type Seen = Pick<NewPayment, 'lane' | 'unusedAtBlock'>;

async function insert(deps: SettleDeps, request: SettleRequest, network: Network, seen: Seen) {
  const payment = newPayment(deps, request, network, seen);
  const now = { ms: deps.now(), licenceLifeSeconds: deps.licenceLifeSeconds };
  const { purchase } = request;
  return store(deps.database, {
    payment,
    guard: async (siblings, sql) =>
      purchase
        ? guardLicence(payment, siblings, await findCoveringPurchase(sql, purchase.offerId))
        : guardPurchase(payment, siblings, now),
  });
}

function newPayment(deps: SettleDeps, request: SettleRequest, network: Network, seen: Seen): NewPayment {
  const { terms, payment, purchase } = request;
  const { authorization } = payment;
  const paymentId = deps.newId();
  const shares = new Map<string, number>();
  for (const payee of terms.payees) shares.set(payee.wallet, (shares.get(payee.wallet) ?? 0) + payee.share);
  return {
    tenantId: request.tenantId,
    paymentId,
    mode: request.mode,
    network: network.id,
    asset: network.asset,
    payer: authorization.from,
    payTo: authorization.to,
    nonce: authorization.nonce,
    validAfter: authorization.validAfter,
    validBefore: authorization.validBefore,
    signature: payment.signature,
    ...seen,
    x402Version: payment.x402Version,
    host: terms.host,
    slug: purchase ? `licence:${paymentId}` : terms.slug,
    resource: terms.resource,
    resourceKey: terms.resourceKey,
    kind: terms.kind,
    amountMicro: terms.priceMicro,
    legs: terms.legs.map((leg) => recordable({ ...leg, share: Math.min(1, shares.get(leg.toAddress) ?? 0) })),
    legWords: terms.legWords,
    router: terms.router,
    binding: bindingOf(terms),
    purpose: purchase ? 'licence' : 'page',
    accountId: purchase?.accountId ?? null,
    licenceOfferId: purchase?.offerId ?? null,
    agent: storedAgent(request.agent),
    keyId: request.keyId,
    quoteId: terms.quoteId,
  };
}

/** A leg that the ledger will take: whatever it would refuse must be refused now, before money moves (safety 11). */
function recordable(leg: StoredLeg): StoredLeg {
  const known = leg.role === 'author' || leg.role === 'coauthor' || leg.role === 'platform';
  if (!known || !(leg.share >= 0 && leg.share <= 1)) throw new RangeError('a leg of these terms cannot be recorded');
  return leg;
}

/** An authorization shown before: its own answer for its own purchase, a refusal for any other (invariant 1). */
async function answerKnown(deps: SettleDeps, request: SettleRequest, network: Network, known: Payment): Promise<SettleReceipt> {
  const isSame = known.tenantId === request.tenantId && known.mode === request.mode && known.binding === bindingOf(request.terms);
  if (!isSame) {
    const sentence = 'this authorization was presented for another purchase';
    throw await refuse(deps, request, network, {
      reason: 'authorization_invalid',
      raw: 'invalid_exact_evm_nonce_already_used',
      sentence,
    });
  }
  const licence = known.licence;
  if (isSettled(known.facts.state) && licence && deps.now() >= licence.expiresAtSeconds * 1000) {
    const sentence = 'already used: this payment was settled and its licence has ended';
    throw await refuse(deps, request, network, {
      reason: 'authorization_invalid',
      raw: 'invalid_exact_evm_nonce_already_used',
      sentence,
    });
  }
  if (isSettled(known.facts.state)) deps.metrics?.count('svc.settle.repeated_grants');
  return awaitDecision(deps, known);
}

/**
 * Hands the payment over if it still waits for a batch, waits for its row, and answers from it (safety 6). An outage of the
 * database is `settlement_pending` from here on: the row exists (safety 15).
 */
async function awaitDecision(deps: SettleDeps, payment: Payment): Promise<SettleReceipt> {
  try {
    return payment.mode === 'mock' ? await answerPayment(deps, await settleMock(deps, payment)) : await decisionOf(deps, payment);
  } catch (error) {
    throw isAway(error) ? pendingError(deps.networks, payment) : error;
  }
}

async function decisionOf(deps: SettleDeps, payment: Payment): Promise<SettleReceipt> {
  if (!isUndecided(payment.facts.state) && payment.facts.state !== 'superseded') return answerPayment(deps, payment);
  if (payment.facts.state === 'superseded' && payment.repeatsLicence) return answerPayment(deps, payment);
  if (payment.facts.state === 'accepted') deps.starter.enqueue(payment);
  const decided = await deps.waiter.wait(payment, deps.settings.waitMs);
  if (decided) deps.starter.decided(payment.paymentId);
  return answerPayment(deps, decided ?? (await latest(deps, payment)));
}

async function latest(deps: SettleDeps, payment: Payment): Promise<Payment> {
  return findKnown(deps.database, payment)
    .then((row) => row ?? payment)
    .catch(() => payment);
}
