/** The buyer's side of the REST API with licences that were settled in the ledger, without a chain or a worker. */
import { randomBytes } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import type { IntakeItem, NewPayment } from '../../modules/settlement/store/intake.ts';
import { freezePages } from '../../modules/storefront/use/licences/freeze.ts';
import { openOffer, termsOfOffer } from '../../modules/storefront/use/licences/offer.ts';
import type { LicenceRequest } from '../../modules/storefront/use/licences/request.ts';
import { understandRequest } from '../../modules/storefront/use/licences/request.ts';
import type { startTestApi } from './api.ts';
import { newWallet } from './payments.ts';
import { insertPayment } from './storePayment.ts';

/** A test API. */
export type TestApi = Awaited<ReturnType<typeof startTestApi>>;

/** The standing offer of a request, frozen with its pages as right before the row of a payment. */
export async function openFrozenOffer(api: TestApi, accountId: string, request: LicenceRequest) {
  const understood = await understandRequest(api.deps, request, null);
  const offer = await openOffer(api.deps, accountId, understood);
  if (await freezePages(api.deps, offer, understood)) throw new Error('the pages changed');
  return offer;
}

/**
 * A payment for the standing offer of a request by a wallet of its own, stored and not decided: accepted, unless a guard says otherwise. Over
 * the pool of the API, unless told.
 */
export async function acceptPurchase(
  api: TestApi,
  accountId: string,
  request: LicenceRequest,
  how: { readonly database?: Database; readonly guard?: (payment: NewPayment) => IntakeItem['guard'] } = {},
) {
  const { database = api.deps.database, guard = () => () => ({ state: 'accepted' }) } = how;
  const offer = await openFrozenOffer(api, accountId, request);
  const terms = termsOfOffer(offer, offer);
  const paymentId = crypto.randomUUID();
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
  const payment: NewPayment = {
    tenantId: offer.tenantId,
    paymentId,
    mode: 'live',
    network: terms.network,
    asset: terms.asset,
    payer: newWallet(),
    payTo: terms.payTo,
    nonce,
    validAfter: 0n,
    validBefore: 2_000_000_000n,
    signature: '0x00',
    payerKind: 'plain',
    x402Version: 2,
    host: terms.host,
    slug: `licence:${paymentId}`,
    resource: terms.resource,
    resourceKey: terms.resourceKey,
    kind: terms.kind,
    amountMicro: terms.priceMicro,
    legs: terms.legs.map((leg) => ({ ...leg, share: Number(leg.amountMicro) / Number(terms.priceMicro) })),
    legWords: terms.legWords,
    router: terms.router,
    binding: paymentId,
    purpose: 'licence',
    accountId,
    licenceOfferId: offer.offerId,
    agent: { label: 'other' },
    keyId: null,
    quoteId: offer.offerId,
    plannedGas: 120_000n,
    unusedAtBlock: 1n,
    spenders: [accountId],
  };
  await insertPayment(database, payment, guard(payment));
  return { tenantId: offer.tenantId, paymentId, offer };
}

/** Settles it in the ledger, as evidence from the chain does. */
export async function settlePurchase(database: Database, ref: { readonly tenantId: string; readonly paymentId: string }) {
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  const event = { type: 'evidence', transfer: { txHash, logIndex: 0, blockNumber: 2n } } as const;
  const applied = await applyEvents(database, [{ ...ref, event }]);
  if (applied.changed.length !== 1) throw new Error('the purchase was not settled');
  return { txHash };
}

/** A licence of the account, sold and settled; its jti is the payment's id. */
export async function sellLicence(api: TestApi, accountId: string, request: LicenceRequest) {
  const purchase = await acceptPurchase(api, accountId, request);
  const { txHash } = await settlePurchase(api.deps.database, purchase);
  return { ...purchase, jti: purchase.paymentId, txHash };
}
