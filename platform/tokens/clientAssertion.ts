import { createLocalJWKSet, jwtVerify } from 'jose';
import { hasControlCharacter } from '../../modules/kernel/hosts/host.ts';

/** A client's public keys (RFC 7517). */
export interface ClientKeys {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Algorithms a client may sign with; none is symmetric. */
export const ASSERTION_ALGORITHMS = ['EdDSA', 'ES256', 'RS256'] as const;
const MAX_ASSERTION_CHARS = 8_192;
const MAX_LIFE_SECONDS = 300;
const SKEW_SECONDS = 60;

/** What a proven assertion says. */
export interface ClientAssertion {
  readonly jti: string;
  readonly expiresAtSeconds: number;
}

/**
 * Proves a client assertion (RFC 7523 §3): signed by one of the client's keys, issuer and subject are the client, audience is one
 * of ours, it ends within five minutes, and it has a jti. Null for anything else; whether its jti was used before is asked elsewhere.
 */
export async function verifyClientAssertion(
  assertion: string,
  expected: {
    readonly clientId: string;
    readonly keys: ClientKeys;
    readonly audiences: readonly string[];
    readonly nowMs: number;
  },
): Promise<ClientAssertion | null> {
  if (assertion.length > MAX_ASSERTION_CHARS) return null;
  try {
    const keys = createLocalJWKSet({ keys: [...expected.keys.keys] as { kty: string }[] });
    const { payload } = await jwtVerify(assertion, keys, {
      algorithms: [...ASSERTION_ALGORITHMS],
      issuer: expected.clientId,
      subject: expected.clientId,
      audience: [...expected.audiences],
      currentDate: new Date(expected.nowMs),
      clockTolerance: SKEW_SECONDS,
      requiredClaims: ['exp', 'jti'],
    });
    const { jti, exp } = payload;
    const latest = expected.nowMs / 1000 + MAX_LIFE_SECONDS + SKEW_SECONDS;
    if (!isIdentifier(jti) || typeof exp !== 'number' || exp > latest) return null;
    return { jti, expiresAtSeconds: exp + SKEW_SECONDS };
  } catch {
    return null;
  }
}

/** What can be stored and found again: Postgres takes no NUL, and two halves of characters would become one text. */
function isIdentifier(jti: unknown): jti is string {
  return typeof jti === 'string' && jti !== '' && jti.length <= 200 && !hasControlCharacter(jti) && jti.isWellFormed();
}

/** The client an assertion claims to be of, before anything is proven; null when it cannot be read. */
export function readAssertionSubject(assertion: string): string | null {
  if (assertion.length > MAX_ASSERTION_CHARS) return null;
  try {
    const payload: unknown = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const subject = (payload as { sub?: unknown } | null)?.sub;
    return typeof subject === 'string' ? subject : null;
  } catch {
    return null;
  }
}
