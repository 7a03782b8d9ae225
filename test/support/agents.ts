/** Agents that sign their requests with an unmodified signer, and the hosts their keys stand at. */
import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { helpers, jwkToKeyID, signatureHeaders } from 'web-bot-auth';
import { signerFromJWK } from 'web-bot-auth/crypto';

/** Where directories stand. */
export const DIRECTORY_PATH = '/.well-known/http-message-signatures-directory';
const DIRECTORY_TYPE = 'application/http-message-signatures-directory+json';

/** An agent's key. */
export interface SigningAgent {
  readonly jwk: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string; readonly d: string };
  readonly publicJwk: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string };
  readonly keyid: string;
}

/** A new key. */
export async function newAgent(): Promise<SigningAgent> {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as { x: string; d: string };
  const publicJwk = { kty: 'OKP', crv: 'Ed25519', x } as const;
  const keyid = await jwkToKeyID(publicJwk, helpers.WEBCRYPTO_SHA256, helpers.BASE64URL_DECODE);
  return { jwk: { ...publicJwk, d }, publicJwk, keyid };
}

/** How a request is signed; times are epoch milliseconds. */
export interface Signing {
  readonly agent: SigningAgent;
  readonly url: string;
  /** `Signature-Agent` as it stands in the request; null: none. */
  readonly field: string | null;
  readonly atMs: number;
  readonly lifeMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly components?: readonly string[];
}

/** A request as POST /_svc/agents/verify takes it, signed by web-bot-auth as it comes from npm. */
export async function signedRequest({ agent, url, field, atMs, lifeMs = 300_000, headers = {}, components }: Signing) {
  const fields = { ...headers, ...(field === null ? {} : { 'signature-agent': field }) };
  const signed = await signatureHeaders({ method: 'GET', url, headers: fields }, await signerFromJWK(agent.jwk), {
    created: new Date(atMs),
    expires: new Date(atMs + lifeMs),
    ...(components === undefined ? {} : { components: [...components] as '@authority'[] }),
  });
  return {
    method: 'GET',
    url,
    headers: { ...fields, signature: signed.Signature, 'signature-input': signed['Signature-Input'] },
  };
}

/** A directory that holds these keys. */
export function directoryOf(
  agents: readonly SigningAgent[],
  more: object = {},
  headers: Record<string, string> = {},
): RequestListener {
  const keys = agents.map(({ publicJwk, keyid }) => ({ ...publicJwk, kid: keyid, use: 'sig' }));
  return (request, response) => {
    if (request.url !== DIRECTORY_PATH) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': DIRECTORY_TYPE, ...headers }).end(JSON.stringify({ keys, ...more }));
  };
}

/** Servers by host behind one port, as OUTBOUND_SANDBOX_WEB takes them, with what was asked of them. */
export async function startAgentWeb() {
  const hosts = new Map<string, RequestListener>();
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const host = request.headers.host ?? '';
    asked.push(`${host}${request.url}`);
    const listener = hosts.get(host);
    if (listener) listener(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hosts,
    /** Every request so far, as host and path. */
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
