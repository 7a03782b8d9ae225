import { isAway } from '../../../../db/outage.ts';
import { gasAlone } from '../../../../platform/chain/calls/calldata.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import type { Rpc } from '../../../../platform/chain/rpc/rpc.ts';
import { believedBlock, chainUnavailable, hasOthers } from '../../../../platform/chain/rpc/rpc.ts';
import { checkSignature, checkSignatureByTwo } from '../../../../platform/chain/signature/contractWallet.ts';
import { refusedByBudget } from '../../../budgets/use/refuse.ts';
import { storedAgent } from '../../../gate/rules/agent.ts';
import { labelAgent } from '../../../gate/use/agentLabels.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { isSettled, isUndecided } from '../../../kernel/payment/state.ts';
import type { ObservedAgent, Terms } from '../../../kernel/terms.ts';
import { checkTerms } from '../../../kernel/x402/authorization.ts';
import type { ParsedPayment } from '../../../kernel/x402/payload.ts';
import { LOST_HONOURED_HOURS, wasUsedBefore } from '../../rules/firstLook.ts';
import { SENTENCES } from '../../rules/judge.ts';
import type { AdmissionFacts } from '../../store/admission.ts';
import type { AuthorizationKey, IntakeItem } from '../../store/intake.ts';
import { isRequestKeyTaken, requestHashOf } from '../../store/intake.ts';
import type { LostSettlement } from '../../store/lostSettlements.ts';
import { findLost } from '../../store/lostSettlements.ts';
import type { Payment, PaymentRef } from '../../store/payment.ts';
import type { AnswerDeps } from '../answer/answer.ts';
import { answerPayment, pendingError } from '../answer/answer.ts';
import { atLedger } from '../answer/ledger.ts';
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
import { bindingOf, IDEMPOTENCY_KEY, itemOf, partOf, requestKeysOf, spendersOf } from './newPayment.ts';
import type { Waiter } from './waiter.ts';

/** What settling needs on the side that answers callers. */
export interface SettleDeps extends Omit<AnswerDeps, 'database' | 'networks' | 'now' | 'metrics'>, SettlementDeps {
  readonly waiter: Waiter;
  readonly newId: () => string;
  /** The trace of the running call, continued where its payment is sent; null where none is kept. */
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

/** One call, as its steps share it. */
interface Call {
  readonly deps: SettleDeps;
  readonly request: SettleRequest;
  readonly network: Network;
  readonly rpc: Rpc;
  /** The authorization that is shown. */
  readonly key: AuthorizationKey;
}

/**
 * Settles one payment and answers with its receipt. The checks in their order (safety 12): terms → signature → stored answer → admission →
 * nonce → balance → last look → row, with the guard → chain. Before the balance nothing is written but the observation of what a site or an
 * account presented (`no`). A second call with the same authorization and the same purchase gets the first one's answer, byte for byte, until
 * its licence ends; for another purchase it is refused.
 * What is read before the row is read side by side; the answers keep their order. One that our own
 * transaction carried before a restore lost its row gets the row anew, once, where it may be shown (ADR 0018).
 * Throws PaymentError for a refused, failed or undecided payment, ServiceError `unavailable` kinds for outages before
 * the row exists (nothing is counted then).
 */
export function settle(deps: SettleDeps, request: SettleRequest): Promise<SettleReceipt> {
  return atLedger(() => settleOne(deps, request));
}

/** Each step refuses the payment by throwing, finds the one that holds its authorization already (`known`), or lets it go on. */
async function settleOne(deps: SettleDeps, request: SettleRequest): Promise<SettleReceipt> {
  const call = callOf(deps, request);
  const { network, rpc } = call;
  const { payment, receiptName } = request;
  const met = await requireTerms(call);
  const signature = await checkSignature(rpc, network, payment, findWithCode);
  if (!signature.ok) throw await no(call, signature);
  if (met.known) {
    await requireFreeKeys(call);
    return answerKnown(call, met.known);
  }
  const planned = { payerKind: signature.payerKind, plannedGas: gasAlone(signature.payerKind, partOf(request)) };
  const looks = lookAhead(call, planned.plannedGas);
  await requireFreeKeys(call);
  const admitted = await requireAdmission(call, looks, planned.payerKind);
  if (admitted.known) return answerKnown(call, admitted.known);
  const unused = await requireUnused(call, looks, met.lost);
  if (unused.known) return answerKnown(call, unused.known);
  const { lost, unusedAtBlock } = unused;
  const spenders = spendersOf(request, admitted.facts);
  const agent = storedAgent(request.agent, await looks.label);
  const item = itemOf(deps, request, network, { ...planned, unusedAtBlock, spenders, agent, hasMoved: lost !== null });
  if (!lost) await requireMoney(call, looks, item);
  await requireLastLook(call, lost !== null);
  const stored = await storeRow(call, item);
  if (stored.known) return answerKnown(call, stored.known);
  return lost ? settleLost(deps, stored.payment, lost, receiptName) : awaitDecision(deps, stored.payment, receiptName);
}

function callOf(deps: SettleDeps, request: SettleRequest): Call {
  const { payment, terms } = request;
  const { network, rpc } = chainOf(deps, terms.network);
  if (payment.lacksIdentifier) {
    const parameter = 'payment-identifier';
    throw new ServiceError('invalid_parameter', 'this payment must carry a payment-identifier', { parameter });
  }
  deps.signer.current();
  const { from: payer, nonce } = payment.authorization;
  return { deps, request, network, rpc, key: { network: network.id, asset: network.asset, payer, nonce } };
}

/** The payment that holds the authorization, of any tenant; null: none does. */
function find({ deps, key }: Call): Promise<Payment | null> {
  return findKnown(deps.database, key);
}

/** Where our own transaction carried the payment, whose row a restore lost; null: it did not, or for somebody else. */
function findOwnLost({ deps, request, key }: Call): Promise<LostSettlement | null> {
  const claimant = { tenantId: request.tenantId, accountId: request.purchase?.accountId ?? null };
  return findLost(deps.database, key, claimant, LOST_HONOURED_HOURS);
}

/** The payment that holds the authorization already. */
interface Known {
  readonly known: Payment;
}

/**
 * What does not fit the terms is refused before its signature costs anything, unless we hold it: its time may be over, its answer counts. What fits
 * is looked for later, with the rest.
 */
async function requireTerms(call: Call): Promise<{ readonly known: Payment | null; readonly lost: LostSettlement | null }> {
  const { deps, request, network } = call;
  const { payment, mode } = request;
  const misfit = checkTerms(payment, expectedTerms(request.terms, network), Math.floor(deps.now() / 1000), network);
  const known = (misfit && request.known === undefined ? await find(call) : request.known) ?? null;
  const lost = misfit && !known && mode === 'live' && misfit.isOver ? await findOwnLost(call) : null;
  if (misfit && !known && !lost) throw await no(call, misfit);
  return { known, lost };
}

/** Lets a payment in by what storage says of its authorization, its payer and its network (`admit`). */
async function requireAdmission(
  call: Call,
  looks: Looks,
  payerKind: 'plain' | 'contract',
): Promise<Known | { readonly known: null; readonly facts: AdmissionFacts }> {
  const { deps, request, network } = call;
  const facts = await looks.facts;
  const known = facts.holder && (await find(call));
  if (known) return { known };
  if (facts.holder)
    throw await no(call, { ...USED, sentence: 'this authorization was used: its payment is no longer stored here' });
  await admit(deps, request, network, { payerKind, facts });
  return { known: null, facts };
}

/**
 * A nonce that was used before we looked is refused by the word of two nodes, unless our own transaction used it. `unusedAtBlock`: whatever uses it
 * after this block came after our look (safety 2).
 */
async function requireUnused(
  call: Call,
  looks: Looks,
  late: LostSettlement | null,
): Promise<Known | { readonly known: null; readonly lost: LostSettlement | null; readonly unusedAtBlock: bigint | null }> {
  const { request, network, rpc } = call;
  let look = await looks.nonce;
  let own: LostSettlement | null = null;
  if (wasUsedBefore(look)) {
    const known = await find(call); // another call may have stored it in the meantime, and sent it
    if (known) return { known };
    own = late ?? (await findOwnLost(call));
    if (!own && hasOthers(rpc)) {
      look = await lookAtNonceByTwo(rpc, { network, ...request.payment.authorization });
      if (look === null) throw chainUnavailable(network.id, 'a second node');
    }
    const sentence = 'this authorization was used or cancelled before we received it';
    if (!own && wasUsedBefore(look)) throw await no(call, { ...USED, sentence });
  }
  const unusedAtBlock = own ? own.blockNumber - 1n : look && (await believedBlock(rpc, look.blockNumber));
  return { known: null, lost: own, unusedAtBlock };
}

/** Who has spent all on this very purchase is answered by it; who has the money at any node is not refused by the word of another. */
async function requireMoney(call: Call, looks: Looks, item: IntakeItem): Promise<void> {
  const { deps, request, network, rpc } = call;
  const { from: account, value } = request.payment.authorization;
  const balance = await looks.balance;
  if (balance < value && (await foresee(deps.database, item)).state === 'accepted') {
    const most = hasOthers(rpc) ? await findHighestBalance(rpc, { network, account }) : balance;
    if (most < value) throw await no(call, { ...SHORT, next: fundOf(attemptOf(request, network), most) });
  }
}

async function requireLastLook({ deps, request, network }: Call, hasMoved: boolean): Promise<void> {
  const refusal = await request.lastLook?.({ hasMoved });
  if (refusal) throw await refuse(deps, { ...attemptOf(request, network), isVouched: true }, refusal);
}

/** Writes the row, with the guard; from here on an outage is settlement_pending. */
async function storeRow(call: Call, item: IntakeItem): Promise<Known | { readonly known: null; readonly payment: Payment }> {
  const { deps, request } = call;
  const intake = await store(deps.database, { ...item, requestKeys: requestKeysOf(request) });
  if (intake.kind === 'key_taken') throw await refuseKey(call, intake.key);
  if (intake.kind === 'refused') throw await refusedByBudget(deps, intake.refusal);
  if (intake.kind === 'known') return { known: intake.payment };
  const { payment } = intake;
  if (request.purchase) deps.onPurchase?.(payment);
  if (payment.facts.state === 'held') deps.metrics?.count('svc.settle.guard_held');
  deps.crashAt('after_intake');
  return { known: null, payment };
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
 * key. An error is thrown where its read is awaited; that of a read nobody awaits is dropped.
 */
function lookAhead({ deps, request, network, rpc, key }: Call, plannedGas: bigint): Looks {
  const { tenantId, mode, terms, payment, agent } = request;
  const facts = findAdmission(deps.database, { ...key, plannedGas, tenantId, payTo: terms.payTo });
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
function no({ deps, request, network }: Call, refusal: Refusal): Promise<PaymentError> {
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

/**
 * A request key belongs for a day to the authorization that was first taken with it. Nothing is written before its row, and then with it: else a
 * payer without money or budget, or one who repeats a payment, would fill the table with names.
 */
async function requireFreeKeys(call: Call): Promise<void> {
  const { deps, request } = call;
  const { tenantId } = request;
  const requestHash = requestHashOf(call.key);
  for (const key of requestKeysOf(request)) {
    if (await isRequestKeyTaken(deps.database, { tenantId, key, requestHash })) {
      throw await refuseKey(call, key);
    }
  }
}

/** Refuses a payment whose request key belongs to another one. */
async function refuseKey(call: Call, key: string): Promise<Error> {
  if (call.request.purchase) return new ServiceError('idempotency_conflict', 'this key belongs to another payment');
  if (key.startsWith(IDEMPOTENCY_KEY)) {
    const parameter = 'Idempotency-Key';
    return new ServiceError('invalid_parameter', 'this Idempotency-Key was used with another payment', { parameter });
  }
  const sentence = 'this payment-identifier belongs to another payment';
  return no(call, { reason: 'authorization_invalid', raw: 'payment_identifier_conflict', sentence });
}

/**
 * An authorization shown before: its own answer for its own purchase, a refusal for any other (invariant 1). No transfer proves a signature
 * that is not the one it was taken with: two nodes confirm a wallet of code.
 */
async function answerKnown(call: Call, known: Payment): Promise<SettleReceipt> {
  const { deps, request, network, rpc } = call;
  const isSame = known.tenantId === request.tenantId && known.mode === request.mode && known.binding === bindingOf(request.terms);
  if (!isSame) {
    throw await no(call, { ...USED, sentence: 'this authorization was presented for another purchase' });
  }
  if (request.payment.signature !== known.signature) {
    const shown = await checkSignatureByTwo(rpc, network, request.payment);
    if (!shown.ok) throw await no(call, shown);
  }
  const { licence } = known;
  if (isSettled(known.facts.state) && licence && deps.now() >= licence.expiresAtSeconds * 1000) {
    const sentence = 'already used: this payment was settled and its licence has expired';
    throw await no(call, { ...USED, sentence });
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
