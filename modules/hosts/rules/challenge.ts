/** Proving a host. Times are epoch milliseconds. */

/** How a host can be proven. */
export const CHALLENGE_METHODS = ['well-known', 'meta-tag', 'dns-txt'] as const;
/** One way of proving a host. */
export type ChallengeMethod = (typeof CHALLENGE_METHODS)[number];

/** What a site lets its owner install. */
export type Capability = 'code' | 'prefer_code' | 'dns_only' | 'locked' | 'unknown';
/** What of ours runs on the site. */
export type CodeArtifact = 'npm' | 'wordpress_plugin';

/** Why a check did not verify. */
export type CheckReason =
  | 'no_challenge'
  | 'not_verified'
  | 'dns_mismatch'
  | 'host_taken'
  | 'redirect'
  | 'tls_error'
  | 'blocked_address'
  | 'timeout'
  | 'wrong_token';

/** A challenge as stored. */
export interface Challenge {
  readonly tenantId: string;
  readonly host: string;
  readonly state: 'open' | 'verified';
  readonly method: ChallengeMethod;
  readonly token: string;
  readonly tokenIssuedAtMs: number;
  readonly capability: Capability;
  readonly codeArtifact: CodeArtifact | null;
  readonly lookedAtMs: number | null;
  readonly scheduledChecks: number;
  readonly nextCheckAtMs: number | null;
  readonly failingSinceMs: number | null;
  readonly confirmations: number;
  readonly openedAtMs: number;
  readonly verifiedAtMs: number | null;
  readonly routingVerifiedAtMs: number | null;
  /** When ownership of this host lapsed last, of any owner. */
  readonly lapsedAtMs: number | null;
}

/** A challenge as the API shows it. */
export interface ChallengeView {
  readonly host: string;
  readonly token: string;
  readonly method: ChallengeMethod;
  readonly present: Readonly<Record<string, string | number>>;
  readonly verifiedAt: string | null;
  readonly routingVerifiedAt: string | null;
  readonly capability: Capability;
  readonly codeArtifact: CodeArtifact | null;
}

const HOUR_MS = 3_600_000;
/** Life of a token that proved nothing. */
export const TOKEN_LIFE_MS = 30 * 24 * HOUR_MS;
/** After a lapse only DNS proves a host for this long: the buyer of an old server must not get the name with it. */
export const DNS_ONLY_MS = 72 * HOUR_MS;
/** Name of the meta tag. */
export const META_NAME = 'svc-site-verification';

/** The method that counts now: the one asked for, or DNS for 72 hours after a lapse. */
export function methodInForce(challenge: Pick<Challenge, 'method' | 'state' | 'lapsedAtMs'>, nowMs: number): ChallengeMethod {
  const isFresh = challenge.lapsedAtMs !== null && nowMs - challenge.lapsedAtMs < DNS_ONLY_MS;
  return isFresh && challenge.state === 'open' ? 'dns-txt' : challenge.method;
}

/** True when an open challenge's token is too old to prove anything; opening the challenge again makes another one. */
export function isExpired(challenge: Pick<Challenge, 'state' | 'tokenIssuedAtMs'>, nowMs: number): boolean {
  return challenge.state === 'open' && nowMs - challenge.tokenIssuedAtMs >= TOKEN_LIFE_MS;
}

/** What the owner has to publish, ready to copy. */
export function presentOf(host: string, method: ChallengeMethod, token: string): Readonly<Record<string, string | number>> {
  if (method === 'dns-txt') return { type: 'TXT', name: txtNameOf(host), value: txtValueOf(token), ttl: 300 };
  if (method === 'well-known') return { url: wellKnownUrls(host, token)[0], body: token, contentType: 'text/plain' };
  const html = `<meta name="${META_NAME}" content="${token}">`;
  return { name: META_NAME, content: token, html, url: `https://${host}/` };
}

/** Where the token may be served: under its own name, or as the first line of one fixed page. */
export function wellKnownUrls(host: string, token: string): readonly [string, string] {
  const base = `https://${host}/.well-known/svc-challenge`;
  return [`${base}/${token}`, base];
}

/** The label a TXT record is asked for at (a service's own underscore name, as in the DNS validation BCP). */
export function txtNameOf(host: string): string {
  return `_svc-challenge.${host}`;
}

/** The text of the TXT record. */
export function txtValueOf(token: string): string {
  return `svc-verify=${token}`;
}

/** A challenge as VerifyHostChallenge; times as ISO 8601 with milliseconds. */
export function viewOf(challenge: Challenge, nowMs: number): ChallengeView {
  const { host, token, capability, codeArtifact } = challenge;
  const method = methodInForce(challenge, nowMs);
  return {
    host,
    token,
    method,
    present: presentOf(host, method, token),
    verifiedAt: isoOf(challenge.verifiedAtMs),
    routingVerifiedAt: isoOf(challenge.routingVerifiedAtMs),
    capability,
    codeArtifact,
  };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
