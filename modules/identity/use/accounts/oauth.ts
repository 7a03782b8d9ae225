import { timingSafeEqual } from 'node:crypto';
import { readAssertionSubject, verifyClientAssertion } from '../../../../platform/tokens/clientAssertion.ts';
import { hashCredential, hashesOf } from '../../../../platform/tokens/pepper.ts';
import { findOauthClient, markClientUsed } from '../../store/accounts.ts';
import { useOnce } from '../../store/usedOnce.ts';
import type { BearerDeps } from './deps.ts';
import type { AccountCaller } from './token.ts';
import { mintAccountToken } from './token.ts';

/** A token request as sent (RFC 6749 §4.4.2). */
export interface TokenRequest {
  readonly form: ReadonlyMap<string, string>;
  /** The Authorization header. */
  readonly authorization: string | null;
}

/** The answer of the token endpoint (RFC 6749 §5). */
export type TokenAnswer =
  | { readonly kind: 'token'; readonly token: string; readonly expiresInSeconds: number }
  | {
      readonly kind: 'refused';
      readonly error: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type';
      readonly sentence: string;
    };

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Client credentials grant: `client_secret_basic` or `private_key_jwt` (RFC 6749 §4.4, RFC 7523 §2.2) for a token of the client's
 * account. An assertion counts once. Throws signing_key_unavailable, database_unavailable; everything else is an answer.
 */
export async function grantClientToken(deps: BearerDeps, request: TokenRequest): Promise<TokenAnswer> {
  const client = await authenticateClient(deps, request);
  return client.kind === 'client' ? { kind: 'token', ...(await mintAccountToken(deps, client)) } : client;
}

/** A client that was let in, or why it was not. */
export type ClientAnswer = ({ readonly kind: 'client' } & AccountCaller) | Extract<TokenAnswer, { readonly kind: 'refused' }>;

/**
 * Lets a client in that asks for a token by its own credentials, at this service's token endpoint or at `endpoint`. An assertion counts
 * once. Throws database_unavailable; everything else is an answer.
 */
export async function authenticateClient(
  deps: Pick<BearerDeps, 'database' | 'pepper' | 'rehash' | 'clock' | 'baseUrl'>,
  request: TokenRequest,
  endpoint = tokenEndpoint(deps.baseUrl),
): Promise<ClientAnswer> {
  const grant = request.form.get('grant_type');
  if (grant === undefined) return refused('invalid_request', 'grant_type is missing');
  if (grant !== 'client_credentials') return refused('unsupported_grant_type', 'only client_credentials is supported here');
  const assertion = request.form.get('client_assertion');
  if (assertion !== undefined && request.authorization !== null) {
    return refused('invalid_request', 'a client must authenticate in exactly one way');
  }
  const client =
    assertion === undefined
      ? await bySecret(deps, request.authorization)
      : await byAssertion(deps, request, { assertion, endpoint });
  if (client === null) return refused('invalid_client', 'the client is not recognised');
  // A note that is lost costs a day of the client's time, and no call.
  if (client.isLongUnused) await markClientUsed(deps.database, client.clientId).catch(() => undefined);
  return { kind: 'client', accountId: client.accountId, isOwner: client.isOwner };
}

type ClientDeps = Parameters<typeof authenticateClient>[0];
type FoundClient = NonNullable<Awaited<ReturnType<typeof findOauthClient>>>;

async function bySecret(deps: ClientDeps, authorization: string | null): Promise<FoundClient | null> {
  const encoded = /^Basic +([A-Za-z0-9+/=]{1,1024}) *$/i.exec(authorization ?? '')?.[1];
  const [id = '', ...rest] = Buffer.from(encoded ?? '', 'base64')
    .toString('utf8')
    .split(':');
  const secret = rest.join(':');
  const client = await clientOf(deps, decodeForm(id));
  const given = hashCredential(deps.pepper, decodeForm(secret));
  const stored = client?.secretHash;
  if (!stored || !hashesOf(given).some((one) => timingSafeEqual(stored, one))) return null;
  deps.rehash?.note('oauth_client', stored, given);
  return client;
}

async function byAssertion(
  deps: ClientDeps,
  { form }: TokenRequest,
  { assertion, endpoint }: { readonly assertion: string; readonly endpoint: string },
): Promise<FoundClient | null> {
  if (form.get('client_assertion_type') !== ASSERTION_TYPE) return null;
  const clientId = readAssertionSubject(assertion) ?? '';
  if (form.has('client_id') && form.get('client_id') !== clientId) return null;
  const client = await clientOf(deps, clientId);
  if (!client?.jwks) return null;
  const audiences = [deps.baseUrl, endpoint];
  const nowMs = deps.clock();
  const proven = await verifyClientAssertion(assertion, { clientId, keys: client.jwks, audiences, nowMs });
  if (!proven) return null;
  const expiresAt = new Date(proven.expiresAtSeconds * 1000);
  const used = { kind: 'assertion', clientId, jti: proven.jti } as const;
  return (await useOnce(deps.database, used, expiresAt)) ? client : null;
}

async function clientOf(deps: ClientDeps, clientId: string): Promise<FoundClient | null> {
  return UUID.test(clientId) ? findOauthClient(deps.database, clientId) : null;
}

/** Where a client that has nothing registers itself. */
export function registrationEndpoint(baseUrl: string): string {
  return `${baseUrl}/_svc/oauth/register`;
}

/** Where tokens are asked for. */
export function tokenEndpoint(baseUrl: string): string {
  return `${baseUrl}/_svc/oauth/token`;
}

/** Client id and secret stand form-encoded inside Basic (RFC 6749 §2.3.1). */
function decodeForm(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function refused(
  error: Extract<TokenAnswer, { kind: 'refused' }>['error'],
  sentence: string,
): Extract<TokenAnswer, { kind: 'refused' }> {
  return { kind: 'refused', error, sentence };
}
