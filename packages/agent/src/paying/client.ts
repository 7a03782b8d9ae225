/** The stock x402 client, held to the envelope and the ledger: nothing is signed beside them, and nothing twice. */
import { ExactEvmScheme } from '@x402/evm';
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from '@x402/fetch';
import { x402Client } from '@x402/fetch';
import type { PrivateKeyAccount } from 'viem/accounts';
import { decide } from '../envelope/decide.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { periodAt } from '../envelope/envelope.ts';
import { AgentError } from '../errors.ts';
import type { LedgerPayment } from '../ledger/entries.ts';
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

/** What several purchases may cost together; each signature takes its price out. */
export interface Purse {
  leftMicro: bigint;
}

/** What whoever asks allows besides the envelope. */
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
      const earlier = reusable(held.ledger.newestOf(this.#purchase.key), this.#wallet.now(), this.#allowance);
      if (earlier && !this.#allowance.isDryRun) {
        this.chosen = { id: earlier.id, isFirst: false };
        return earlier.payload as unknown as PaymentPayload;
      }
      const entry = this.#select(offer);
      this.#allow(held, BigInt(entry.amount));
      const payload = await super.createPaymentPayload({ ...offer, accepts: [entry] });
      this.#write(held, payload, entry);
      return payload;
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

  #allow({ ledger, append }: HeldLedger, amountMicro: bigint): void {
    const { now, envelope: read } = this.#wallet;
    const { url, key } = this.#purchase;
    const envelope = read();
    const { maxMicro = null, purse, isDryRun, sellerHost: host = url.host, words = key } = this.#allowance;
    const spent = ledger.spent(periodAt(envelope.period, now()), host);
    const bought = { purchase: key, url: url.href, host, amountMicro };
    const approvalId = approvalIdOf(bought);
    const verdict = decide(envelope, spent, {
      host,
      amountMicro,
      maxMicro: leastOf(maxMicro, purse?.leftMicro ?? null),
      isApproved: ledger.isApproved(bought, now()),
      approvalId,
    });
    const details = { url: url.href, amountMicro: Number(amountMicro) };
    if (!verdict.may) {
      const { limit, says } = verdict;
      if (limit === 'approval' && approvalId !== null) {
        const asked = { id: approvalId, url: url.href, words: printable(words), amountMicro: String(amountMicro) };
        // On disk, so that the person reads what was asked, and not what a model says was asked.
        if (ledger.askedUnder(approvalId) === null) append({ type: 'asked', atMs: now(), ...asked });
        throw new AgentError('approval_required', `Not bought: ${asked.words}: ${says}.`, { ...details, limit, approvalId });
      }
      const code = limit === 'stopped' ? 'stopped' : limit === 'approval' ? 'approval_required' : 'over_limit';
      throw new AgentError(code, `Not bought: ${says}.`, { ...details, limit });
    }
    if (isDryRun) throw new AgentError('dry_run', `It costs ${usdcOf(amountMicro)} USDC, and would be bought.`, details);
  }

  /** On disk before the signature leaves this process: a crash after this line sends the same payment again. */
  #write({ append }: HeldLedger, payload: PaymentPayload, entry: PaymentRequirements): void {
    const { signer, now } = this.#wallet;
    const { purse, sellerHost = this.#purchase.url.host } = this.#allowance;
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
    if (purse) purse.leftMicro -= BigInt(entry.amount);
    this.chosen = { id: nonce, isFirst: true };
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

/**
 * The payment that was signed for the same purchase, when it is the one to send: while it is undecided, and while the licence that it bought is alive.
 * Throws `payment_unclear` for one that ran out and was never answered: it may have been settled, and a new one would pay twice.
 */
function reusable(earlier: LedgerPayment | null, nowMs: number, allowance: Allowance): LedgerPayment | null {
  const { isAgain = false, onceWithinMs = 0 } = allowance;
  if (earlier === null) return null;
  const { amountMicro, url, payer, id } = earlier;
  const facts = { url, amountMicro: Number(amountMicro), nonce: id };
  if (earlier.state === 'paid') {
    if ((earlier.licenceUntilMs ?? 0) > nowMs) return earlier;
    if (isAgain || nowMs >= earlier.atMs + onceWithinMs) return null;
    throw new AgentError('bought_before', 'It was bought before, and its licence has expired. Pay again with --again.', facts);
  }
  if (nowMs < earlier.validBeforeS * 1_000) return earlier;
  if (earlier.state === 'refused' || isAgain) return null;
  throw new AgentError(
    'payment_unclear',
    `Nobody answered a payment of ${usdcOf(amountMicro)} USDC for this, and it expired. It may have been settled: check the transfers of ${payer}, or pay again with --again.`,
    facts,
  );
}
