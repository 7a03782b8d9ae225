/** What a request becomes when its payment gets a row. */
import { hash } from 'node:crypto';
import type { BatchPart } from '../../../../platform/chain/calls/calldata.ts';
import type { Network } from '../../../../platform/chain/network.ts';
import { licenceSlug } from '../../../kernel/pages/resource.ts';
import type { Terms } from '../../../kernel/terms.ts';
import { findCoveringPurchase } from '../../../licences/store/licences.ts';
import { guardLicence, guardPurchase } from '../../rules/guard.ts';
import type { AdmissionFacts } from '../../store/admission.ts';
import type { IntakeItem, NewPayment } from '../../store/intake.ts';
import type { StoredLeg } from '../../store/payment.ts';
import type { SettleDeps, SettleRequest } from './settle.ts';

/** What the name of an Idempotency-Key begins with among request keys. */
export const IDEMPOTENCY_KEY = 'key:';

/** The Idempotency-Key of a request, and the payment-identifier of its payer, as names that are told apart. */
export function requestKeysOf({ idempotencyKey, payment }: SettleRequest): readonly string[] {
  const { paymentIdentifier, authorization } = payment;
  return [
    ...(idempotencyKey ? [`${IDEMPOTENCY_KEY}${idempotencyKey}`] : []),
    ...(paymentIdentifier ? [`id:${authorization.from}:${sha256([paymentIdentifier])}`] : []),
  ];
}

/** The accounts that a payment counts against: the one that buys, and the one whose wallet pays. Test keys spend nothing. */
export function spendersOf({ mode, accountId, purchase }: SettleRequest, { walletAccountId }: AdmissionFacts): readonly string[] {
  if (mode === 'mock') return [];
  const buyer = purchase?.accountId ?? accountId ?? null;
  return [...new Set([buyer, walletAccountId])].filter((one) => one !== null);
}

/** What an authorization is bound to: the purchase, not the bytes that asked for it. */
export function bindingOf(terms: Terms): string {
  const legs = terms.legs.map((leg) => `${leg.toAddress}:${leg.amountMicro}`);
  return sha256([terms.tenantId, terms.host, terms.resourceKey, terms.kind, terms.priceMicro.toString(), ...legs]);
}

/** What the payment takes of a batch. */
export function partOf({ terms, payment }: SettleRequest): BatchPart {
  return { payTo: terms.payTo, legs: terms.legWords?.length ?? 1, signatureBytes: (payment.signature.length - 2) / 2 };
}

/** What was found out about a payment and its payer before the row. */
type Seen = Pick<NewPayment, 'payerKind' | 'unusedAtBlock' | 'plannedGas' | 'spenders' | 'agent' | 'hasMoved'>;

/** The payment of a request as it is stored, with its guard. */
export function itemOf(deps: SettleDeps, request: SettleRequest, network: Network, seen: Seen): IntakeItem {
  const payment = newPayment(deps, request, network, seen);
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

function sha256(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}
