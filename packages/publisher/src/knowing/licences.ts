/**
 * Licences of readers who paid a moment ago: proven here by the service's published keys, and once a minute there, so that one that was revoked
 * ends. What is not signed for this site, page and kind costs no call.
 */
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import type { Client, KeySet } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import type { LicenseError } from '../core/licenseError.ts';
import { Lru } from '../core/lru.ts';
import type { Failures } from '../telling/failures.ts';
import { factsOf, isAway, wordsOf } from '../telling/failures.ts';

const KEYS_MS = 600_000;
/** At most this often the keys are read again because of a licence that names another one. */
const NEW_KEYS_MS = 30_000;
const CONFIRMED_MS = 60_000;
const REMEMBERED = 2_000;
const MAX_CHARS = 4_096;
const SKEW_SECONDS = 60;

/** What a licence is shown for. */
export interface LicenceQuestion {
  readonly license: string;
  readonly proof?: string;
  /** Who signs licences of this site. */
  readonly issuer: string;
  readonly host: string;
  readonly resource: string;
  readonly slug: string;
  readonly kind: 'read' | 'citation';
}

/** What a licence is worth, or why it opens nothing. */
export type Worth = 'good' | Exclude<LicenseError, 'invalid_request'>;

/** Judges licences. */
export interface Licences {
  /** `good`: it opens the page. Never rejects; while the service is away, a licence that is proven here is honoured until it ends. */
  worthOf(question: LicenceQuestion): Promise<Worth>;
}

interface Claims {
  /** A licence of one page for whoever shows it; all others are for the service to judge. */
  readonly isPlain: boolean;
  readonly isBound: boolean;
  /** False when the pages that it names are others. */
  readonly isForPage: boolean;
  readonly site: string | null;
}

/** Opens it. `isTest`: the key is one of test mode, whose licences nobody paid for. */
export function openLicences(deps: {
  readonly client: Client;
  readonly now: () => number;
  readonly breaker: Breaker;
  readonly failures: Failures;
  readonly isTest: boolean;
}): Licences {
  const { client, now, breaker, failures } = deps;
  const confirmed = new Lru<{ readonly isGood: boolean; readonly atMs: number }>(REMEMBERED);
  const flights = new Map<string, Promise<boolean>>();
  const keys = openKeys(deps);
  /** The site of the key: that of the first licence which the service said is good here. */
  let site: string | null = null;

  async function prove(question: LicenceQuestion): Promise<Claims | Worth> {
    const { license, issuer, host } = question;
    if (license.length > MAX_CHARS) return 'invalid_token';
    const options = { issuer, audience: `https://${host}`, algorithms: ['EdDSA'], clockTolerance: SKEW_SECONDS };
    const verified = await keys.use((set) =>
      jwtVerify(license, set, { ...options, currentDate: new Date(now()), requiredClaims: ['exp', 'nbf', 'iat', 'jti'] }),
    );
    const claims = verified === null ? 'invalid_token' : claimsFor(question, verified.payload, now() / 1_000, deps.isTest);
    if (typeof claims === 'string') return claims;
    return site !== null && claims.site !== null && claims.site !== site ? 'invalid_token' : claims;
  }
  async function confirm(question: LicenceQuestion, claims: Claims, key: string): Promise<boolean> {
    const { license, resource, slug, kind, proof } = question;
    const known = confirmed.get(key);
    const whileAway = known?.isGood ?? claims.isPlain;
    if (!breaker.mayCall()) return whileAway;
    const answer = await client.check({ license, resource, slug, kind, ...(proof === undefined ? {} : { proof }) });
    breaker.note(!answer.ok && isAway(answer));
    if (answer.ok || answer.status === 400) {
      const isGood = answer.ok && answer.body?.entitled === true;
      if (!claims.isBound) confirmed.set(key, { isGood, atMs: now() });
      if (isGood) site ??= claims.site;
      return isGood;
    }
    failures.note({
      what: 'licence',
      message: `${wordsOf(answer)}; licences that are proven here are honoured`,
      ...factsOf(answer),
    });
    return whileAway;
  }
  return {
    worthOf: async (question) => {
      const claims = await prove(question);
      if (typeof claims === 'string') return claims;
      const isGood = await isConfirmed(question, claims);
      return isGood ? 'good' : claims.isForPage ? 'invalid_token' : 'insufficient_scope';
    },
  };
  async function isConfirmed(question: LicenceQuestion, claims: Claims): Promise<boolean> {
    const key = `${question.kind} ${question.resource} ${question.license}`;
    const known = confirmed.get(key);
    if (known && now() - known.atMs < CONFIRMED_MS) return known.isGood;
    if (claims.isBound) return confirm(question, claims, key); // its proof counts once
    const flight = flights.get(key) ?? confirm(question, claims, key).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  }
}

/** What a licence with a good signature, issuer, audience and `nbf` grants of what is asked, or why it grants nothing. */
function claimsFor(question: LicenceQuestion, payload: JWTPayload, nowSeconds: number, isTest: boolean): Claims | Worth {
  const { exp = 0, iat = 0, cnf } = payload;
  const { v, grant, site, kind, slug, scope, licence, settlementRefKind } = (payload['svc'] ?? {}) as Record<string, unknown>;
  if (nowSeconds >= exp || iat > nowSeconds + SKEW_SECONDS) return 'invalid_token';
  if (v !== 1 || grant !== 'read') return 'invalid_token';
  if (settlementRefKind === 'mock' && !isTest) return 'invalid_token';
  if (kind !== 'citation' && !(kind === 'read' && question.kind === 'read')) return 'insufficient_scope';
  const isPlain = scope === undefined && licence === undefined && cnf === undefined;
  if (scope === undefined && slug !== question.slug) return 'insufficient_scope';
  return {
    isPlain,
    isBound: cnf !== undefined,
    isForPage: isNamed(scope, question.resource),
    site: typeof site === 'string' ? site : null,
  };
}

/** False when a scope names its pages one by one, as `path$`, and none is this one: the service decides, this tells why it said no. */
function isNamed(scope: unknown, resource: string): boolean {
  const { patterns } = (scope ?? {}) as { readonly patterns?: unknown };
  if (!Array.isArray(patterns)) return true;
  const path = plain(new URL(resource).pathname);
  return patterns.some((pattern) => plain(String(pattern).replace(/\$$/, '')) === path);
}

function plain(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The service's keys, kept for ten minutes, and for longer while it is away. */
function openKeys({ client, now, breaker }: { readonly client: Client; readonly now: () => number; readonly breaker: Breaker }) {
  let set: JWTVerifyGetKey | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  async function read(): Promise<void> {
    readAtMs = now();
    if (!breaker.mayCall()) return;
    const answer = await client.jwks();
    breaker.note(!answer.ok && isAway(answer));
    if (answer.ok && Array.isArray(answer.body?.keys))
      set = createLocalJWKSet(answer.body as KeySet as Parameters<typeof createLocalJWKSet>[0]);
  }
  const refresh = async (ageMs: number): Promise<void> => {
    if (reading === null && now() - readAtMs >= ageMs) {
      reading = read()
        .catch(() => undefined) // a set that holds no keys opens nothing; the one of before stays
        .finally(() => (reading = null));
    }
    await reading;
  };
  return {
    /** Runs a check with the keys, once more with newer ones when the key is not among them; null for what is not proven. */
    use: async <T>(check: (keys: JWTVerifyGetKey) => Promise<T>): Promise<T | null> => {
      await refresh(set === null ? NEW_KEYS_MS / 10 : KEYS_MS);
      for (const isLast of [false, true]) {
        if (set === null) return null;
        try {
          return await check(set);
        } catch (error) {
          if (isLast || !(error instanceof errors.JWKSNoMatchingKey)) return null;
          await refresh(NEW_KEYS_MS);
        }
      }
      return null;
    },
  };
}
