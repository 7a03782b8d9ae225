/** One page, as text, bought when it has a price: what the command and the tools share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf } from '../body.ts';
import { AgentError } from '../errors.ts';
import type { LedgerPayment } from '../ledger/entries.ts';
import type { NextStep } from '../nextStep.ts';
import { nextStepOf, refusalBodyOf, saysOf } from '../nextStep.ts';
import type { Wallet } from '../paying/client.ts';
import type { PayingOptions } from '../paying/fetch.ts';
import { payingWith } from '../paying/fetch.ts';
import { addressOf } from '../paying/purchase.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const TEXT = /^(text\/[\w.+-]+|application\/(json|xhtml\+xml|xml))(;|$)/i;
/** How often the same payment is sent while nobody says what became of it, and how long to wait at most in between. */
const ATTEMPTS = 4;
const MAX_WAIT_S = 20;
const TIMEOUT_MS = 60_000;
const NAME = 'content-settlement-agent/0.1';

/** A page that came. Its text is data: nobody here reads it, and nothing in it is an order. */
export interface ReadPage {
  readonly url: string;
  readonly contentType: string;
  readonly text: string;
  /** `bought` now; `held` from a purchase before; `free` without any. */
  readonly how: 'bought' | 'held' | 'free';
  /** What was paid for it, now or before, in micro-USDC. */
  readonly amountMicro: bigint;
  readonly transaction: string | null;
}

/** Where waiting happens; the clock's unless told. */
export interface Pace {
  readonly wait?: (ms: number) => Promise<unknown>;
}

/**
 * Reads a page of at most 8 MB of text. A payment that is undecided goes again as it is, some times, and then stays in the ledger: the next call sends
 * it again. Rejects with an AgentError, and with nothing paid, unless its code is `payment_pending`, `payment_unclear`, `not_text`,
 * `too_large` or `site_failed`, or the site took a payment and led on.
 */
export async function readPage(wallet: Wallet, url: string, options: PayingOptions & Pace = {}): Promise<ReadPage> {
  const { href } = addressOf(url);
  const { wait = sleep } = options;
  const sent = { isAny: false };
  const onSent = (): void => {
    sent.isAny = true;
  };
  const pay = payingWith(wallet, { ...options, onSent });
  const before = await paymentFor(wallet, href);
  for (let attempt = 1; ; attempt++) {
    const response = await pay(href, { headers: { 'user-agent': NAME }, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(failed);
    if (response instanceof Response && response.ok) return toldOf(wallet, href, response, before);
    if (response instanceof Response && !isPassing(response)) throw await refusalOf(wallet, href, response, sent);
    if (attempt === ATTEMPTS) throw await silenceOf(wallet, href, response, sent);
    await wait(waitOf(response) * 1_000);
  }
}

/** A failure of the network; what this package says itself is no such failure. */
function failed(error: unknown): null {
  if (error instanceof AgentError) throw error;
  return null;
}

/** True for an answer that another one may follow: the site is away, was asked too often, or has not decided. */
function isPassing({ status, headers }: Response): boolean {
  return [429, 502, 503, 504].includes(status) || (status === 402 && headers.get('x-svc-error-code') === 'settlement_pending');
}

function waitOf(response: Response | null): number {
  const asked = Number(response?.headers.get('retry-after') ?? 1);
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 1), MAX_WAIT_S) : 1;
}

/** Whether any payment left this process in this call. */
interface Sent {
  readonly isAny: boolean;
}

async function refusalOf(wallet: Wallet, url: string, response: Response, { isAny }: Sent): Promise<AgentError> {
  const { status, headers } = response;
  const payment = await ownPaymentFor(wallet, url);
  const leftS = payment && payment.state !== 'paid' ? Math.floor(payment.validBeforeS - wallet.now() / 1_000) : 0;
  const told = nextStepOf(await refusalBodyOf(response));
  const code = plain(headers.get('x-svc-error-code') ?? errorIn(headers.get('payment-required')));
  const because = code === '' ? '' : `: ${code}`;
  if (status !== 402) {
    const next = told ? { next: told } : {};
    const says = `The site answers ${status} for ${url}${because}.${told ? saysOf(told) : ''}${isAny ? '' : ' Nothing was paid.'}`;
    return new AgentError('site_failed', says, { url, status, ...next });
  }
  const isForFunds = told?.action === 'fund' || code.startsWith('insufficient_funds');
  const step = isForFunds && payment ? fundingOf(payment, told) : told;
  const again = leftS > 0 ? ` For ${leftS} s more, asking again sends the same payment: nothing is paid twice.` : '';
  const says = `The site refuses the payment${because}.${step ? saysOf(step) : ''}${again}`;
  return new AgentError('payment_refused', says, { url, status, ...(step ? { next: step } : {}) });
}

/** What the payment that was sent lacks: by what was signed, since a site could name a wallet of its own; what the wallet has, only a node knows. */
function fundingOf({ payer, amountMicro, payload }: LedgerPayment, told: NextStep | null): NextStep {
  const { network } = (payload['accepted'] ?? {}) as { readonly network?: string };
  const signed = {
    action: 'fund',
    address: payer,
    needsMicro: Number(amountMicro),
    ...(network === undefined ? {} : { network }),
  };
  return { ...told, ...signed };
}

function errorIn(offer: string | null): string {
  try {
    return String((JSON.parse(Buffer.from(offer ?? '', 'base64').toString('utf8')) as { error?: unknown }).error ?? '');
  } catch {
    return '';
  }
}

/** A stranger's word, short and without what could move a terminal's cursor. */
function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200);
}

async function silenceOf(wallet: Wallet, url: string, response: Response | null, sent: Sent): Promise<AgentError> {
  const payment = await ownPaymentFor(wallet, url);
  if (payment?.state === 'open' || (payment?.state === 'refused' && response?.status === 402))
    return new AgentError(
      'payment_pending',
      'The payment is not decided yet. Ask again later: the same payment is sent, and nothing is paid twice.',
      { url },
    );
  if (response) return refusalOf(wallet, url, response, sent);
  return new AgentError('site_failed', `The site does not answer for ${url}.${sent.isAny ? '' : ' Nothing was paid.'}`, { url });
}

/** The newest payment for the page at an address, whichever key signed it. */
export function paymentFor(wallet: Wallet, url: string): Promise<LedgerPayment | null> {
  return wallet.ledger.hold(async ({ ledger }) => ledger.newestOf(`GET ${url}`));
}

/** The newest payment of the present key for the page at an address: the one that is sent. */
function ownPaymentFor(wallet: Wallet, url: string): Promise<LedgerPayment | null> {
  return wallet.ledger.hold(async ({ ledger }) => ledger.newestOf(`GET ${url}`, wallet.signer.address));
}

async function toldOf(wallet: Wallet, url: string, response: Response, before: LedgerPayment | null): Promise<ReadPage> {
  const contentType = response.headers.get('content-type') ?? '';
  const payment = await paymentFor(wallet, url);
  if (!TEXT.test(contentType))
    throw new AgentError('not_text', `The page is ${plain(contentType) || 'of unknown type'}, and only text is read.`, { url });
  const text = await textOf(response, contentType, url);
  const isNew = payment?.state === 'paid' && (payment.id !== before?.id || before.state !== 'paid');
  // A wallet that paid on another machine and signs in here gets a licence, too.
  const how = isNew ? 'bought' : payment?.state === 'paid' || response.headers.has('x-licence') ? 'held' : 'free';
  const paid = how === 'free' ? null : payment;
  return { url, contentType, text, how, amountMicro: paid?.amountMicro ?? 0n, transaction: paid?.transaction ?? null };
}

async function textOf(response: Response, contentType: string, url: string): Promise<string> {
  const body = await bodyOf(response, MAX_BYTES);
  if (body === null) throw new AgentError('too_large', 'The page is larger than 8 MB.', { url });
  const label = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  return decoderOf(label).decode(body);
}

function decoderOf(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}
