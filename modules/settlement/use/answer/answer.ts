import { randomUUID } from 'node:crypto';
import type { Database } from '../../../../db/database.ts';
import type { Networks } from '../../../../platform/chain/network.ts';
import { accessEndSeconds } from '../../../kernel/access/accessToken.ts';
import type { FailureReason } from '../../../kernel/errors.ts';
import type { ReReadFacts } from '../../../kernel/licence/licence.ts';
import type { Metrics } from '../../../kernel/metrics.ts';
import { isSettled } from '../../../kernel/payment/state.ts';
import type { LicenceRecord } from '../../../licences/store/licences.ts';
import { findBoughtLicence } from '../../../licences/store/licences.ts';
import type { LicenceSigner } from '../../../licences/use/mint.ts';
import { mintReReadLicence } from '../../../licences/use/mint.ts';
import { mintAccessToken } from '../../../licences/use/mintAccess.ts';
import { settlementRefKind } from '../../../webhooks/rules/event.ts';
import { listAttempts } from '../../store/attempts.ts';
import type { Payment, StoredLicence } from '../../store/payment.ts';
import { findPayment } from '../../store/payment.ts';
import { fixLicence } from '../accept/intake.ts';
import type { PaymentError, SettleReceipt } from './receipt.ts';
import { encodePaidResponse } from './receipt.ts';
import type { Presented } from './refuse.ts';
import { networkName, paymentError } from './refuse.ts';
import type { ReceiptName } from './signReceipt.ts';
import { signReceipt } from './signReceipt.ts';

/** What turning a payment row into an answer needs. */
export interface AnswerDeps {
  readonly database: Database;
  readonly networks: Networks;
  readonly metrics?: Metrics;
  readonly signer: LicenceSigner;
  readonly now: () => number;
  readonly licenceLifeSeconds: number;
  /** Our own address: where records of payments are, and in whose name receipts are signed. */
  readonly baseUrl: string;
  /** The issuer of a tenant's licences (`license_issuer` or the service's address). */
  readonly issuerOf: (tenantId: string) => Promise<string>;
}

const PENDING_RETRY_SECONDS = 5;
const INVALID = { reason: 'authorization_invalid' } as const;

/**
 * The answer for a payment as its row stands: a receipt, or a PaymentError. The same row gives the same bytes, its receipt
 * signed in the same `name`, until its licence's `exp`; after that 402 `authorization_invalid: already used` (safety 12).
 */
export async function answerPayment(deps: AnswerDeps, payment: Payment, name: ReceiptName = 'service'): Promise<SettleReceipt> {
  if (isSettled(payment.facts.state)) {
    return receiptOf(deps, { holder: payment, paid: payment, chargedMicro: payment.amountMicro, name });
  }
  switch (payment.facts.state) {
    case 'superseded':
      return answerSuperseded(deps, payment, name);
    case 'failed':
      throw await refusedAfterSend(deps, payment);
    case 'expired':
      throw refused(deps, payment, {
        ...INVALID,
        sentence: 'the authorization expired while another purchase of yours was open',
      });
    default:
      throw pendingError(deps, payment, await sentHash(deps, payment));
  }
}

/** The first purchase's receipt, unchanged; or a fresh licence under a live one, for which nothing moves (safety 14). */
async function answerSuperseded(deps: AnswerDeps, payment: Payment, name: ReceiptName): Promise<SettleReceipt> {
  const successor = payment.successorId
    ? await findPayment(deps.database, { tenantId: payment.tenantId, paymentId: payment.successorId })
    : null;
  if (!successor) throw pendingError(deps, payment, await sentHash(deps, payment));
  if (!payment.repeatsLicence || !isSettled(successor.facts.state)) return answerPayment(deps, successor, name);
  return receiptOf(deps, { holder: payment, paid: successor, chargedMicro: 0n, name });
}

/** What a receipt is about: `holder` keeps the licence, `paid` is what moved for it. */
interface Receipted {
  readonly holder: Payment;
  readonly paid: Payment;
  readonly chargedMicro: bigint;
  readonly name: ReceiptName;
}

async function receiptOf(deps: AnswerDeps, { holder, paid, chargedMicro, name }: Receipted): Promise<SettleReceipt> {
  const bought = paid.purpose === 'licence' ? await findBoughtLicence(deps.database, paid) : null;
  const licence =
    holder.licence ?? (await fixLicence(deps.database, { ref: holder, licence: freshLicence(deps, holder, bought) }));
  if (deps.now() >= licence.expiresAtSeconds * 1000) {
    throw refused(deps, holder, { ...INVALID, sentence: 'already used: this payment was settled and its licence has expired' });
  }
  const issuer = await deps.issuerOf(holder.tenantId);
  const facts = reReadFacts({ holder, paid, chargedMicro, licence, issuer });
  const { settlementRef, settlementRefKind: refKind } = facts;
  const isMock = paid.mode === 'mock';
  const minted = bought
    ? mintAccessToken(deps, bought, { ...licence, issuer, paths: null, holder: bought.holder }).then(({ license }) => license)
    : mintReReadLicence(deps.signer, facts);
  const transaction = refKind === 'txHash' ? settlementRef : null;
  const signed = { ...licence, paymentId: paid.paymentId, network: paid.network, payer: paid.payer, transaction, name };
  // What a test key paid is worth nothing to show, and version 1 has no extensions.
  const isSigned = !isMock && holder.x402Version === 2;
  const { purpose, resource } = paid;
  const [licenseJws, receipt] = await Promise.all([
    minted,
    isSigned ? signReceipt(deps, { ...signed, purpose, resource }) : undefined,
  ]);
  const response = {
    success: true,
    transaction: settlementRef ?? '',
    network: networkName({ ...presentedBy(deps, paid), x402Version: holder.x402Version }),
    payer: holder.payer,
    ...(holder.x402Version === 2 ? { amount: chargedMicro.toString() } : {}),
  };
  return {
    settlementRef,
    settlementRefKind: refKind,
    payer: holder.payer,
    // A licence that was bought stands in the body.
    responseHeader: encodePaidResponse(response, receipt, bought ? '' : licenseJws),
    licenseJws,
    chargedMicro,
    ...(isMock ? {} : { receiptId: paid.paymentId }),
    ...(receipt ? { receiptJws: receipt.info.receipt.signature } : {}),
    ...(bought ? { licence: { jti: bought.jti, priceMicro: bought.priceMicro } } : {}),
  };
}

/** What a re-read licence says: `holder` keeps it, `paid` is the payment behind it, and `chargedMicro` what moved for it now. */
export function reReadFacts(given: {
  readonly holder: Payment;
  readonly paid: Payment;
  readonly chargedMicro: bigint;
  readonly licence: StoredLicence;
  readonly issuer: string;
}): ReReadFacts {
  const { holder, paid, chargedMicro, licence, issuer } = given;
  const settlementRef = paid.mode === 'mock' ? `mock_${paid.paymentId}` : (paid.facts.evidence?.txHash ?? null);
  return {
    issuer,
    tenantId: holder.tenantId,
    host: holder.host,
    slug: holder.slug,
    kind: holder.kind,
    payer: holder.payer,
    network: paid.network, // a licence may repeat itself for a payment shown on another network: nothing moved there
    amountMicro: chargedMicro,
    settlementRef,
    settlementRefKind: settlementRefKind(settlementRef, paid.mode),
    payees: paid.legs,
    jti: licence.jti,
    issuedAtSeconds: licence.issuedAtSeconds,
    expiresAtSeconds: licence.expiresAtSeconds,
    kid: licence.kid,
  };
}

/** The facts of a licence answered with now: a re-read licence, or the first access token of a bought one. */
function freshLicence(deps: AnswerDeps, { paymentId }: Payment, bought: LicenceRecord | null): StoredLicence {
  const issuedAtSeconds = Math.floor(deps.now() / 1000);
  const expiresAtSeconds = bought
    ? accessEndSeconds(
        { fromMs: bought.periodFrom.getTime(), untilMs: bought.periodUntil.getTime() },
        deps.now(),
        deps.licenceLifeSeconds,
      )
    : issuedAtSeconds + deps.licenceLifeSeconds;
  // A page's licence goes by the name of its payment, and so does the record of that (modules/kernel).
  return { jti: bought ? randomUUID() : paymentId, issuedAtSeconds, expiresAtSeconds, kid: deps.signer.current().kid };
}

/** 402 with the reason a payment ended by. A failure whose bytes were sent names their transaction. */
async function refusedAfterSend(deps: AnswerDeps, payment: Payment): Promise<PaymentError> {
  const reason = payment.facts.reason ?? 'settlement_failed';
  const sentence = payment.sentence ?? 'the payment was not settled';
  return refused(deps, payment, { reason, sentence }, await sentHash(deps, payment));
}

/**
 * The answer for a payment that has a row and was decided against: no money brings it back, since others of the purchase went out after it, so
 * that who lacked some signs again once the wallet has it.
 */
function refused(
  deps: AnswerDeps,
  payment: Payment,
  { reason, sentence }: { readonly reason: FailureReason; readonly sentence: string },
  transaction = '',
): PaymentError {
  const told = { reason, raw: payment.rawReason ?? reason, sentence, transaction, next: { action: 'sign_again' } } as const;
  return paymentError(deps, presentedBy(deps, payment), told);
}

/**
 * 402 `settlement_pending`: no offer; the same payment sent again gets the outcome. The hash is left out where it is not known,
 * as when the database cannot be asked.
 */
export function pendingError(deps: Pick<AnswerDeps, 'networks' | 'metrics'>, payment: Payment, transaction = ''): PaymentError {
  const sentence = 'the payment is still settling; send the same payment again to get the result, and do not sign a new one';
  const told = { reason: 'settlement_pending', raw: 'settlement_pending', sentence, transaction } as const;
  return paymentError(deps, presentedBy(deps, payment), told, { retryAfterSeconds: PENDING_RETRY_SECONDS });
}

/** The transaction that was sent last for a payment, empty without one. */
async function sentHash(deps: AnswerDeps, { facts }: Payment): Promise<string> {
  const sent = facts.batchId ? (await listAttempts(deps.database, facts.batchId)).at(-1) : undefined;
  return sent?.txHash ?? '';
}

/** A network that is not configured any more goes by its id. */
function presentedBy({ networks }: Pick<AnswerDeps, 'networks'>, payment: Payment): Presented {
  const { network: id, x402Version, payer, amountMicro: micro } = payment;
  return { network: networks.find(id) ?? { id, v1Name: null }, x402Version, payer, micro };
}
