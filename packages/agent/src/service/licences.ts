/** Licences over many pages of a site, for a period. */
import { usdcOf } from '../money.ts';
import type { Wallet } from '../paying/client.ts';
import type { PayingOptions } from '../paying/fetch.ts';
import { payingWith } from '../paying/fetch.ts';
import type { Service } from './service.ts';
import { askService, signIn } from './service.ts';

/** What is licensed: path patterns of one host. */
export interface LicenceOrder {
  readonly host: string;
  readonly scope: readonly string[];
  readonly terms: readonly string[];
  readonly periodDays: number;
  readonly kind: 'read' | 'citation';
}

type Told = Readonly<Record<string, unknown>>;

/** Licences that the wallet's account holds, newest first. */
export async function listLicences(service: Service, wallet: Wallet): Promise<Told> {
  return askService(service, '/_svc/licenses/held', { token: await signIn(service, wallet) });
}

/** The price of a licence in micro-USDC, its pages and its legs. */
export function quoteLicence(service: Service, order: LicenceOrder): Promise<Told> {
  return askService(service, '/_svc/licenses/quote', { body: order });
}

/** The same order within a day is not paid for twice. */
const ONCE_WITHIN_MS = 24 * 3_600_000;

/**
 * Buys a licence within the envelope, whose limit for one page holds for it, too. After a crash the same order sends the same payment. The answer says
 * `how` (`bought`, or `held` where the wallet has it already) and in `usdc` what was paid for it: 0 for one that is held.
 */
export async function buyLicence(
  service: Service,
  wallet: Wallet,
  order: LicenceOrder,
  options: PayingOptions = {},
): Promise<Told> {
  const token = await signIn(service, wallet);
  const once = { sellerHost: order.host, onceWithinMs: ONCE_WITHIN_MS, words: wordsOf(order) };
  let sentMicro: bigint | null = null;
  const onSent = ({ amountMicro }: { readonly amountMicro: bigint }): void => {
    sentMicro = amountMicro;
  };
  const pay = payingWith(wallet, { send: service.send, ...options, ...once, onSent });
  const paying = { address: wallet.signer.address, amountMicro: () => sentMicro };
  const told = await askService(service, '/_svc/licenses', { body: order, token, send: pay, paying });
  return { how: sentMicro === null ? 'held' : 'bought', usdc: usdcOf(sentMicro ?? 0n), ...told };
}

/** All that an order says; lists and host in quotes, so that none of them reads as the next member. */
function wordsOf({ host, scope, terms, periodDays, kind }: LicenceOrder): string {
  return `licence at ${JSON.stringify(host)} for ${periodDays} days, kind ${kind}, terms ${JSON.stringify(terms)}, scope ${JSON.stringify(scope)}`;
}
