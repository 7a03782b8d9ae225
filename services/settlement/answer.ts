import { randomUUID } from 'node:crypto';
import type { Networks } from '../../chain/network.ts';
import type { Database } from '../../db/database.ts';
import type { LicenceRecord } from '../../db/licences/licences.ts';
import { findBoughtLicence } from '../../db/licences/licences.ts';
import type { Payment, StoredLicence } from '../../db/settlement/payment.ts';
import { findPayment } from '../../db/settlement/payment.ts';
import { listAttempts } from '../../db/settlement/relayer.ts';
import { accessEndSeconds } from '../../domain/accessToken.ts';
import type { FailureReason } from '../../domain/errors.ts';
import type { ReReadFacts } from '../../domain/licence.ts';
import { isSettled } from '../../domain/payment/state.ts';
import { settlementRefKind } from '../../domain/webhook/event.ts';
import type { LicenceSigner } from '../licences/mint.ts';
import { mintReReadLicence } from '../licences/mint.ts';
import { mintAccessToken } from '../licences/mintAccess.ts';
import { fixLicence } from './intake.ts';
import type { SettleReceipt } from './outcome.ts';
import { encodeSettlementResponse, PaymentError } from './outcome.ts';

/** What turning a payment row into an answer needs. */
export interface AnswerDeps {
  readonly database: Database;
  readonly networks: Networks;
  readonly signer: LicenceSigner;
  readonly now: () => number;
  readonly licenceLifeSeconds: number;
  /** The issuer of a tenant's licences (`license_issuer` or the service's address). */
  readonly issuerOf: (tenantId: string) => Promise<string>;
}

const PENDING_RETRY_SECONDS = 5;

/**
 * The answer for a payment as its row stands: a receipt, or a PaymentError. The same row gives the same bytes until its
 * licence's `exp`; after that 402 `authorization_invalid: already used` (safety 12).
 */
export async function answerPayment(deps: AnswerDeps, payment: Payment): Promise<SettleReceipt> {
  if (isSettled(payment.facts.state)) return receiptOf(deps, payment, payment, payment.amountMicro);
  switch (payment.facts.state) {
    case 'superseded':
      return answerSuperseded(deps, payment);
    case 'failed':
      throw await refusedAfterSend(
        deps,
        payment,
        payment.facts.reason ?? 'settlement_failed',
        payment.sentence ?? 'the payment was not settled',
      );
    case 'expired':
      throw refused(deps, payment, 'authorization_invalid', 'the authorization ran out while another purchase of yours was open');
    default:
      throw await pending(deps, payment);
  }
}

/** The first purchase's receipt, unchanged; or a fresh licence under a live one, for which nothing moves (safety 14). */
async function answerSuperseded(deps: AnswerDeps, payment: Payment): Promise<SettleReceipt> {
  const successor = payment.successorId
    ? await findPayment(deps.database, { tenantId: payment.tenantId, paymentId: payment.successorId })
    : null;
  if (!successor) throw await pending(deps, payment);
  if (!isSettled(successor.facts.state)) return answerPayment(deps, successor);
  if (!payment.repeatsLicence) return receiptOf(deps, successor, successor, successor.amountMicro);
  return receiptOf(deps, payment, successor, 0n);
}

/** A receipt: `holder` keeps the licence, `paid` is what moved for it. */
async function receiptOf(deps: AnswerDeps, holder: Payment, paid: Payment, chargedMicro: bigint): Promise<SettleReceipt> {
  const bought = paid.purpose === 'licence' ? await findBoughtLicence(deps.database, paid) : null;
  const licence = holder.licence ?? (await fixLicence(deps.database, { ref: holder, licence: freshLicence(deps, bought) }));
  if (deps.now() >= licence.expiresAtSeconds * 1000) {
    throw refused(deps, holder, 'authorization_invalid', 'already used: this payment was settled and its licence has ended');
  }
  const isMock = paid.mode === 'mock';
  const settlementRef = isMock ? `mock_${paid.paymentId}` : (paid.facts.evidence?.txHash ?? null);
  const refKind = settlementRefKind(settlementRef, paid.mode);
  const issuer = await deps.issuerOf(holder.tenantId);
  const facts: ReReadFacts = {
    issuer,
    tenantId: holder.tenantId,
    host: holder.host,
    slug: holder.slug,
    kind: holder.kind,
    payer: holder.payer,
    network: holder.network,
    amountMicro: chargedMicro,
    settlementRef,
    settlementRefKind: refKind,
    payees: paid.legs,
    jti: licence.jti,
    issuedAtSeconds: licence.issuedAtSeconds,
    expiresAtSeconds: licence.expiresAtSeconds,
    kid: licence.kid,
  };
  const licenseJws = bought
    ? (await mintAccessToken(deps, bought, { ...licence, issuer, paths: null, holder: bought.holder })).license
    : await mintReReadLicence(deps.signer, facts);
  return {
    settlementRef,
    settlementRefKind: refKind,
    payer: holder.payer,
    responseHeader: encodeSettlementResponse({
      success: true,
      transaction: settlementRef ?? '',
      network: networkName(deps.networks, holder),
      payer: holder.payer,
      ...(holder.x402Version === 2 ? { amount: chargedMicro.toString() } : {}),
    }),
    licenseJws,
    chargedMicro,
    ...(bought ? { licence: { jti: bought.jti, priceMicro: bought.priceMicro } } : {}),
  };
}

/** The facts of a licence answered with now: a re-read licence, or the first access token of a bought one. */
function freshLicence(deps: AnswerDeps, bought: LicenceRecord | null): StoredLicence {
  const issuedAtSeconds = Math.floor(deps.now() / 1000);
  const expiresAtSeconds = bought
    ? accessEndSeconds(
        { fromMs: bought.periodFrom.getTime(), untilMs: bought.periodUntil.getTime() },
        deps.now(),
        deps.licenceLifeSeconds,
      )
    : issuedAtSeconds + deps.licenceLifeSeconds;
  return { jti: randomUUID(), issuedAtSeconds, expiresAtSeconds, kid: deps.signer.current().kid };
}

/** A failure whose bytes were sent names their transaction (x402 §5.5). */
async function refusedAfterSend(
  deps: AnswerDeps,
  payment: Payment,
  code: FailureReason,
  sentence: string,
): Promise<PaymentError> {
  const sent = payment.facts.batchId ? (await listAttempts(deps.database, payment.facts.batchId)).at(-1) : undefined;
  const response = failureResponse(deps.networks, payment, payment.rawReason ?? code, sent?.txHash);
  return new PaymentError(code, sentence, response);
}

function refused(deps: AnswerDeps, payment: Payment, code: FailureReason, sentence: string): PaymentError {
  return new PaymentError(code, sentence, failureResponse(deps.networks, payment, payment.rawReason ?? code));
}

/** 402 `settlement_pending`: no offer; the same payment sent again gets the outcome (decisions: undecided after 20 s). */
async function pending(deps: AnswerDeps, payment: Payment): Promise<PaymentError> {
  const sent = payment.facts.batchId ? (await listAttempts(deps.database, payment.facts.batchId)).at(-1) : undefined;
  return pendingError(deps.networks, payment, sent?.txHash);
}

/** The same without a look at the database: the hash is left out where it is not known. */
export function pendingError(networks: Networks, payment: Payment, txHash?: string): PaymentError {
  const sentence = 'the payment is on its way; send the same payment again for its outcome, and do not sign another one';
  const response = failureResponse(networks, payment, 'settlement_pending', txHash);
  return new PaymentError('settlement_pending', sentence, response, { retryAfterSeconds: PENDING_RETRY_SECONDS });
}

/** The SettlementResponse of a payment that did not succeed, or not yet. */
function failureResponse(networks: Networks, payment: Payment, errorReason: string, transaction = ''): string {
  return encodeSettlementResponse({
    success: false,
    errorReason,
    transaction,
    network: networkName(networks, payment),
    payer: payment.payer,
  });
}

function networkName(networks: Networks, payment: { network: string; x402Version: 1 | 2 }): string {
  const name = payment.x402Version === 1 ? networks.find(payment.network)?.v1Name : null;
  return name ?? payment.network;
}
