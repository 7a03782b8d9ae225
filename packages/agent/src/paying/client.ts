/** The stock x402 client, held to the envelope and the ledger: nothing is signed beside them, and nothing twice. */
import { ExactEvmScheme } from '@x402/evm';
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from '@x402/fetch';
import { x402Client } from '@x402/fetch';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Verdict } from '../envelope/decide.ts';
import { decide } from '../envelope/decide.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { periodAt } from '../envelope/envelope.ts';
import { AgentError } from '../errors.ts';
import type { Bought, LedgerPayment } from '../ledger/entries.ts';
import { approvalIdOf } from '../ledger/entries.ts';
import type { HeldLedger, LedgerFile } from '../ledger/file.ts';
import { usdcOf } from '../money.ts';
import type { Purchase } from './purchase.ts';

/** What purchases share. */
export interface Wallet {
  readonly signer: PrivateKeyAccount;
  readonly ledger: LedgerFile;
  /** Read anew for every purchase. */
  readonly envelope: () => Envelope;
  readonly now: () => number;
}

/** What several purchases may cost together, in micro-USDC. A payment takes its price out once, however often it is sent. */
export class Purse {
  #leftMicro: bigint;
  readonly #taken = new Set<string>();

  constructor(leftMicro: bigint) {
    this.#leftMicro = leftMicro;
  }

  /** Most that a payment may cost; null for one that has taken its price out. */
  mostFor(id: string | null): bigint | null {
    return id !== null && this.#taken.has(id) ? null : this.#leftMicro;
  }

  take({ id, amountMicro }: Pick<LedgerPayment, 'id' | 'amountMicro'>): void {
    if (this.#taken.has(id)) return;
    this.#taken.add(id);
    this.#leftMicro -= amountMicro;
  }
}

/** What the caller allows within the envelope. */
export interface Allowance {
  /** Most for each purchase, in micro-USDC. */
  readonly maxMicro?: bigint | null;
  /** Shared by purchases of one order. */
  readonly purse?: Purse | null;
  /** Who is paid, where that is not the host that is asked. */
  readonly sellerHost?: string;
  /** What is bought, for the person who approves it, where the address alone does not say it. */
  readonly words?: string;
  /** What was paid for within this time is not paid for again, though its licence is over. Without it, it is. */
  readonly onceWithinMs?: number;
  /** Signs nothing: a price is told as `dry_run`. */
  readonly isDryRun?: boolean;
  /** Called before each payment leaves, signed now or before. */
  readonly onSent?: (payment: Pick<LedgerPayment, 'amountMicro'>) => void;
  /** Pays anew for what was paid for before, or may have been. */
  readonly isAgain?: boolean;
}

/** Longest time for which a signature may be of use. */
const MAX_VALID_S = 3_600;

/** A client for one purchase. Its payload is either the one that was signed for it before, or new and on disk. */
export class LedgerClient extends x402Client {
  readonly #wallet: Wallet;
  readonly #purchase: Purchase;
  readonly #allowance: Allowance;
  /** The payment that was chosen, and whether it was ever sent before. */
  chosen: { readonly id: string; readonly isFirst: boolean } | null = null;

  constructor(wallet: Wallet, purchase: Purchase, allowance: Allowance) {
    super();
    this.#wallet = wallet;
    this.#purchase = purchase;
    this.#allowance = allowance;
    const scheme = new ExactEvmScheme(wallet.signer);
    // The envelope decides what is too dear, in micro-USDC: coins of other worth or size are not paid with.
    this.register('eip155:*', scheme)
      .setSpendControls({ maxAmountPerPayment: false })
      .registerPolicy((_version, entries) => entries.filter((entry) => isPayable(entry, scheme)));
  }

  override createPaymentPayload(offer: PaymentRequired): Promise<PaymentPayload> {
    return this.#wallet.ledger.hold(async (held) => {
      if (this.#allowance.isDryRun) this.#tellHeld(held, offer);
      const { signer, now } = this.#wallet;
      const newest = held.ledger.newestOf(this.#purchase.key);
      const own = held.ledger.newestOf(this.#purchase.key, signer.address);
      const earlier = reusable(newest, own, now(), this.#allowance);
      if (earlier) {
        this.#allow(held, earlier, earlier);
        this.#choose(earlier, false);
        return earlier.payload as unknown as PaymentPayload;
      }
      const entry = this.#select(offer);
      const { url, key: purchase } = this.#purchase;
      const { sellerHost: host = url.host } = this.#allowance;
      this.#allow(held, { purchase, url: url.href, host, amountMicro: BigInt(entry.amount) }, null);
      const payload = await super.createPaymentPayload({ ...offer, accepts: [entry] });
      this.#write(held, payload, entry);
      return payload;
    });
  }

  /** The payment that this wallet signed for the same and that nobody answered, to be sent as it is; null where there is none, or it may not go out now. */
  undecided(): Promise<LedgerPayment | null> {
    return this.#wallet.ledger.hold(async (held) => {
      const { signer, now } = this.#wallet;
      const payment = held.ledger.newestOf(this.#purchase.key);
      if (payment?.state !== 'open' || now() >= payment.validBeforeS * 1_000) return null;
      const isOwn = held.ledger.newestOf(this.#purchase.key, signer.address)?.id === payment.id;
      if (!isOwn || !this.#judge(held, payment, payment).may) return null;
      this.#choose(payment, false);
      return payment;
    });
  }

  /** The stock choice, made before the signature so that its price can be decided on. */
  #select({ x402Version, accepts }: PaymentRequired): PaymentRequirements {
    const stock = this as unknown as { selectPaymentRequirements(version: number, entries: unknown): PaymentRequirements };
    try {
      return stock.selectPaymentRequirements(x402Version, accepts);
    } catch {
      throw new AgentError('offer_refused', 'The offer does not ask for USDC by an EIP-3009 signature on a known network.');
    }
  }

  /** A page that was bought and is read by its licence costs nothing, whatever its price. */
  #tellHeld({ ledger }: HeldLedger, offer: PaymentRequired): void {
    const newest = ledger.newestOf(this.#purchase.key);
    if (!isHeld(newest, this.#wallet.now())) return;
    const amountMicro = Number(this.#select(offer).amount);
    throw new AgentError('dry_run', 'It is held: the licence of an earlier purchase reads it again, and nothing is paid.', {
      url: this.#purchase.url.href,
      amountMicro,
      isHeld: true,
    });
  }

  /** The one judgement of what leaves this process, signed now or before. What was signed before counts already, in the period of its signature. */
  #judge({ ledger }: HeldLedger, bought: Bought, earlier: LedgerPayment | null): Verdict {
    const { now, envelope: read } = this.#wallet;
    const envelope = read();
    const { maxMicro = null, purse } = this.#allowance;
    const { host, amountMicro } = bought;
    return decide(envelope, ledger.spent(periodAt(envelope.period, earlier?.atMs ?? now()), host, earlier?.id), {
      host,
      amountMicro,
      maxMicro: leastOf(maxMicro, purse?.mostFor(earlier?.id ?? null) ?? null),
      isApproved: earlier?.isApproved === true || ledger.isApproved(bought, now()),
      approvalId: approvalIdOf(bought),
    });
  }

  #allow(held: HeldLedger, bought: Bought, earlier: LedgerPayment | null): void {
    const verdict = this.#judge(held, bought, earlier);
    const { url, amountMicro } = bought;
    const { isDryRun, words = bought.purchase } = this.#allowance;
    const details = { url, amountMicro: Number(amountMicro) };
    if (!verdict.may) {
      const { limit, says } = verdict;
      const approvalId = approvalIdOf(bought);
      const not = earlier ? 'Not sent again' : 'Not bought';
      if (limit === 'approval' && approvalId !== null) {
        const asked = { id: approvalId, url, words: printable(words), amountMicro: String(amountMicro) };
        // On disk, so that the person reads what was asked, and not what a model says was asked.
        if (held.ledger.askedUnder(approvalId) === null) held.append({ type: 'asked', atMs: this.#wallet.now(), ...asked });
        throw new AgentError('approval_required', `${not}: ${asked.words}: ${says}.`, { ...details, limit, approvalId });
      }
      const code = limit === 'stopped' ? 'stopped' : limit === 'approval' ? 'approval_required' : 'over_limit';
      throw new AgentError(code, `${not}: ${says}.`, { ...details, limit });
    }
    if (!isDryRun) return;
    const price = `${usdcOf(amountMicro)} USDC`;
    const says = earlier
      ? `A payment of ${price} was signed for it, and would be sent again.`
      : `It costs ${price}, and would be bought.`;
    throw new AgentError('dry_run', says, details);
  }

  #choose(payment: Pick<LedgerPayment, 'id' | 'amountMicro'>, isFirst: boolean): void {
    this.#allowance.purse?.take(payment);
    this.#allowance.onSent?.(payment);
    this.chosen = { id: payment.id, isFirst };
  }

  /** On disk before the signature leaves this process: a crash after this line sends the same payment again. */
  #write({ append }: HeldLedger, payload: PaymentPayload, entry: PaymentRequirements): void {
    const { signer, now } = this.#wallet;
    const { sellerHost = this.#purchase.url.host } = this.#allowance;
    const { authorization } = payload.payload as { authorization?: Readonly<Record<string, string>> };
    const { from, to, value, nonce, validBefore } = authorization ?? {};
    const isAsDecided =
      from?.toLowerCase() === signer.address.toLowerCase() &&
      to?.toLowerCase() === entry.payTo.toLowerCase() &&
      value === entry.amount;
    if (!isAsDecided || nonce === undefined)
      throw new AgentError('offer_refused', 'The signed payment differs from the one decided on; it is not sent.');
    append({
      type: 'signed',
      id: nonce,
      atMs: now(),
      purchase: this.#purchase.key,
      url: this.#purchase.url.href,
      host: sellerHost,
      amountMicro: entry.amount,
      payer: signer.address,
      validBeforeS: Number(validBefore),
      payload: JSON.parse(JSON.stringify(payload)),
    });
    this.#choose({ id: nonce, amountMicro: BigInt(entry.amount) }, true);
  }
}

/**
 * USDC with six places, by EIP-3009, for an hour at most, of an amount that is one. The stock client takes an offer as it is read: a time that is a
 * text would be put behind the clock, and good for thousands of years.
 */
function isPayable(entry: PaymentRequirements, scheme: ExactEvmScheme): boolean {
  const { asset, network, payTo, amount, extra, maxTimeoutSeconds } = entry;
  if ([asset, network, payTo, amount].some((text: unknown) => typeof text !== 'string')) return false;
  const coin = scheme.findDefaultAsset?.(asset, network);
  return (
    coin?.decimals === 6 &&
    (extra?.['assetTransferMethod'] ?? 'eip3009') === 'eip3009' &&
    /^[1-9]\d{0,17}$/.test(amount) &&
    Number.isInteger(maxTimeoutSeconds) &&
    maxTimeoutSeconds <= MAX_VALID_S
  );
}

/** Words of a stranger in ASCII: nothing in them moves a terminal's cursor or turns the order of letters. */
function printable(words: string): string {
  return words.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function leastOf(one: bigint | null, other: bigint | null): bigint | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/** True for a purchase whose licence reads it again. */
export function isHeld(payment: LedgerPayment | null, nowMs: number): boolean {
  return payment?.state === 'paid' && (payment.licenceUntilMs ?? 0) > nowMs;
}

/**
 * The payment that the present key signed for the same purchase (`own`), when it is the one to send: while it is undecided, and while the licence that
 * it bought is alive. Throws `payment_unclear` where the newest one ran out or is another key's, and was never answered: it may have been settled, and a
 * new one would pay twice.
 */
function reusable(
  newest: LedgerPayment | null,
  own: LedgerPayment | null,
  nowMs: number,
  { isAgain = false, onceWithinMs = 0 }: Allowance,
): LedgerPayment | null {
  if (newest === null) return null;
  const isOwn = newest.id === own?.id;
  const { amountMicro, url, payer, id, state } = newest;
  const facts = { url, amountMicro: Number(amountMicro), nonce: id };
  if (isOwn && isHeld(newest, nowMs)) return newest;
  if (state === 'paid' && !isAgain && nowMs < newest.atMs + onceWithinMs)
    throw new AgentError(
      'bought_before',
      `It was bought before${isOwn ? '' : ` by ${payer}`}, and its licence has expired. Pay again with --again.`,
      facts,
    );
  const isValid = own !== null && nowMs < own.validBeforeS * 1_000;
  if (state === 'open' && !isAgain && !(isOwn && isValid))
    throw new AgentError(
      'payment_unclear',
      isOwn
        ? `Nobody answered a payment of ${usdcOf(amountMicro)} USDC for this, and it expired. It may have been settled: check the transfers of ${payer}, or pay again with --again.`
        : `Nobody answered a payment of ${usdcOf(amountMicro)} USDC for this by ${payer}, whose key is not the present one. It may be settled: check the transfers of ${payer}, or pay again with --again.`,
      facts,
    );
  return isValid && own.state !== 'paid' ? own : null;
}
