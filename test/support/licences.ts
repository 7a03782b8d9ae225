/** Buyers of licences that speak REST alone, for tests against a running service. */
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import type { PrivateKeyAccount } from 'viem/accounts';

/** An answer, its body parsed. */
export interface BuyerAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of several shapes
  readonly body: any;
}

/** A call with a JSON body, or without one. `send` is the fetch to use. */
export async function call(
  url: string,
  options: {
    readonly token?: string;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
    readonly method?: string;
    readonly send?: typeof fetch;
  } = {},
): Promise<BuyerAnswer> {
  const { token, body, headers = {}, send = fetch } = options;
  const response = await send(url, {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Signs in with a wallet and returns the account's token. */
export async function signInWith(baseUrl: string, wallet: PrivateKeyAccount): Promise<{ token: string; accountId: string }> {
  const challenge = await call(`${baseUrl}/_svc/accounts/challenge?address=${wallet.address}`);
  const signature = await wallet.signMessage({ message: challenge.body.message });
  const answer = await call(`${baseUrl}/_svc/accounts/token`, { body: { message: challenge.body.message, signature } });
  if (answer.status !== 200) throw new Error(`signing in answers ${answer.status}: ${JSON.stringify(answer.body)}`);
  return { token: answer.body.access_token, accountId: answer.body.accountId };
}

/** A fetch that pays with the stock v2 client, default settings. */
export function stockFetch(wallet: PrivateKeyAccount): typeof fetch {
  return wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(wallet)));
}

/** The proof that a wallet holds a bound token. */
export async function proofOf(
  wallet: PrivateKeyAccount,
  token: string,
  slug: string,
  nonce: string,
  tsSeconds?: number,
): Promise<string> {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const ts = tsSeconds ?? Math.floor(Date.now() / 1000);
  const message = ['svc licence proof 1', claims.aud, claims.jti, slug, ts, nonce].join('\n');
  return `${ts}.${nonce}.${await wallet.signMessage({ message })}`;
}
