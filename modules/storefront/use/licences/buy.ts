import type { Network } from '../../../../platform/chain/network.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { Destination, ObservedAgent } from '../../../kernel/terms.ts';
import type { ParsedPayment } from '../../../kernel/x402/payload.ts';
import type { OpenOffer } from '../../../licences/store/offers.ts';
import { findFittingOffer, findOffer } from '../../../licences/store/offers.ts';
import { MAX_TIMEOUT_SECONDS } from '../../../pricing/rules/quote.ts';
import type { Offer } from '../../../quotes/use/offers/build.ts';
import type { Payment } from '../../../settlement/store/payment.ts';
import { findShown } from '../../../settlement/use/accept/intake.ts';
import type { SettleRequest } from '../../../settlement/use/accept/settle.ts';
import type { SettleReceipt } from '../../../settlement/use/answer/receipt.ts';
import { PaymentError } from '../../../settlement/use/answer/receipt.ts';
import { isVouchedBy, refuse } from '../../../settlement/use/answer/refuse.ts';
import { siteNetworks, takesNetwork } from '../../../tenants/use/networks.ts';
import { readPresented } from '../pages/presentedPayment.ts';
import type { BuyerDeps } from './deps.ts';
import { freezePages } from './freeze.ts';
import { buildLicenceOffer, destinationOf, openOffer, termsOfOffer } from './offer.ts';
import type { LicenceRequest, UnderstoodRequest } from './request.ts';
import { understandRequest } from './request.ts';

/** What buying needs besides: the settlement service, bound to its own deps. */
export interface BuyDeps extends BuyerDeps {
  readonly settle: (request: SettleRequest) => Promise<SettleReceipt>;
}

/** One call of POST licenses. */
export interface PurchaseCall {
  readonly accountId: string;
  readonly request: LicenceRequest;
  readonly requestHost: string | null;
  /** The payment headers that were sent, PAYMENT-SIGNATURE first. */
  readonly payments: readonly string[];
  readonly agent: ObservedAgent;
  readonly idempotencyKey?: string;
}

/** A licence that was bought, or an offer; after a refused payment, an offer with what was refused. */
export type PurchaseOutcome =
  | {
      readonly kind: 'bought';
      readonly receipt: SettleReceipt & { readonly licence: { readonly jti: string; readonly priceMicro: bigint } };
    }
  | { readonly kind: 'offered'; readonly offer: Offer; readonly refusal: PaymentError | null };

/**
 * Sells a licence to an account. Without a payment: the offer that stands for this request. With
 * one: it is settled for the offer it fits, and the licence is answered from its rows; the same payment again gets the same
 * answer. A payment that is refused gets a fresh offer with the reason; one that is undecided gets none (throws PaymentError
 * settlement_pending). Throws what understanding and quoting throw, idempotency_conflict (409), and outages.
 */
export async function buyLicence(deps: BuyDeps, call: PurchaseCall): Promise<PurchaseOutcome> {
  const request = await understandRequest(deps, call.request, call.requestHost);
  if (call.payments.length === 0) return offered(deps, call, request, null);
  const payment = await readPayment(deps, call, request);
  if (payment instanceof PaymentError) return offered(deps, call, request, payment);
  const named = deps.networks.findForPayment(payment) ?? deps.networks.first;
  const known = await findShown(deps, payment);
  const offer = await offerOf(deps, call, request, { payment, known, named });
  const { tenantId, offerId } = offer;
  const { accountId, agent, idempotencyKey } = call;
  try {
    const receipt = await deps.settle({
      tenantId,
      keyId: null,
      mode: 'live',
      terms: termsOfOffer(offer, destinationFor(deps, request, offer, { known, named })),
      payment,
      agent,
      known,
      purchase: { accountId, offerId },
      lastLook: () => freezePages(deps, offer, request),
      // Each account has its own keys.
      ...(idempotencyKey === undefined ? {} : { idempotencyKey: `${accountId}:${idempotencyKey}` }),
    });
    const { licence } = receipt;
    if (!licence) throw new Error('a settled purchase has no licence');
    return { kind: 'bought', receipt: { ...receipt, licence } };
  } catch (error) {
    if (!(error instanceof PaymentError) || error.code === 'settlement_pending') throw error;
    return offered(deps, call, request, error);
  }
}

/**
 * Where this payment must go: where it was taken if we hold it, else to the network it names, if that was offered and the site takes it
 * still. Any other must go to a network that the site takes, and is refused since it does not.
 */
function destinationFor(
  deps: BuyDeps,
  { tenant }: Pick<UnderstoodRequest, 'tenant'>,
  offer: OpenOffer,
  { known, named }: { readonly known: Payment | null; readonly named: Network },
): Destination {
  if (known) return { network: known.network, asset: known.asset, router: known.router, payTo: known.payTo };
  const open = siteNetworks(deps, tenant);
  const isOffered = named.id === offer.network || open.includes(named);
  return destinationOf(offer, isOffered && takesNetwork(deps, tenant, named.id) ? named : (open[0] as Network));
}

async function offered(
  deps: BuyDeps,
  { accountId }: PurchaseCall,
  request: UnderstoodRequest,
  refusal: PaymentError | null,
): Promise<PurchaseOutcome> {
  const offer = await openOffer(deps, accountId, request);
  return { kind: 'offered', offer: buildLicenceOffer(deps, request.tenant, offer, refusal?.text ?? null), refusal };
}

/** The payment of the headers; a refusal when it cannot be read or two headers carry two authorizations. */
async function readPayment(deps: BuyDeps, call: PurchaseCall, request: UnderstoodRequest): Promise<ParsedPayment | PaymentError> {
  const { agent, payments } = call;
  const { tenant, host, kind } = request;
  const presented = readPresented(deps.networks, payments);
  if (presented.ok) return presented.payment;
  const { read, refusal } = presented;
  const asked = {
    tenantId: tenant.tenantId,
    mode: 'live',
    host,
    slug: 'licence',
    kind,
    micro: null,
    agent,
    isVouched: isVouchedBy({ keyId: null, purchase: call }),
  } as const;
  const payer = { x402Version: read?.x402Version ?? 2, payer: read?.authorization.from ?? '' } as const;
  return refuse(deps, { ...asked, network: deps.networks.first, ...payer }, refusal);
}

/**
 * The offer a payment is for: that of an authorization we hold, else the newest offer of this account and request that it fits
 * and that it could have been signed for, else the one that stands, which it then will not meet.
 */
async function offerOf(
  deps: BuyDeps,
  call: PurchaseCall,
  request: UnderstoodRequest,
  { payment, known, named }: { readonly payment: ParsedPayment; readonly known: Payment | null; readonly named: Network },
): Promise<OpenOffer> {
  const { accountId } = call;
  const { requestHash, tenant } = request;
  const { to, value } = payment.authorization;
  const since = new Date(deps.clock() - MAX_TIMEOUT_SECONDS * 1000);
  const own =
    known?.licenceOfferId && known.accountId === accountId ? await findOffer(deps.database, known.licenceOfferId) : null;
  if (own?.requestHash === requestHash) return own;
  const fits = (offer: OpenOffer): boolean => destinationOf(offer, named).payTo === to;
  const fitting = await findFittingOffer(deps.database, { accountId, requestHash, priceMicro: value }, fits, since);
  if (fitting && tenant.status !== 'active')
    throw new ServiceError('conflict', `this site is ${tenant.status} and sells no licences`);
  return fitting ?? openOffer(deps, accountId, request);
}
