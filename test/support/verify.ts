/** Quotes, x402 payloads and calls of POST /_svc/verify against a running service, for tests that speak REST alone. */
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Authorization } from '../../modules/kernel/x402/payload.ts';
import { signPayment, testNetwork } from './payments.ts';
import type { TestService, TestSite } from './service.ts';

/** The members of a quote that payloads are made from. */
export interface TestQuote extends Readonly<Record<string, unknown>> {
  readonly price: number;
  readonly payTo: Address;
  readonly network: string;
  readonly asset: string;
  readonly resource: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
  readonly legs: readonly { readonly toAddress: Address; readonly amountMicro: number }[];
}

/** An answer with its headers; `body` is parsed JSON. */
export interface VerifyAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of several shapes
  readonly body: any;
}

/** The quote of a page of the site. */
export async function quoteOf(service: TestService, site: TestSite, slug: string, kind = 'read'): Promise<TestQuote> {
  const response = await fetch(`${service.baseUrl}/_svc/quote?slug=${slug}&kind=${kind}`, {
    headers: { authorization: `Bearer ${site.key}` },
  });
  if (response.status !== 200) throw new Error(`the quote answers ${response.status}: ${await response.text()}`);
  return (await response.json()) as TestQuote;
}

/** A signed v2 payload for a quote; `changes` are signed too. */
export async function payloadFor(
  service: TestService,
  quote: TestQuote,
  signer: PrivateKeyAccount,
  changes: Partial<Authorization> = {},
) {
  const network = testNetwork(service.chain);
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + quote.maxTimeoutSeconds);
  const to = quote.payTo.toLowerCase() as Address;
  const signed = await signPayment(network, signer, { to, value: BigInt(quote.price), validBefore, ...changes });
  const { from, value, validAfter, nonce } = signed.authorization;
  const authorization = {
    from,
    to: signed.authorization.to,
    value: value.toString(),
    validAfter: validAfter.toString(),
    validBefore: signed.authorization.validBefore.toString(),
    nonce,
  };
  const accepted = {
    scheme: 'exact',
    network: quote.network,
    amount: String(quote.price),
    asset: quote.asset,
    payTo: quote.payTo,
    maxTimeoutSeconds: quote.maxTimeoutSeconds,
    extra: quote.extra,
  };
  return { x402Version: 2, accepted, payload: { signature: signed.signature, authorization } };
}

/** JSON as payment headers carry it. */
export function base64Of(value: unknown): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64');
}

/** POSTs a body to verify: text as it is, anything else as JSON. `baseUrl` chooses the process; the first API unless told. */
export async function postVerify(
  service: TestService,
  site: Pick<TestSite, 'key'> | null,
  body: unknown,
  baseUrl = service.baseUrl,
): Promise<VerifyAnswer> {
  const response = await fetch(`${baseUrl}/_svc/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(site === null ? {} : { authorization: `Bearer ${site.key}` }) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

/** Settles a payload for a quote as a publisher does: quote and legs verbatim. */
export function verify(service: TestService, site: TestSite, quote: TestQuote, payload: unknown): Promise<VerifyAnswer> {
  return postVerify(service, site, { payment: base64Of(payload), quote, legs: quote.legs });
}

/** The money verdicts recorded for a site: `paid`, or `payment-failed` with its reason, one entry each. */
export async function moneyVerdicts(service: TestService, site: TestSite): Promise<string[]> {
  const rows = await service.database.query<{ verdict: string; reason: string | null }>(
    `select verdict, reason from observation where tenant_id = $1 and verdict in ('paid', 'payment-failed') order by recorded_at`,
    [site.tenantId],
  );
  return rows.map(({ verdict, reason }) => (verdict === 'paid' || reason === null ? verdict : `${verdict} ${reason}`));
}
