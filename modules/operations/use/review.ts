import { readSights } from '../../../platform/chain/evidence/sight.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { hasControlCharacter } from '../../kernel/hosts/host.ts';
import type { Sight } from '../../kernel/payment/sight.ts';
import { whyReviewStays } from '../../settlement/rules/review.ts';
import type { Payment, PaymentRef } from '../../settlement/store/payment.ts';
import { findPayment } from '../../settlement/store/payment.ts';
import { closeReviewRow, findReview } from '../../settlement/store/review.ts';
import type { SettlementDeps } from '../../settlement/use/deps.ts';
import { chainOf } from '../../settlement/use/deps.ts';
import { railWords } from '../../settlement/use/rails/rails.ts';
import { lookAgain } from '../../settlement/use/watch/watch.ts';
import { changeSite } from '../../tenants/use/change.ts';
import { requestRecheck } from '../store/admin.ts';
import { findTenantOfPayment } from '../store/operations.ts';

const MOST_REASON_CHARS = 500;

/** What closing a review came to. */
export interface ReviewClosed {
  readonly paymentId: string;
  readonly state: string;
  /** False: the evidence, read again, decided the payment, and there was nothing to close. */
  readonly closed: boolean;
}

/**
 * Ends the review of a payment whose outcome no evidence shows. The evidence is read again first: what it decides is written as ever,
 * and then nothing is closed. What stays keeps its state, `review`: it is watched no more and alerts nobody, and another payment of the
 * same purchase goes on waiting for it, so that nobody pays twice. Nothing of it is an outcome. It is written down in the site's audit
 * log, and `recheckPayment` opens it again. Throws not_found, invalid_parameter, chain_unavailable, and conflict when it is not under
 * review, closed already, or the chain shows or will show what became of it.
 */
export async function closeReview(
  deps: SettlementDeps,
  { actor, paymentId, reason }: { readonly actor: Actor; readonly paymentId: string; readonly reason: string },
): Promise<ReviewClosed> {
  if (reason.trim() === '' || reason.length > MOST_REASON_CHARS || hasControlCharacter(reason)) {
    throw new ServiceError('invalid_parameter', `a reason must be 1 to ${MOST_REASON_CHARS} characters`, { parameter: 'reason' });
  }
  const before = await requirePayment(deps, paymentId);
  if (before.facts.state !== 'review')
    throw new ServiceError('conflict', `the payment is ${before.facts.state}, not under review`);
  await lookAgain(deps, before);
  const payment = await requirePayment(deps, paymentId);
  const { state } = payment.facts;
  if (state !== 'review') return { paymentId, state, closed: false };
  const why = whyReviewStays(await sightOf(deps, payment));
  if (why !== null) throw new ServiceError('conflict', why);
  await changeSite(
    deps,
    { actor, tenantId: payment.tenantId },
    {
      action: 'payment.close_review',
      target: paymentId,
      mayBeClosed: true,
      look: (sql) => findReview(sql, payment),
      make: async (database) => {
        if (await closeReviewRow(database, payment, reason)) return;
        throw new ServiceError('conflict', 'the review is already closed, or the payment has been decided in the meantime');
      },
    },
  );
  return { paymentId, state, closed: true };
}

/** Has the sweeper look for a payment's evidence in its next round; a closed review is open again. Throws not_found. */
export async function recheckPayment(deps: Pick<SettlementDeps, 'database'>, actor: Actor, paymentId: string): Promise<void> {
  const ref = await requireRef(deps, paymentId);
  await changeSite(
    deps,
    { actor, tenantId: ref.tenantId },
    {
      action: 'payment.recheck',
      target: paymentId,
      mayBeClosed: true,
      look: (sql) => findReview(sql, ref),
      make: async (database) => {
        await requestRecheck(database, ref);
      },
    },
  );
}

async function sightOf(deps: SettlementDeps, payment: Payment): Promise<Sight> {
  const { network, rpc } = chainOf(deps, payment.network);
  const { payer, nonce, unusedAtBlock: sinceBlock, validBefore } = payment;
  const ask = { payer, nonce, hashes: [], sinceBlock, validBefore };
  const { sights } = await readSights(rpc, network, [ask], { atSafe: true });
  if (!sights[0]) throw new ServiceError('chain_unavailable', 'no node has answered about this payment');
  const rail = (await railWords(deps, [payment])).get(payment.paymentId) ?? null;
  return { ...sights[0], carrier: null, rail, simulation: null };
}

async function requirePayment(deps: Pick<SettlementDeps, 'database'>, paymentId: string): Promise<Payment> {
  const payment = await findPayment(deps.database, await requireRef(deps, paymentId));
  if (payment) return payment;
  throw new ServiceError('not_found', 'there is no such payment');
}

async function requireRef({ database }: Pick<SettlementDeps, 'database'>, paymentId: string): Promise<PaymentRef> {
  const tenantId = await findTenantOfPayment(database, paymentId);
  if (tenantId === null) throw new ServiceError('not_found', 'there is no such payment');
  return { tenantId, paymentId };
}
