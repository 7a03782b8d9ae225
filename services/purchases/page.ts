/** A page sold by the service itself: to whoever pays, without the publisher's gate between. The terms are those of the gate. */
import { slugOf } from '../../domain/pages/resource.ts';
import type { FreeBecause } from '../../domain/pricing/pricing.ts';
import type { CrossingKind, ObservedAgent } from '../../domain/pricing/terms.ts';
import type { ParsedPayment } from '../../domain/x402/payload.ts';
import { withCredits } from '../credits/book.ts';
import type { Offer } from '../offers/build.ts';
import type { ExtensionDeps } from '../offers/extensions.ts';
import { buildPageOffer } from '../offers/page.ts';
import { findPresentOffer } from '../offers/present.ts';
import { atLedger } from '../outage.ts';
import type { QuotedPage } from '../quotes/issue.ts';
import { agentRefused, findPage, issueQuote, presentPricing } from '../quotes/issue.ts';
import { findKnown } from '../settlement/accept/intake.ts';
import type { VerifyDeps } from '../settlement/accept/verify.ts';
import { verifyPayment } from '../settlement/accept/verify.ts';
import type { PaymentError, SettleReceipt } from '../settlement/answer/receipt.ts';
import { refuse } from '../settlement/answer/refuse.ts';
import { readPresented } from './payments.ts';
import type { SoldPage } from './seller.ts';
import { requireSeller } from './seller.ts';

/** What selling a page needs. */
export type PageDeps = VerifyDeps & ExtensionDeps;

/** Which page is asked for. */
export interface PageAsk {
  readonly url: string;
  readonly kind: CrossingKind;
}

/** A call that buys a page, or asks what it costs. */
export interface PageCall extends PageAsk {
  /** What was sent as payment, wherever it stood; none: the offer is asked for. */
  readonly payments: readonly string[];
  readonly agent: ObservedAgent;
  readonly idempotencyKey?: string;
}

/** A page that costs nothing, and why. */
export interface FreePage {
  readonly kind: 'free';
  /** The page's URL in the one form we compare. */
  readonly url: string;
  readonly because: FreeBecause;
}

/** What a page costs, with the offer that a payment must meet. */
export interface OfferedPage {
  readonly kind: 'offered';
  readonly url: string;
  readonly quoted: QuotedPage;
  readonly offer: Offer;
}

/** A page that was bought. */
export interface BoughtPage {
  readonly kind: 'bought';
  readonly url: string;
  readonly receipt: SettleReceipt;
}

/** How long a site's own API of authors is waited for. */
export const CREDITS_PATIENCE_MS = 1_200;

/**
 * What a page costs now, as an agent that nobody verified, with its offer. Throws invalid_resource, not_found for a host that nobody here has
 * proven, agent_refused, payee_blocked, credits_unavailable.
 */
export async function offerPage(deps: PageDeps, ask: PageAsk): Promise<FreePage | OfferedPage> {
  return offerOf(deps, await requireSeller(deps, ask.url), ask);
}

/**
 * Sells a page: without a payment its offer; with one its receipt, as POST verify settles it (terms, ten minutes of grace, open-purchase guard and
 * replay key are the same, since it is the same function). The same payment again gets the same answer, also when the page's price has
 * changed or ended since. Throws PaymentError (with the present offer, none while undecided), and what `offerPage` throws.
 *
 * What bounds the cost: the caller's rate first; then two looks into indexes, the signature, and what POST verify is bounded by.
 */
export async function buyPage(deps: PageDeps, call: PageCall): Promise<FreePage | OfferedPage | BoughtPage> {
  const page = await requireSeller(deps, call.url);
  if (call.payments.length === 0) return offerOf(deps, page, call);
  const presented = readPresented(deps.networks, call.payments);
  if (!presented.ok) throw await refuseUnread(deps, { page, call, read: presented.read }, presented.refusal);
  const { payment, text } = presented;
  const { tenantId } = page.seller.key;
  const { from: payer, nonce } = payment.authorization;
  const { id: network, asset } = deps.networks.findForPayment(payment) ?? deps.networks.first;
  const known = await atLedger(() => findKnown(deps.database, { network, asset, payer, nonce }));
  const { kind, agent, idempotencyKey } = call;
  const asked = {
    payment: text,
    resource: page.resource.url,
    agent,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  const url = page.resource.url;
  if (known?.tenantId === tenantId) {
    // Whatever was taken in is answered by its own terms: its page may cost something else by now, or nothing.
    const quote = { price: Number(known.amountMicro), kind, resource: url };
    return { kind: 'bought', url, receipt: await verifyPayment(deps, page.seller, { ...asked, quote, legs: known.legs }) };
  }
  const offered = await offerOf(deps, page, call);
  if (offered.kind === 'free') return offered;
  const { quote, terms } = offered.quoted;
  return {
    kind: 'bought',
    url,
    receipt: await verifyPayment(deps, page.seller, { ...asked, quote: { ...quote }, legs: terms.legs }),
  };
}

async function offerOf(deps: PageDeps, { resource, seller }: SoldPage, { kind }: PageAsk): Promise<FreePage | OfferedPage> {
  const { url } = resource;
  const { tenant } = seller;
  const { found } = await withCredits(deps.credits, () => findPage(deps, { tenant, resource: url, kind }), CREDITS_PATIENCE_MS);
  if (found === 'refused') throw agentRefused();
  if (typeof found === 'string') return { kind: 'free', url, because: found };
  const quoted = issueQuote(deps, found);
  return { kind: 'offered', url, quoted, offer: buildPageOffer(deps, quoted) };
}

/** Refuses a payment that cannot be read, or two of them: one observation of the site, as a gate's. */
async function refuseUnread(
  deps: PageDeps,
  { page, call, read }: { readonly page: SoldPage; readonly call: PageCall; readonly read: ParsedPayment | null },
  refusal: Parameters<typeof refuse>[2],
): Promise<PaymentError> {
  const { resource, seller } = page;
  const { tenantId, mode } = seller.key;
  const { kind, agent } = call;
  const presented = { x402Version: read?.x402Version ?? 2, payer: read?.authorization.from ?? '' } as const;
  const network = deps.networks.first;
  const slug = slugOf(presentPricing(seller.tenant).articlePrefixes, resource.path) ?? '';
  const attempt = { tenantId, mode, host: resource.host, slug, kind, micro: null, agent, network, ...presented };
  const error = await refuse(deps, attempt, refusal);
  const asked = { tenant: seller.tenant, resource: resource.url, kind };
  return error.withOffer(findPresentOffer(deps, asked, error.text)?.header ?? null);
}
