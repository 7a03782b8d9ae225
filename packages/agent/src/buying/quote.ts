/** What a page costs, and whether it would be bought. Nothing is signed. */
import { AgentError } from '../errors.ts';
import type { Wallet } from '../paying/client.ts';
import { isHeld as hasLicence } from '../paying/client.ts';
import type { PayingOptions } from '../paying/fetch.ts';
import { payingWith } from '../paying/fetch.ts';
import { addressOf } from '../paying/purchase.ts';
import { paymentFor } from './page.ts';

/** A price. */
export interface PageQuote {
  readonly url: string;
  /** Micro-USDC; 0 for a page that is free, null for one that cannot be bought here. */
  readonly amountMicro: bigint | null;
  /** It was bought before, and its licence reads it again. */
  readonly isHeld: boolean;
  /** True when reading it would pay no more than the envelope allows. */
  readonly mayRead: boolean;
  /** Why not; null when it may. */
  readonly says: string | null;
}

const TIMEOUT_MS = 30_000;
/** Refusals that come with a price. */
const PRICED = ['dry_run', 'over_limit', 'stopped', 'approval_required'];

/** Asks for the price of a page. Rejects as `fetch` does when nobody answers, and with `address_refused` or `redirected`. */
export async function quotePage(wallet: Wallet, url: string, options: PayingOptions = {}): Promise<PageQuote> {
  const { href } = addressOf(url);
  const earlier = await paymentFor(wallet, href);
  const isHeld = hasLicence(earlier, wallet.now());
  try {
    const response = await payingWith(wallet, { ...options, isDryRun: true })(href, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    const says = response.ok ? null : `The site answers ${response.status}.`;
    return { url: href, amountMicro: response.ok ? 0n : null, isHeld, mayRead: response.ok, says };
  } catch (error) {
    if (!(error instanceof AgentError) || ['address_refused', 'redirected'].includes(error.code)) throw error;
    const { amountMicro } = error.details;
    const isPriced = PRICED.includes(error.code) && typeof amountMicro === 'number';
    const mayRead = isHeld || error.code === 'dry_run';
    return {
      url: href,
      amountMicro: isPriced ? BigInt(amountMicro) : null,
      isHeld,
      mayRead,
      says: mayRead ? null : error.message,
    };
  }
}
