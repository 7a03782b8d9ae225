import { hash } from 'node:crypto';
import { atLedger, isAway } from '../../../../db/outage.ts';
import type { BatchPart } from '../../../../platform/chain/calls/calldata.ts';
import { gasAlone } from '../../../../platform/chain/calls/calldata.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { believedBlock, chainUnavailable, hasOthers } from '../../../../platform/chain/rpc/rpc.ts';
import { checkSignature, checkSignatureByTwo } from '../../../../platform/chain/signature/contractWallet.ts';
import { refusedByBudget } from '../../../budgets/use/refuse.ts';
import { storedAgent } from '../../../gate/rules/agent.ts';
import { labelAgent } from '../../../gate/use/agentLabels.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { licenceSlug } from '../../../kernel/pages/resource.ts';
import { isSettled, isUndecided } from '../../../kernel/payment/state.ts';
import type { ObservedAgent, Terms } from '../../../kernel/terms.ts';
import { checkTerms } from '../../../kernel/x402/authorization.ts';
import type { ParsedPayment } from '../../../kernel/x402/payload.ts';
import { findCoveringPurchase } from '../../../licences/store/licences.ts';
import { LOST_HONOURED_HOURS, wasUsedBefore } from '../../rules/firstLook.ts';
import { guardLicence, guardPurchase } from '../../rules/guard.ts';
import { SENTENCES } from '../../rules/judge.ts';
import type { AdmissionFacts } from '../../store/admission.ts';
import type { AuthorizationKey, IntakeItem, NewPayment } from '../../store/intake.ts';
import { isRequestKeyTaken, requestHashOf } from '../../store/intake.ts';
import type { LostSettlement } from '../../store/lostSettlements.ts';
import { findLost } from '../../store/lostSettlements.ts';
import { takeOwed } from '../../store/owed.ts';
import type { Payment, PaymentRef, StoredLeg } from '../../store/payment.ts';
import type { AnswerDeps } from '../answer/answer.ts';
import { answerOwed, answerPayment, pendingError } from '../answer/answer.ts';
import type { PaymentError, SettleReceipt } from '../answer/receipt.ts';
import type { Attempt, Refusal } from '../answer/refuse.ts';
import { fundOf, isVouchedBy, refuse } from '../answer/refuse.ts';
import type { ReceiptName } from '../answer/signReceipt.ts';
import { runRound } from '../batch/round.ts';
import type { SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';
import { settleMock } from '../rails/mock.ts';
import { admit } from './admission.ts';
import type { NonceLook } from './intake.ts';
import {
  findAdmission,
  findBalance,
  findHighestBalance,
  findKnown,
  findWithCode,
  foresee,
  lookAtNonce,
  lookAtNonceByTwo,
  store,
} from './intake.ts';
import type { Waiter } from './waiter.ts';

/** What settling needs on the side that answers callers. */
export interface SettleDeps extends Omit<AnswerDeps, 'database' | 'networks' | 'now' | 'metrics'>, SettlementDeps {
  readonly waiter: Waiter;
  readonly newId: () => string;
  /** The trace of the call that runs, for whoever sends its payment; null where none is kept. */
  readonly trace?: () => string | null;
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
  /** The account that buys a page; a licence purchase names its own. */
  readonly accountId?: string;
  /** A licence purchase: whose, and the offer that is paid. */
  readonly purchase?: { readonly accountId: string; readonly offerId: string };
  /**
   * What is looked at right before the row, and costs: it is asked once the payer has signed, may be let in and holds the money. What it gives refuses
   * the payment; what it throws ends the call, with nothing written. `hasMoved`: the money moved before a restore lost the row.
   */
  readonly lastLook?: (payment: { readonly hasMoved: boolean }) => Promise<Refusal | null>;
  /** The payment that holds the authorization, where the caller looked already; null: it found none. */
  readonly known?: Payment | null;
  /** In whose name the receipt is signed; ours unless told. */
  readonly receiptName?: ReceiptName;
}

const SHORT: Refusal = {
  reason: 'insufficient_funds',
  raw: 'invalid_exact_evm_insufficient_balance',
  sentence: SENTENCES.insufficient_funds,
};
const USED = { reason: 'authorization_invalid', raw: 'invalid_exact_evm_nonce_already_used' } as const;

/**
 * Settles one payment and answers with its receipt. The checks in their order (safety 12): terms → signature → stored answer → admission →
 * nonce → balance → last look → row, with the guard → chain. Before the balance nothing is written but the observation of what a site or an
 * account presented (`no`). A second call with the same authorization and the same purchase gets the first one's answer, byte for byte, until
 * its licence ends, and where its page is owed a few times more within the day; for another purchase it is refused.
 * What is read before the row is read side by side; the answers keep their order. One that our own
 * transaction carried before a restore lost its row gets the row anew, once, where it may be shown (ADR 0018).
 * Throws PaymentError for a refused, failed or undecided payment, ServiceError `unavailable` kinds for outages before
 * the row exists (nothing is counted then).
 */
export async function settle(deps: SettleDeps, request: SettleRequest): Promise<SettleReceipt> {
  const { network, rpc } = chainOf(deps, request.terms.network);
  const { payment, mode } = request;
  if (payment.lacksIdentifier) {
    const parameter = 'payment-identifier';
    throw new ServiceError('invalid_parameter', 'this payment must carry a payment-identifier', { parameter });
  }
  deps.signer.current();
  const key = {
    network: network.id,
    asset: network.asset,
    payer: payment.authorization.from,
    nonce: payment.authorization.nonce,
  };
  const find = (): Promise<Payment | null> => atLedger(() => findKnown(deps.database, key));
  const claimant = { tenantId: request.tenantId, accountId: request.purchase?.accountId ?? null };
  const findOwn = (): Promise<LostSettlement | null> =>
    atLedger(() => findLost(deps.database, key, claimant, LOST_HONOURED_HOURS));
  const misfit = checkTerms(payment, expectedTerms(request.terms, network), Math.floor(deps.now() / 1000), network);
  // Whatever does not fit is refused before its signature costs anything, unless we hold it: its time may be over, its answer counts.
  const held = misfit && request.known === undefined ? await find() : request.known;
  const late = misfit && !held && mode === 'live' && misfit.isOver ? await findOwn() : null;
  if (misfit && !held && !late) throw await no(deps, request, network, misfit);
  const signature = await checkSignature(rpc, network, payment, findWithCode);
  if (!signature.ok) throw await no(deps, request, network, signature);
  const planned = { payerKind: signature.payerKind, plannedGas: gasAlone(signature.payerKind, partOf(request)) };
  if (held) {
    await checkRequestKeys(deps, request, network);
    return answerKnown(deps, request, network, held);
  }
  const looks = lookAhead(deps, request, network, { ...key, plannedGas: planned.plannedGas });
  await checkRequestKeys(deps, request, network);
  const facts = await atLedger(() => looks.facts);
  const known = facts.holder && (await find());
  if (known) return answerKnown(deps, request, network, known);
  if (facts.holder)
    throw await no(deps, request, network, {
      ...USED,
      sentence: 'this authorization was used: its payment is no longer stored here',
    });
  await atLedger(() => admit(deps, request, network, { payerKind: signature.payerKind, facts }));
  let look = await looks.nonce;
  let own: LostSettlement | null = null;
  if (wasUsedBefore(look)) {
    const since = await find(); // another call may have stored it in the meantime, and sent it
    if (since) return answerKnown(deps, request, network, since);
    own = late ?? (await findOwn());
    if (!own && hasOthers(rpc)) {
      look = await lookAtNonceByTwo(rpc, { network, ...payment.authorization });
      if (look === null) throw chainUnavailable(network.id, 'a second node');
    }
    const sentence = 'this authorization was used or cancelled before we received it';
    if (!own && wasUsedBefore(look)) throw await no(deps, request, network, { ...USED, sentence });
  }
  const spenders = spendersOf(request, facts);
  const unusedAtBlock = own ? own.blockNumber - 1n : look && (await believedBlock(rpc, look.blockNumber));
  const agent = storedAgent(request.agent, await atLedger(() => looks.label));
  const item = itemOf(
    deps,
    newPayment(deps, request, network, { ...planned, unusedAtBlock, spenders, agent, hasMoved: own !== null }),
  );
  const { from: account, value } = payment.authorization;
  const balance = own ? value : await looks.balance;
  // Who has spent all on this very purchase is answered by it; who has the money at any node is not refused by the word of another.
  if (balance < value && (await atLedger(() => foresee(deps.database, item))).state === 'accepted') {
    const most = hasOthers(rpc) ? await findHighestBalance(rpc, { network, account }) : balance;
    if (most < value) throw await no(deps, request, network, { ...SHORT, next: fundOf(attemptOf(request, network), most) });
  }
  const stale = await request.lastLook?.({ hasMoved: own !== null });
  if (stale) throw await refuse(deps, { ...attemptOf(request, network), isVouched: true }, stale);
  const intake = await atLedger(() => store(deps.database, { ...item, requestKeys: requestKeysOf(request) }));
  if (intake.kind === 'key_taken') throw await refuseKey(deps, request, network, intake.key);
  if (intake.kind === 'refused') throw await refusedByBudget(deps, intake.refusal);
  if (intake.kind === 'known') return answerKnown(deps, request, network, intake.payment);
  if (request.purchase) deps.onPurchase?.(intake.payment);
  if (intake.payment.facts.state === 'held') deps.metrics?.count('svc.settle.guard_held');
  deps.crashAt('after_intake');
  const { receiptName } = request;
  return own ? settleLost(deps, intake.payment, own, receiptName) : awaitDecision(deps, intake.payment, receiptName);
}

/** The accounts that a payment counts against: the one that buys, and the one whose wallet pays. Test keys spend nothing. */
function spendersOf({ mode, accountId, purchase }: SettleRequest, { walletAccountId }: AdmissionFacts): readonly string[] {
  if (mode === 'mock') return [];
  const buyer = purchase?.accountId ?? accountId ?? null;
  return [...new Set([buyer, walletAccountId])].filter((one) => one !== null);
}

/** What is read of a payment, side by side. */
interface Looks {
  readonly facts: Promise<AdmissionFacts>;
  /** Null for a test key's, which is never on chain. */
  readonly nonce: Promise<NonceLook | null>;
  /** What its payer holds, in micro; the price for a test key's. */
  readonly balance: Promise<bigint>;
  /** What reports will know its agent by. */
  readonly label: Promise<string>;
}

/**
 * Begins the reads that a new payment needs, once its signature is the payer's: both are gathered with those of other calls, so that one
 * which turns out to be known, or is not let in, costs its share of one statement and one question to the node, within the rate of its
 * key. Whoever awaits one meets its error; one that is not awaited is forgotten.
 */
function lookAhead(
  deps: SettleDeps,
  { tenantId, mode, terms, payment, agent }: SettleRequest,
  network: Network,
  asked: AuthorizationKey & { readonly plannedGas: bigint },
): Looks {
  const facts = findAdmission(deps.database, { ...asked, tenantId, payTo: terms.payTo });
  const { rpc } = chainOf(deps, network.id);
  const nonce = mode === 'mock' ? Promise.resolve(null) : lookAtNonce(rpc, { network, ...payment.authorization });
  const account = payment.authorization.from;
  const balance = mode === 'mock' ? Promise.resolve(terms.priceMicro) : findBalance(rpc, { network, account });
  const label = labelAgent(deps.database, { tenantId, agent, atMs: deps.now() });
  for (const look of [facts, nonce, balance, label]) look.catch(() => undefined);
  return { facts, nonce, balance, label };
}

/** Settles a row that came back by the evidence it had: at once, since nothing is sent and its time may be over. */
async function settleLost(
  deps: SettleDeps,
  payment: Payment,
  { txHash }: LostSettlement,
  name?: ReceiptName,
): Promise<SettleReceipt> {
  try {
    await runRound(chainOf(deps, payment.network), [{ payment, hashes: [txHash] }], { atSafe: false });
    return await awaitDecision(deps, (await findKnown(deps.database, payment)) ?? payment, name);
  } catch (error) {
    throw isAway(error) ? pendingError(deps, payment) : error;
  }
}

/** Refuses the payment of a request, which has no row of its own and whose payer has shown no money: anybody can sign. */
function no(deps: SettleDeps, request: SettleRequest, network: Network, refusal: Refusal): Promise<PaymentError> {
  return refuse(deps, { ...attemptOf(request, network), isVouched: isVouchedBy(request) }, refusal);
}

function attemptOf({ tenantId, mode, agent, payment, terms }: SettleRequest, network: Network): Omit<Attempt, 'isVouched'> {
  const { host, slug, kind, priceMicro: micro } = terms;
  const presented = { network, x402Version: payment.x402Version, payer: payment.authorization.from };
  return { ...presented, tenantId, mode, host, slug, kind, micro, agent };
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

/** The Idempotency-Key of a request, and the payment-identifier of its payer, as names that are told apart. */
function requestKeysOf({ idempotencyKey, payment }: SettleRequest): readonly string[] {
  const { paymentIdentifier, authorization } = payment;
  return [
    ...(idempotencyKey ? [`${IDEMPOTENCY_KEY}${idempotencyKey}`] : []),
    ...(paymentIdentifier ? [`id:${authorization.from}:${sha256([paymentIdentifier])}`] : []),
  ];
}
const IDEMPOTENCY_KEY = 'key:';

/**
 * A request key belongs for a day to the authorization that was first taken with it. Nothing is written before its row, and then with it: whoever
 * holds no money, has no budget for it or shows a payment again would fill the table with names.
 */
async function checkRequestKeys(deps: SettleDeps, request: SettleRequest, network: Network): Promise<void> {
  const { tenantId, payment } = request;
  const { from: payer, nonce } = payment.authorization;
  const requestHash = requestHashOf({ network: network.id, asset: network.asset, payer, nonce });
  for (const key of requestKeysOf(request)) {
    if (await atLedger(() => isRequestKeyTaken(deps.database, { tenantId, key, requestHash }))) {
      throw await refuseKey(deps, request, network, key);
    }
  }
}

/** Refuses a payment whose request key belongs to another one. */
async function refuseKey(deps: SettleDeps, request: SettleRequest, network: Network, key: string): Promise<Error> {
  if (request.purchase) return new ServiceError('idempotency_conflict', 'this key belongs to another payment');
  if (key.startsWith(IDEMPOTENCY_KEY)) {
    const parameter = 'Idempotency-Key';
    return new ServiceError('invalid_parameter', 'this Idempotency-Key was used with another payment', { parameter });
  }
  const sentence = 'this payment-identifier belongs to another payment';
  return no(deps, request, network, { reason: 'authorization_invalid', raw: 'payment_identifier_conflict', sentence });
}

function sha256(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

/** What an authorization is bound to: the purchase, not the bytes that asked for it. */
function bindingOf(terms: Terms): string {
  const legs = terms.legs.map((leg) => `${leg.toAddress}:${leg.amountMicro}`);
  return sha256([terms.tenantId, terms.host, terms.resourceKey, terms.kind, terms.priceMicro.toString(), ...legs]);
}

/** What the payment takes of a batch. */
function partOf({ terms, payment }: SettleRequest): BatchPart {
  return { payTo: terms.payTo, legs: terms.legWords?.length ?? 1, signatureBytes: (payment.signature.length - 2) / 2 };
}

/** A payment as it is stored, with its guard. */
function itemOf(deps: SettleDeps, payment: NewPayment): IntakeItem {
  const { licenceOfferId } = payment;
  const now = { ms: deps.now(), licenceLifeSeconds: deps.licenceLifeSeconds };
  return {
    payment,
    trace: deps.trace?.() ?? null,
    guard: async (siblings, sql) =>
      licenceOfferId === null
        ? guardPurchase(payment, siblings, now)
        : guardLicence(
            payment,
            siblings,
            await findCoveringPurchase(sql, { tenantId: payment.tenantId, offerId: licenceOfferId }),
          ),
  };
}

/** The payment of a request, with what was found out about its payer before the row. */
function newPayment(
  deps: SettleDeps,
  request: SettleRequest,
  network: Network,
  seen: Pick<NewPayment, 'payerKind' | 'unusedAtBlock' | 'plannedGas' | 'spenders' | 'agent' | 'hasMoved'>,
): NewPayment {
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
    slug: purchase ? licenceSlug(paymentId) : terms.slug,
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
    keyId: request.keyId,
    quoteId: terms.quoteId,
    awaited: { waitMs: deps.settings.waitMs, lifeSeconds: deps.licenceLifeSeconds, kid: deps.signer.current().kid },
  };
}

/** A leg that the ledger will take: whatever it would refuse must be refused now, before money moves (safety 11). */
function recordable(leg: StoredLeg): StoredLeg {
  const known = leg.role === 'author' || leg.role === 'coauthor' || leg.role === 'platform';
  if (!known || !(leg.share >= 0 && leg.share <= 1)) throw new RangeError('a leg of these terms cannot be recorded');
  return leg;
}

/**
 * An authorization shown before: its own answer for its own purchase, a refusal for any other (invariant 1). No transfer proves a signature
 * that is not the one it was taken with: two nodes confirm a wallet of code.
 */
async function answerKnown(deps: SettleDeps, request: SettleRequest, network: Network, known: Payment): Promise<SettleReceipt> {
  const isSame = known.tenantId === request.tenantId && known.mode === request.mode && known.binding === bindingOf(request.terms);
  if (!isSame) {
    throw await no(deps, request, network, { ...USED, sentence: 'this authorization was presented for another purchase' });
  }
  if (request.payment.signature !== known.signature) {
    const shown = await checkSignatureByTwo(chainOf(deps, network.id).rpc, network, request.payment);
    if (!shown.ok) throw await no(deps, request, network, shown);
  }
  const { licence } = known;
  if (isSettled(known.facts.state) && licence && deps.now() >= licence.expiresAtSeconds * 1000) {
    // What its buyer never got is given again; else what calldata publishes would open the page for ever.
    if (await atLedger(() => takeOwed(deps.database, known))) return answerOwed(deps, { ...known, licence }, request.receiptName);
    const sentence = 'already used: this payment was settled and its licence has expired';
    throw await no(deps, request, network, { ...USED, sentence });
  }
  if (isSettled(known.facts.state)) deps.metrics?.count('svc.settle.repeated_grants');
  return awaitDecision(deps, known, request.receiptName);
}

/**
 * Waits for its row, of which a worker was told with the commit, and answers from it (safety 6). An outage of the
 * database is `settlement_pending` from here on: the row exists (safety 15).
 */
async function awaitDecision(deps: SettleDeps, payment: Payment, name?: ReceiptName): Promise<SettleReceipt> {
  const { state } = payment.facts;
  try {
    if (payment.mode === 'mock') return await answerPayment(deps, await settleMock(deps, payment));
    const mayChange = isUndecided(state) || (state === 'superseded' && !payment.repeatsLicence);
    if (!mayChange) return await answerPayment(deps, payment, name);
    const decided = await deps.waiter.wait(payment, deps.settings.waitMs);
    const stands = decided ?? (await findKnown(deps.database, payment).catch(() => null)) ?? payment;
    return await answerPayment(deps, stands, name);
  } catch (error) {
    throw isAway(error) ? pendingError(deps, payment) : error;
  }
}
