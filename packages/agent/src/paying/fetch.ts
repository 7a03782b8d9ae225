/** `payingFetch`: a fetch that pays within an envelope. */

import { createSIWxClientHook } from '@x402/extensions/sign-in-with-x';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402HTTPClient } from '@x402/fetch';
import { bodyOf } from '../body.ts';
import { AgentError } from '../errors.ts';
import type { LedgerPayment } from '../ledger/entries.ts';
import type { Allowance, Wallet } from './client.ts';
import { isHeld, LedgerClient } from './client.ts';
import { addressOf, purchaseOf } from './purchase.ts';

/** What paying needs besides a wallet. */
export interface PayingOptions extends Allowance {
  /** `fetch` unless told. */
  readonly send?: typeof fetch;
}

const OWN_HEADERS = ['payment-signature', 'x-payment'];
const MAX_REDIRECTS = 3;
/** Most of a 402's body that is taken in: the offer stands in its header. */
const MAX_REFUSAL_BYTES = 65_536;
/** Most characters of a stranger's word in a sentence of ours. */
const MAX_WORD = 200;

/**
 * A fetch that pays for what has a price, when the envelope allows it. The same request again pays nothing: with the licence that it bought, by what
 * the wallet signs (`sign-in-with-x`), or with the same payment where nobody knows what became of it. Rejects with an AgentError when it
 * may not pay, and as `fetch` does when nobody answers. Redirects are followed to the same origin only.
 */
export function payingWith(wallet: Wallet, options: PayingOptions = {}): typeof fetch {
  return async (input, init) => {
    let request = new Request(input, { ...init, redirect: 'manual' });
    if (OWN_HEADERS.some((name) => request.headers.has(name)))
      throw new AgentError('address_refused', 'This tool makes its own payments and accepts none from outside.');
    let allowed = options;
    for (let redirects = 0; ; redirects++) {
      const { response, isSigned } = await payOnce(wallet, request.clone(), allowed);
      // One page is one payment: a site that takes it and leads on would be paid for every step.
      if (isSigned) allowed = { ...options, maxMicro: 0n };
      const next = redirectOf(request, response);
      if (next === null) return response;
      if (redirects === MAX_REDIRECTS || next.origin !== new URL(request.url).origin)
        throw new AgentError('redirected', `The page is elsewhere: ${next.href.slice(0, MAX_WORD)}`, {
          location: next.href.slice(0, MAX_WORD),
        });
      request = new Request(next, { headers: request.headers, redirect: 'manual' });
    }
  };
}

function redirectOf(request: Request, { status, headers }: Response): URL | null {
  const location = headers.get('location');
  if (request.method !== 'GET' || ![301, 302, 303, 307, 308].includes(status) || location === null) return null;
  return URL.canParse(location, request.url) ? addressOf(new URL(location, request.url).href) : null;
}

/** The answer to a request, and whether a payment went with it. */
interface Paid {
  readonly response: Response;
  readonly isSigned: boolean;
}

async function payOnce(wallet: Wallet, request: Request, options: PayingOptions): Promise<Paid> {
  const send = bounded(options.send ?? fetch);
  const purchase = await purchaseOf(request);
  const client = new LedgerClient(wallet, purchase, options);
  const http = new x402HTTPClient(client);
  if (!options.isDryRun) {
    const earlier = await wallet.ledger.hold(async ({ ledger }) => ledger.newestOf(purchase.key));
    const byLicence = earlier && (await askByLicence(earlier, wallet.now(), request, send));
    if (byLicence) return { response: byLicence, isSigned: false };
    const undecided = await client.undecided();
    if (undecided) return { response: await sendAgain(wallet, undecided, request, send), isSigned: true };
    // The library signs for the site that is asked alone, so that no site gets words that open another one's doors.
    http.onPaymentRequired(createSIWxClientHook(wallet.signer));
  }
  const refused: { error?: unknown } = {};
  // The stock wrapper makes a text of whatever is thrown while a payment is made.
  const create = client.createPaymentPayload.bind(client);
  client.createPaymentPayload = (offer) =>
    create(offer).catch((error: unknown) => {
      refused.error = error;
      throw error;
    });
  try {
    const response = await wrapFetchWithPayment(send, http)(request);
    if (client.chosen) await note(wallet, client.chosen, response);
    return { response, isSigned: client.chosen !== null };
  } catch (error) {
    throw refused.error ?? error;
  }
}

/** The stock wrapper reads a 402 whole, however long it is, and inflated: what is too long is none. */
function bounded(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.status !== 402 || response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(await bodyOf(response, MAX_REFUSAL_BYTES), { status, statusText, headers });
  };
}

/** Asks with the licence of an earlier purchase, whichever key paid for it; null where it does not help. */
async function askByLicence(
  earlier: LedgerPayment,
  nowMs: number,
  request: Request,
  send: typeof fetch,
): Promise<Response | null> {
  if (!isHeld(earlier, nowMs) || request.headers.has('authorization')) return null;
  const again = request.clone();
  again.headers.set('authorization', `License ${earlier.licence}`);
  const response = await send(again);
  return [401, 402, 403].includes(response.status) ? null : response;
}

/** Sends a payment once more, as it was signed. The client has judged it. */
async function sendAgain(wallet: Wallet, payment: LedgerPayment, request: Request, send: typeof fetch): Promise<Response> {
  const again = request.clone();
  for (const [name, value] of Object.entries(headersOf(payment))) again.headers.set(name, value);
  const response = await send(again);
  await note(wallet, { id: payment.id, isFirst: false }, response);
  return response;
}

function headersOf({ payload }: LedgerPayment): Readonly<Record<string, string>> {
  return { 'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(payload)).toString('base64') };
}

/** Writes down what an answer to a payment says; nothing where it leaves the payment undecided. */
async function note(
  wallet: Wallet,
  { id, isFirst }: { readonly id: string; readonly isFirst: boolean },
  response: Response,
): Promise<void> {
  const settlement = settlementOf(response);
  const atMs = wallet.now();
  if (settlement !== null) {
    const licence = response.headers.get('x-licence');
    await wallet.ledger.hold(async ({ append }) =>
      append({
        type: 'paid',
        id,
        atMs,
        transaction: settlement,
        licence,
        licenceUntilMs: licence === null ? null : endOf(licence),
      }),
    );
  } else if (isFirst && response.status === 402) {
    const error = (response.headers.get('x-svc-error-code') ?? 'refused').slice(0, 100);
    // Undecided is not refused, whatever the status says.
    if (error !== 'settlement_pending')
      await wallet.ledger.hold(async ({ append }) => append({ type: 'refused', id, atMs, error }));
  }
}

/** The transaction of an answer that says the payment was settled. */
function settlementOf({ headers }: Response): string | null {
  const text = headers.get('payment-response');
  if (text === null) return null;
  try {
    const { success, transaction } = decodePaymentResponseHeader(text);
    if (success !== true || typeof transaction !== 'string') return null;
    // It is told as a fact of ours: a stranger's sentence in its place is not.
    return /^[\w:-]{0,100}$/.test(transaction) ? transaction : '';
  } catch {
    return null;
  }
}

/** When a licence ends, by its own claim; null where it has none. Whether it is good is for the site to say. */
function endOf(licence: string): number | null {
  try {
    const { exp } = JSON.parse(Buffer.from(licence.split('.')[1] ?? '', 'base64url').toString('utf8')) as { exp?: unknown };
    return typeof exp === 'number' ? Math.floor(exp * 1_000) : null;
  } catch {
    return null;
  }
}
