/** Signing in at the identity provider: the authorization code flow with PKCE (OpenID Connect Core 1.0 §3.1, RFC 7636, RFC 9700). */
import type { AuthorizationServer, Client, ClientAuth } from 'oauth4webapi';
import {
  // biome-ignore lint/suspicious/noDeprecatedImports: marked for attention, not to go; the sandbox and tests have providers of this machine
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  clockSkew,
  customFetch,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { createOidcVerifier } from './oidc.ts';

/** What one sign-in remembers between leaving for the provider and coming back; secret. */
export interface LoginAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The provider as people sign in there. */
export interface OidcLogin {
  /** Exactly as `iss` has it. */
  readonly issuer: string;
  /** A new attempt, and the provider's page to send the browser to. Throws identity_unavailable. */
  start(): Promise<{ readonly attempt: LoginAttempt; readonly url: string }>;
  /**
   * Who came back, by what the provider added to our address. Null: nobody proved anything (another state or issuer, a refusal, a code that
   * was used, a token that does not prove itself). Asks nobody where the state is another. Throws identity_unavailable.
   */
  finish(attempt: LoginAttempt, answered: URLSearchParams): Promise<{ readonly userId: string } | null>;
}

/** Which provider, who we are there, and how it is reached. */
export interface OidcLoginOptions {
  /** Exactly as `iss` has it. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
  /** Where the provider sends browsers back to. */
  readonly redirectUri: string;
  readonly outbound: Pick<Outbound, 'send'>;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** What the provider says of itself is read again after this. */
const FRESH_MS = 600_000;
const AWAY = 'the identity provider cannot be reached now';

/** Makes it; nothing is fetched before the first sign-in. The configuration lets only a provider of this machine be without TLS. */
export function createOidcLogin(options: OidcLoginOptions): OidcLogin {
  const { issuer, clientId, redirectUri, outbound, clock } = options;
  const requests = { [customFetch]: fetchThrough(outbound), [allowInsecureRequests]: issuer.startsWith('http:') };
  const verifier = createOidcVerifier({ issuer, audience: clientId, outbound, clock });
  const provider = rememberProvider(issuer, requests, clock);
  return {
    issuer,
    start: async () => {
      const { authorization_endpoint: endpoint } = await provider();
      if (endpoint === undefined) throw away();
      const attempt = { state: generateRandomState(), nonce: generateRandomNonce(), verifier: generateRandomCodeVerifier() };
      const url = new URL(endpoint);
      const asked = {
        response_type: 'code',
        scope: 'openid',
        client_id: clientId,
        redirect_uri: redirectUri,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
      return { attempt, url: url.href };
    },
    finish: async (attempt, answered) => {
      const client: Client = { client_id: clientId, [clockSkew]: Math.round((clock() - Date.now()) / 1_000) };
      if (answered.getAll('state').join() !== attempt.state) return null;
      const server = await provider();
      const redeem = async () => {
        const parameters = validateAuthResponse(server, client, answered, attempt.state);
        const auth = authOf(server, options.clientSecret);
        const answer = await authorizationCodeGrantRequest(
          server,
          client,
          auth,
          parameters,
          redirectUri,
          attempt.verifier,
          requests,
        );
        const expected = { expectedNonce: attempt.nonce, requireIdToken: true };
        return await processAuthorizationCodeResponse(server, client, answer, expected);
      };
      const tokens = await redeem().catch((error: unknown) => {
        if (error instanceof ServiceError) throw error;
        return null; // the library's word for whatever is not as the flow wants it
      });
      // What it claims was compared above; here its signature is, with the keys and rules of every other token of the provider.
      const userId = tokens?.id_token === undefined ? null : await verifier.subjectOf(tokens.id_token);
      return userId === null ? null : { userId };
    },
  };
}

function authOf({ token_endpoint_auth_methods_supported: methods }: AuthorizationServer, secret: string | null): ClientAuth {
  if (secret === null) return None();
  const isBasic = methods === undefined || methods.includes('client_secret_basic');
  return isBasic ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** What the provider says of itself, read once for all who wait. */
function rememberProvider(issuer: string, requests: object, clock: () => number): () => Promise<AuthorizationServer> {
  let known: { readonly server: Promise<AuthorizationServer>; readonly readAtMs: number } | null = null;
  return () => {
    if (known !== null && clock() - known.readAtMs < FRESH_MS) return known.server;
    const url = new URL(issuer);
    const server = discoveryRequest(url, requests)
      .then((answer) => processDiscoveryResponse(url, answer))
      .catch((error: unknown) => {
        known = null;
        throw error instanceof ServiceError ? error : away();
      });
    known = { server, readAtMs: clock() };
    return server;
  };
}

/** The library's requests, through the one client for other people's servers: pinned addresses, no redirects, short answers. */
function fetchThrough(outbound: Pick<Outbound, 'send'>) {
  return async (
    url: string,
    { method, headers, body }: { readonly method: string; readonly headers: Record<string, string>; readonly body?: unknown },
  ): Promise<Response> => {
    const answer = await outbound.send({
      url,
      headers,
      method: method === 'POST' ? 'POST' : 'GET',
      ...(body === undefined || body === null ? {} : { body: String(body) }),
    });
    if (!answer.ok || answer.status >= 500) throw away();
    const hasBody = answer.status !== 204 && answer.status !== 304;
    return new Response(hasBody ? Buffer.from(answer.body) : null, { status: answer.status, headers: answer.headers });
  };
}

function away(): ServiceError {
  return new ServiceError('identity_unavailable', AWAY, { retryAfterSeconds: 30 });
}
