/**
 * Licences of readers who paid a moment ago: proven here by the service's published keys, and once a minute there, so that one that was revoked
 * ends. What is not signed for this site, page and kind costs no call, nor does a licence of a holder without a proof of his. What bounds the cost of
 * a caller with one good licence: 8 questions at once and 20 a second of one licence, 16 and 50 of all; above that the answer is 503. Their failures say nothing
 * about quotes: while the service counts as away for those, pages are free.
 */
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import type { Client, KeySet } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import type { LicenseError } from '../core/licenseError.ts';
import { Lru } from '../core/lru.ts';
import { mayCover } from '../core/scope.ts';
import type { Failures } from '../telling/failures.ts';
import { factsOf, isAway, wordsOf } from '../telling/failures.ts';

const KEYS_MS = 600_000;
/** At most this often the keys are read again because of a licence that names another one. */
const NEW_KEYS_MS = 30_000;
const CONFIRMED_MS = 60_000;
const REMEMBERED = 2_000;
const MAX_CHARS = 4_096;
interface Limits {
  readonly atOnce: number;
  readonly aSecond: number;
}
const OF_ALL: Limits = { atOnce: 16, aSecond: 50 };
/** Of one licence, so that one holder leaves room to the others. */
const OF_ONE: Limits = { atOnce: 8, aSecond: 20 };
/** What a holder signs for one request: a time, a nonce and a signature (`X-Licence-Proof`). */
const PROOF = /^\d{1,12}\.[\w-]{8,64}\.0x(?:[0-9a-f]{2}){1,4000}$/i;
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

/** What a licence is worth, or why it opens nothing; `busy`: too many are asked about now. */
export type Worth = 'good' | 'busy' | Exclude<LicenseError, 'invalid_request'>;

/** Judges licences. */
export interface Licences {
  /** `good`: it opens the page. Never rejects; while the service is away, a licence that is proven here is honoured until it ends. */
  worthOf(question: LicenceQuestion): Promise<Worth>;
}

/** Questions of the second `at`, and those on their way. */
interface Asked {
  at: number;
  asked: number;
  asking: number;
}

interface Claims {
  /** The licence that was bought: an account fetches any number of tokens for it, each with a jti of its own. */
  readonly bought: string;
  /** A bearer licence of one page; all others are for the service to judge. */
  readonly isPlain: boolean;
  readonly isBound: boolean;
  readonly site: string | null;
}

/** Opens it. `isTest`: the key is one of test mode, whose licences nobody paid for. */
export function openLicences(deps: {
  readonly client: Client;
  readonly now: () => number;
  /** One of its own: a caller who makes these questions fail must not make the service count as away. */
  readonly breaker: Breaker;
  readonly failures: Failures;
  readonly isTest: boolean;
}): Licences {
  const { client, now, breaker, failures } = deps;
  const confirmed = new Lru<{ readonly isGood: boolean; readonly atMs: number }>(REMEMBERED);
  const flights = new Map<string, Promise<boolean | 'busy'>>();
  const ofAll: Asked = { at: 0, asked: 0, asking: 0 };
  const ofOne = new Lru<Asked>(REMEMBERED);
  const mayAsk = (one: Asked, { atOnce, aSecond }: Limits): boolean => {
    const at = Math.floor(now() / 1_000);
    if (at !== one.at) Object.assign(one, { at, asked: 0 });
    return one.asking < atOnce && one.asked < aSecond;
  };
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
  async function confirm(shown: LicenceQuestion, claims: Claims, key: string): Promise<boolean | 'busy'> {
    const { license, resource, slug, kind, proof } = shown;
    const known = confirmed.get(key);
    const whileAway = known?.isGood ?? claims.isPlain;
    if (!breaker.mayCall()) return whileAway;
    // Not honoured as in an outage: too much is in one caller's hand, who may hold a licence that was revoked.
    const own = ofOne.get(claims.bought) ?? { at: 0, asked: 0, asking: 0 };
    ofOne.set(claims.bought, own);
    if (!mayAsk(own, OF_ONE) || !mayAsk(ofAll, OF_ALL)) return 'busy';
    const counts = [own, ofAll];
    for (const one of counts) Object.assign(one, { asked: one.asked + 1, asking: one.asking + 1 });
    const question = { license, resource, slug, kind, ...(proof === undefined ? {} : { proof }) };
    const answer = await client.check(question).finally(() => {
      for (const one of counts) one.asking -= 1;
    });
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
      if (claims.isBound && !PROOF.test(question.proof ?? '')) return 'invalid_token';
      const isGood = await isConfirmed(question, claims);
      return isGood === 'busy' ? 'busy' : isGood ? 'good' : 'invalid_token';
    },
  };
  async function isConfirmed(question: LicenceQuestion, claims: Claims): Promise<boolean | 'busy'> {
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
  const { exp = 0, iat = 0, jti = '', cnf } = payload;
  const { v, grant, site, kind, slug, scope, licence, settlementRefKind } = (payload['svc'] ?? {}) as Record<string, unknown>;
  if (nowSeconds >= exp || iat > nowSeconds + SKEW_SECONDS) return 'invalid_token';
  if (v !== 1 || grant !== 'read') return 'invalid_token';
  if (settlementRefKind === 'mock' && !isTest) return 'invalid_token';
  if (kind !== 'citation' && !(kind === 'read' && question.kind === 'read')) return 'insufficient_scope';
  const isPlain = scope === undefined && licence === undefined && cnf === undefined;
  if (scope === undefined ? slug !== question.slug : !mayCover(scope, question.resource)) return 'insufficient_scope';
  return {
    bought: typeof licence === 'string' ? licence : jti,
    isPlain,
    isBound: cnf !== undefined,
    site: typeof site === 'string' ? site : null,
  };
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
