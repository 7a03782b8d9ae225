import type { Caller } from '../../../identity/use/keys/authenticate.ts';
import type { KeyState } from '../../../kernel/access/key.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { ResourceUrl } from '../../../kernel/hosts/host.ts';
import { sameLegs } from '../../../kernel/money/legs.ts';
import { slugOf } from '../../../kernel/pages/resource.ts';
import type { ObservedAgent, Terms } from '../../../kernel/terms.ts';
import type { ParsedPayment } from '../../../kernel/x402/payload.ts';
import { parsePayment } from '../../../kernel/x402/payload.ts';
import { withCredits } from '../../../quotes/use/credits/book.ts';
import type { PublisherDeps } from '../../../quotes/use/deps.ts';
import { presentPricing } from '../../../quotes/use/issue.ts';
import { findPresentOffer } from '../../../quotes/use/offers/present.ts';
import type { SentQuote, TermsRequest } from '../../../quotes/use/resolveTerms.ts';
import { askerOf, quotedTerms, requireOwnedPage, resolveTerms } from '../../../quotes/use/resolveTerms.ts';
import type { Payment } from '../../store/payment.ts';
import type { SettleReceipt } from '../answer/receipt.ts';
import { PaymentError } from '../answer/receipt.ts';
import type { Refusal } from '../answer/refuse.ts';
import { isVouchedBy, refuse } from '../answer/refuse.ts';
import type { ReceiptName } from '../answer/signReceipt.ts';
import { findShown } from './intake.ts';
import type { SettleRequest } from './settle.ts';

/** What verifying needs besides the publisher's side: the settlement service, bound to its own deps. */
export interface VerifyDeps extends PublisherDeps {
  readonly settle: (request: SettleRequest) => Promise<SettleReceipt>;
}

/** Whose page is paid for: a site, and the key that speaks for it; none where it is sold by the service itself. */
export interface Seller extends Pick<Caller, 'tenant'> {
  readonly key: Pick<KeyState, 'tenantId' | 'mode'> & { readonly keyId: string | null };
}

/** A verify call of the right shape. */
export interface VerifyRequest {
  readonly payment: string;
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: bigint }[];
  readonly quote: SentQuote;
  readonly resource?: string;
  readonly agent: ObservedAgent;
  readonly idempotencyKey?: string;
  readonly receiptName?: ReceiptName;
  /** The account that buys, where one said so; else the one whose wallet pays. */
  readonly accountId?: string;
  readonly lastLook?: SettleRequest['lastLook'];
}

/** The longest a payment takes from the judgement of its quote to its row; what was alive then must not look expired later. */
const INTAKE_MS = 60_000;

/**
 * Settles a buyer's payment for a page of the caller's site: whose page → payment readable → quote ours and alive → legs →
 * settlement. Throws 400 and 403 before anything is recorded; every refusal of the payment itself
 * is a 402, writes one `payment-failed` observation (`Attempt.isVouched`) and carries the page's present offer; outages are 503 and write none.
 */
export async function verifyPayment(deps: VerifyDeps, caller: Seller, request: VerifyRequest): Promise<SettleReceipt> {
  const page = requireOwnedPage({ ...request, tenant: caller.tenant });
  try {
    return await settlePage(deps, caller, request, page);
  } catch (error) {
    if (!(error instanceof PaymentError) || error.code === 'settlement_pending') throw error;
    const { tenant } = caller;
    const asked = { tenant, resource: page.url, kind: request.quote.kind ?? 'read', asker: askerOf(deps, request.quote) };
    throw error.withOffer(findPresentOffer(deps, asked, error.text)?.header ?? null);
  }
}

async function settlePage(deps: VerifyDeps, caller: Seller, request: VerifyRequest, page: ResourceUrl): Promise<SettleReceipt> {
  const { tenantId, keyId, mode } = caller.key;
  const { agent, idempotencyKey, accountId, lastLook, receiptName = 'service' } = request;
  const slug = slugOf(presentPricing(caller.tenant).articlePrefixes, page.path) ?? '';
  const asked = { host: page.host, slug, kind: request.quote.kind ?? 'read', micro: null };
  const unread = { network: deps.networks.first, x402Version: 2, payer: '' } as const;
  const attempt = { ...asked, ...unread, tenantId, mode, agent, isVouched: isVouchedBy(caller.key) };
  const parsed = parsePayment(request.payment);
  if (!parsed.ok) throw await refuse(deps, attempt, { ...parsed, sentence: parsed.detail });
  const { payment } = parsed;
  const { x402Version } = payment;
  const network = deps.networks.findForPayment(payment) ?? attempt.network;
  const readable = { ...attempt, network, x402Version, payer: payment.authorization.from };
  const { quoted, ...met } = await termsOf(deps, caller, request, payment).catch(async (error: unknown) => {
    if (!(error instanceof ServiceError) || error.kind !== 'payment') throw error;
    const raw = error.code === 'network_unsupported' ? 'invalid_exact_evm_network_mismatch' : error.code;
    throw await refuse(deps, readable, { reason: error.code as Refusal['reason'], raw, sentence: error.message });
  });
  if (!sameLegs(request.legs, quoted.legs)) {
    const { host, kind, priceMicro: micro } = quoted;
    const sold = { ...readable, host, slug: quoted.slug, kind, micro };
    const sentence = 'the legs differ from those of the quote';
    throw await refuse(deps, sold, { reason: 'authorization_invalid', raw: 'legs_mismatch', sentence });
  }
  const named = {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(lastLook === undefined ? {} : { lastLook }),
  };
  return deps.settle({ tenantId, keyId, mode, ...met, payment, agent, receiptName, ...named });
}

/** The terms of the quote that was sent, and of the payment: those it was made for, else the quote's, which then refuse it. */
type Met = Pick<SettleRequest, 'terms' | 'known'> & { readonly quoted: Terms };

/**
 * The terms as of the payment's intake (safety 17): now for a new authorization, and for one we hold already the moment and the network we
 * took it in, so that a repeated call meets its own answer and not an expired quote, nor a price that has ended, nor a network that the site
 * left since. What it was sold for then stands in its row. A payment that met its terms is looked up where it is settled, any other once, here.
 */
async function termsOf(deps: VerifyDeps, caller: Seller, request: VerifyRequest, payment: ParsedPayment): Promise<Met> {
  const { tenant } = caller;
  let failure: unknown;
  const met = await withCredits(deps.credits, () => resolveTerms(deps, { ...request, tenant, payment })).catch(
    (error: unknown) => {
      const isOfQuote = error instanceof ServiceError && (error.kind === 'payment' || error.code === 'agent_refused');
      if (!isOfQuote) throw error;
      failure = error;
      return null;
    },
  );
  if (met?.paid) return { quoted: met.quoted, terms: met.paid };
  const known = await findShown(deps, payment);
  const own = known?.tenantId === tenant.tenantId ? known : null;
  const quoted = met?.quoted ?? (own && (await quotedAtIntake(deps, { ...request, payment }, own)));
  if (!quoted) throw failure;
  return { quoted, terms: (own && termsTaken(own, quoted)) ?? quoted, known };
}

/** The terms of the quote as it stood when a payment of the site was taken in; null when the site is gone. */
async function quotedAtIntake(
  deps: VerifyDeps,
  request: Omit<TermsRequest, 'tenant' | 'taken'>,
  known: Payment,
): Promise<Terms | null> {
  const judgedAtMs = known.acceptedAt.getTime() - INTAKE_MS;
  const tenant = await deps.snapshots.tenantAsOf(known.tenantId, judgedAtMs);
  if (!tenant) return null;
  const then = { ...deps, clock: () => judgedAtMs };
  const { network, asset, router, payTo } = known;
  const taken = { network, asset, router, payTo };
  return withCredits(deps.credits, () => quotedTerms(then, { ...request, tenant, taken }));
}

/** What a payment that we hold was sold for; null when the quote is for another page or kind than it was taken for. */
function termsTaken(known: Payment, quoted: Terms): Terms | null {
  if (known.resourceKey !== quoted.resourceKey || known.kind !== quoted.kind) return null;
  const { tenantId, host, slug, resource, resourceKey, kind, legs, legWords, network, asset, router, payTo } = known;
  const payees = legs.map(({ toAddress: wallet, authorId = wallet, share }) => ({ authorId, wallet, share }));
  const sold = { tenantId, host, slug, resource, resourceKey, kind, priceMicro: known.amountMicro, payees, legs, legWords };
  return { ...sold, network, asset, router, payTo, quoteId: quoted.quoteId };
}
