/** A page sold by the service itself: to any buyer, without the publisher's gate between. The terms are those of the gate. */

import { previewSpending } from '../../../budgets/use/check.ts';
import { isServiceError, ServiceError } from '../../../kernel/errors.ts';
import { requireResource, slugOf } from '../../../kernel/pages/resource.ts';
import type { CrossingKind, ObservedAgent } from '../../../kernel/terms.ts';
import type { ParsedPayment } from '../../../kernel/x402/payload.ts';
import type { FreeBecause } from '../../../pricing/rules/pricing.ts';
import { CREDITS_PATIENCE_MS, withCredits } from '../../../quotes/use/credits/book.ts';
import type { QuotedPage } from '../../../quotes/use/issue.ts';
import { agentRefused, findPage, issueQuote, presentPricing } from '../../../quotes/use/issue.ts';
import type { Offer } from '../../../quotes/use/offers/build.ts';
import type { ExtensionDeps } from '../../../quotes/use/offers/extensions.ts';
import { buildPageOffer } from '../../../quotes/use/offers/page.ts';
import { findPresentOffer } from '../../../quotes/use/offers/present.ts';
import type { Payment } from '../../../settlement/store/payment.ts';
import { findShown } from '../../../settlement/use/accept/intake.ts';
import type { VerifyDeps, VerifyRequest } from '../../../settlement/use/accept/verify.ts';
import { verifyPayment } from '../../../settlement/use/accept/verify.ts';
import type { PaymentError, SettleReceipt } from '../../../settlement/use/answer/receipt.ts';
import { isVouchedBy, refuse } from '../../../settlement/use/answer/refuse.ts';
import type { PageDeps, PageText } from './fetch.ts';
import type { HeldDeps } from './held.ts';
import { readHeld } from './held.ts';
import { readPresented } from './presentedPayment.ts';
import { absentError, probePage } from './probe.ts';
import type { Relayed } from './relay.ts';
import { readInstructions, relayPage } from './relay.ts';
import type { SoldPage } from './seller.ts';
import { findSeller, requireSeller } from './seller.ts';

/** What selling a page needs. */
export type SaleDeps = VerifyDeps & ExtensionDeps & PageDeps & HeldDeps;

/** What offering one needs. */
export type OfferDeps = VerifyDeps & ExtensionDeps;

/** Which page is asked for. */
export interface PageAsk {
  readonly url: string;
  readonly kind: CrossingKind;
  /** Where the call came from. */
  readonly address: string;
}

/** A call that buys a page, or asks what it costs. */
export interface PageCall extends PageAsk {
  /** What was sent as payment, wherever it stood; none: the offer is asked for. */
  readonly payments: readonly string[];
  readonly agent: ObservedAgent;
  /** The account that buys: its budget decides, and what it holds already is not sold again. */
  readonly accountId?: string;
}

/** A page that costs nothing, and why. */
export interface FreePage {
  readonly kind: 'free';
  /** The page's URL in the one form we compare. */
  readonly url: string;
  readonly because: FreeBecause | 'given_by_its_site';
  /** Its text, where its site gave it to us and lets it be handed on. */
  readonly page: PageText | null;
}

/** What a page costs, with the offer that a payment must meet. */
export interface OfferedPage {
  readonly kind: 'offered';
  readonly url: string;
  readonly quoted: QuotedPage;
  readonly offer: Offer;
}

/** A page that the account held before; nothing was charged. */
export interface HeldBefore {
  readonly kind: 'held';
  readonly url: string;
  readonly license: string;
  readonly relay: Relayed;
}

/** A page that was bought. */
export interface BoughtPage {
  readonly kind: 'bought';
  readonly url: string;
  readonly receipt: SettleReceipt;
  /** Its text, or how to read it with the licence. */
  readonly relay: Relayed;
}

/** How long its server is waited for, once before the payment and once after: with the wait for the payment less than what clients wait. */
const PAGE_PATIENCE_MS = 8_000;

/** The same, with as much patience for a site as a purchase has. */
function patient<Deps extends PageDeps>(deps: Deps): Deps {
  return { ...deps, pagePatienceMs: PAGE_PATIENCE_MS };
}

/**
 * What a page costs now, as an agent that nobody verified, with its offer. Throws invalid_resource, not_found for a host that nobody here has
 * proven, agent_refused, payee_blocked, credits_unavailable.
 */
export async function offerPage(deps: OfferDeps, ask: PageAsk): Promise<FreePage | OfferedPage> {
  return offerOf(deps, await findSeller(deps, ask.url), ask);
}

/**
 * Sells a page. Without a payment: its offer; to an account also what it holds already, or why its budget says no. With one: its receipt, as POST
 * verify settles it, with the same terms, grace, guard and replay key, since it is the same function. The site is asked last, once the payer has
 * signed and holds the money; what it does not sell is not charged. The same payment again gets the same answer, whatever the page costs by now.
 * Throws PaymentError (with the present offer, none while undecided), budget_exceeded and approval_required (without an offer), not_found for what
 * the site does not have, and what `offerPage` throws.
 *
 * What bounds the cost: the caller's rate first; then what POST verify is bounded by; one request to the site before the payment, by a turn of its
 * site and of the payer, and one after a payment that was settled.
 */
export async function buyPage(deps: SaleDeps, call: PageCall): Promise<FreePage | OfferedPage | HeldBefore | BoughtPage> {
  if (call.payments.length === 0) return offerTo(deps, await findSeller(deps, call.url), call);
  const page = await requireSeller(deps, call.url);
  const presented = readPresented(deps.networks, call.payments);
  if (!presented.ok) throw await refuseUnread(deps, { page, call, read: presented.read }, presented.refusal);
  const { payment, text } = presented;
  const { from: payer } = payment.authorization;
  const known = await findShown(deps, payment);
  // Whatever was taken in is answered by its own terms: its page may cost something else by now, or nothing.
  if (known?.tenantId === page.seller.key.tenantId) return settle(deps, { page, call, text, payer }, soldBefore(known));
  const offered = await offerOf(deps, page, call);
  if (offered.kind === 'free') return offered;
  const { quote, terms } = offered.quoted;
  const { url } = offered;
  const lastLook = async ({ hasMoved }: { readonly hasMoved: boolean }): Promise<null> => {
    // What is paid already is given, whatever its site says of the page by now.
    if (!hasMoved) await requireSold(patient(deps), { url, who: `payer ${payer}` });
    return null;
  };
  const sold = { ...page, resource: requireResource(url) };
  return settle(deps, { page: sold, call, text, payer }, { quote: { ...quote }, legs: terms.legs, lastLook }).catch(
    (error: unknown) => {
      if (error instanceof Given) return { kind: 'free', url, because: 'given_by_its_site', page: error.page };
      throw error;
    },
  );
}

/** The site gives the page away: nothing is to be charged. */
class Given extends ServiceError {
  readonly page: PageText | null;

  constructor(page: PageText | null) {
    super('not_found', 'the site gives this page away; nothing was charged');
    this.page = page;
  }
}

/** Asks the site for the page that is about to be paid. Throws `Given`, and not_found or overloaded where it is absent. */
async function requireSold(deps: PageDeps, asked: Parameters<typeof probePage>[1]): Promise<void> {
  const probed = await probePage(deps, asked);
  if (probed.kind === 'absent') throw absentError(probed);
  if (probed.kind === 'free') throw new Given(probed.page);
}

/** What a page is sold by: a quote and its legs, and what is looked at before a new payment. */
type Sold = Pick<VerifyRequest, 'quote' | 'legs' | 'lastLook'>;

/** By its price alone, as it was taken in. */
function soldBefore({ amountMicro, kind, resource, legs }: Payment): Sold {
  return { quote: { price: Number(amountMicro), kind, resource }, legs };
}

async function settle(
  deps: SaleDeps,
  {
    page,
    call,
    text,
    payer,
  }: { readonly page: SoldPage; readonly call: PageCall; readonly text: string; readonly payer: string },
  sold: Sold,
): Promise<BoughtPage> {
  const { url } = page.resource;
  const { agent, accountId } = call;
  const named = accountId === undefined ? {} : { accountId };
  const receipt = await verifyPayment(deps, page.seller, { ...sold, payment: text, resource: url, agent, ...named });
  const licence = receipt.licenseJws;
  return { kind: 'bought', url, receipt, relay: await relayPaid(deps, { url, licence, who: `payer ${payer}` }) };
}

/** The page's text; whatever is in the way of it, the licence is answered, since it is paid for. */
async function relayPaid(deps: SaleDeps, paid: Parameters<typeof relayPage>[1]): Promise<Relayed> {
  try {
    return await relayPage(patient(deps), paid);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const instructions = readInstructions(paid.url, paid.licence);
    return { relayed: false, reason: 'unavailable', says: 'its text cannot be fetched right now', instructions };
  }
}

/** What an account is told before it signs: the page, if it holds it; else why its budget says no, else the offer. */
async function offerTo(deps: SaleDeps, page: SoldPage, call: PageCall): Promise<FreePage | OfferedPage | HeldBefore> {
  const { accountId, kind } = call;
  const { url } = page.resource;
  if (accountId !== undefined) {
    const held = await readHeld(patient(deps), { url, kind, by: { accountId, address: call.address } });
    if (held.held) return { kind: 'held', url, license: held.license, relay: held.relay };
  }
  const offered = await offerOf(deps, page, call);
  if (accountId === undefined || offered.kind === 'free') return offered;
  const { host, resource, resourceKey, priceMicro: amountMicro } = offered.quoted.terms;
  const refusal = await previewSpending(deps, accountId, { host, resource, resourceKey, kind, purpose: 'page', amountMicro });
  if (refusal) throw refusal;
  return offered;
}

async function offerOf(
  deps: OfferDeps,
  { resource, seller }: SoldPage,
  { kind, address }: PageAsk,
): Promise<FreePage | OfferedPage> {
  const { url } = resource;
  const { tenant } = seller;
  const find = () => findPage(deps, { tenant, resource: url, kind });
  const { found } = await withCredits(deps.credits, find, CREDITS_PATIENCE_MS, { address });
  if (found === 'refused') throw agentRefused();
  if (typeof found === 'string') return { kind: 'free', url, because: found, page: null };
  const quoted = issueQuote(deps, found);
  // Of a form of an article it is the article that is sold, and that its site is asked for.
  return { kind: 'offered', url: quoted.quote.resource, quoted, offer: buildPageOffer(deps, quoted) };
}

/** Refuses a payment that cannot be read, or two of them. Nobody signed it, so it is no observation of the site. */
async function refuseUnread(
  deps: OfferDeps,
  { page, call, read }: { readonly page: SoldPage; readonly call: PageCall; readonly read: ParsedPayment | null },
  refusal: Parameters<typeof refuse>[2],
): Promise<PaymentError> {
  const { resource, seller } = page;
  const { tenantId, mode } = seller.key;
  const { kind, agent } = call;
  const presented = { x402Version: read?.x402Version ?? 2, payer: read?.authorization.from ?? '' } as const;
  const network = deps.networks.first;
  const slug = slugOf(presentPricing(seller.tenant).articlePrefixes, resource.path) ?? '';
  const attempt = {
    tenantId,
    mode,
    host: resource.host,
    slug,
    kind,
    micro: null,
    agent,
    network,
    ...presented,
    isVouched: isVouchedBy(seller.key),
  };
  const error = await refuse(deps, attempt, refusal);
  const asked = { tenant: seller.tenant, resource: resource.url, kind };
  return error.withOffer(findPresentOffer(deps, asked, error.text)?.header ?? null);
}
