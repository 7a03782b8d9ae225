/** Quote, sign and verify over REST against any API process of a service, as a publisher's runtime and its buyer do. */
import { randomBytes } from 'node:crypto';
import type { PrivateKeyAccount } from 'viem/accounts';
import { scaled } from './patience.ts';

/** What a quote of a page looks like to these tests. */
export interface QuoteBody {
  readonly price: number;
  readonly payTo: `0x${string}`;
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: number }[];
  readonly asset: `0x${string}`;
  readonly network: string;
  readonly resource: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

/** An answer of the service: status, headers and parsed body. */
export interface SaleAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of several shapes
  readonly body: any;
  readonly text: string;
}

/** GET quote of one page. */
export async function askQuote(baseUrl: string, key: string, slug: string, kind = 'read'): Promise<QuoteBody> {
  const answer = await fetch(`${baseUrl}/_svc/quote?slug=${slug}&kind=${kind}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (answer.status !== 200) throw new Error(`quote: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as QuoteBody;
}

/** A version 2 payment for a quote, base64 as in its header. */
export async function payFor(payer: PrivateKeyAccount, quote: QuoteBody, chainId = 84532): Promise<string> {
  const authorization = {
    from: payer.address,
    to: quote.payTo,
    value: String(quote.price),
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + quote.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}`,
  } as const;
  const signature = await payer.signTypedData({
    domain: { ...quote.extra, chainId, verifyingContract: quote.asset },
    types: { TransferWithAuthorization: FIELDS },
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: 0n,
      validBefore: BigInt(authorization.validBefore),
    },
  });
  const { network, asset, payTo, maxTimeoutSeconds, extra } = quote;
  const accepted = { scheme: 'exact', network, amount: String(quote.price), asset, payTo, maxTimeoutSeconds, extra };
  const payload = { x402Version: 2, resource: { url: quote.resource }, accepted, payload: { signature, authorization } };
  return Buffer.from(JSON.stringify(payload)).toString('base64');
}

/** POST verify with a payment for a quote. */
export async function sell(baseUrl: string, key: string, quote: QuoteBody, payment: string): Promise<SaleAnswer> {
  const answer = await fetch(`${baseUrl}/_svc/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ payment, quote, legs: quote.legs, resource: quote.resource }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text), text };
}

/** How long a payment may take to be decided after what a test broke: a killed worker's part is taken over half a minute later. */
const DECIDED_MS = scaled(180_000);

/** Sends the same payment again until it is decided, as a buyer told `settlement_pending` does. */
export async function sellUntilDecided(baseUrl: string, key: string, quote: QuoteBody, payment: string): Promise<SaleAnswer> {
  const deadline = Date.now() + DECIDED_MS;
  for (;;) {
    const answer = await sell(baseUrl, key, quote, payment).catch(() => null);
    const code = answer?.headers.get('x-svc-error-code');
    if (answer && answer.status < 500 && code !== 'settlement_pending') return answer;
    if (Date.now() > deadline) throw new Error(`not decided: ${answer?.text ?? 'no answer'}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;
