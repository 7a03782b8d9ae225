/** An OpenID Connect issuer on this machine: discovery, keys that rotate, and tokens of any kind, good and forged. */
import { createHmac, randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CryptoKey, JWK } from 'jose';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** One signing key of the issuer. */
interface IssuerKey {
  readonly kid: string;
  readonly algorithm: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** What a test changes about a token; claims and header members of undefined are left out. */
export interface TokenChanges {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Signs with this key instead of the newest one. */
  readonly key?: IssuerKey;
}

/** A running issuer. */
export interface TestIssuer {
  readonly url: string;
  readonly audience: string;
  /** How often the keys were fetched. */
  readonly fetches: () => number;
  /** Makes a key; published at once unless told. The newest published one signs. */
  addKey(algorithm?: string, isPublished?: boolean): Promise<IssuerKey>;
  /** A token about `sub`, good for five minutes from `nowMs`. */
  token(sub: string, changes?: TokenChanges): Promise<string>;
  /** Not answering, or answering something else. */
  readonly faults: { isDown: boolean; issuer: string | null; jwksUri: string | null; extraKeys: unknown[] };
  stop(): Promise<void>;
}

/** Starts an issuer with one ES256 key; `clock` tells its time in epoch ms. */
export async function startIssuer(clock: () => number = Date.now): Promise<TestIssuer> {
  const keys: IssuerKey[] = [];
  const published: IssuerKey[] = [];
  const faults: TestIssuer['faults'] = { isDown: false, issuer: null, jwksUri: null, extraKeys: [] };
  const audience = 'content-settlement-test';
  let fetched = 0;
  const server = createServer((request, response) => {
    if (faults.isDown) return void response.writeHead(503).end();
    const url = urlOf(server);
    const isKeys = request.url === '/keys';
    if (isKeys) fetched += 1;
    const body = isKeys
      ? { keys: [...faults.extraKeys, ...published.map(({ publicJwk }) => publicJwk)] }
      : { issuer: faults.issuer ?? url, jwks_uri: faults.jwksUri ?? `${url}/keys` };
    if (!isKeys && request.url !== '/.well-known/openid-configuration') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const addKey = async (algorithm = 'ES256', isPublished = true): Promise<IssuerKey> => {
    const pair = await generateKeyPair(algorithm, { extractable: true });
    const kid = randomUUID();
    const publicJwk = { ...(await exportJWK(pair.publicKey)), kid, alg: algorithm, use: 'sig' };
    const key = { kid, algorithm, privateKey: pair.privateKey, publicJwk };
    keys.push(key);
    if (isPublished) published.push(key);
    return key;
  };
  await addKey();
  const token = async (sub: string, { claims, header, key }: TokenChanges = {}): Promise<string> => {
    const signer = key ?? (published.at(-1) as IssuerKey);
    const now = Math.floor(clock() / 1000);
    const payload = { iss: urlOf(server), aud: audience, sub, iat: now, nbf: now, exp: now + 300, ...claims };
    const protectedHeader = { alg: signer.algorithm, kid: signer.kid, typ: 'JWT', ...header };
    return await new SignJWT(payload).setProtectedHeader(protectedHeader).sign(signer.privateKey);
  };
  return {
    audience,
    addKey,
    token,
    faults,
    get url() {
      return urlOf(server);
    },
    fetches: () => fetched,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A token put together by hand, as a forger would: any header, any claims, any signature. */
export function forgedToken(header: object, claims: object, sign: (input: string) => string = () => ''): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${sign(input)}`;
}

/** Signs with HMAC-SHA256, the secret being whatever the attacker knows, such as a public key. */
export function hs256(secret: string): (input: string) => string {
  return (input) => createHmac('sha256', secret).update(input).digest('base64url');
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
