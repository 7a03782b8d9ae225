/**
 * Which agent signed a request (Web Bot Auth). A signature by a key that the service has named is checked here; the service is asked about all
 * others, since it reads the agents' directories. What bounds the cost of made-up signatures: 16 calls at once, 20 a second, and memory for
 * 1,000 agents. Who is not verified is an agent like any other.
 */
import type { webcrypto } from 'http-message-sig';
import type { AgentKey, AgentVerdict, Client, ObservedAgent } from '../client.ts';
import type { Breaker } from '../core/breaker.ts';
import { Lru } from '../core/lru.ts';
import type { SiteRequest } from '../request.ts';
import { isAgentVerdict } from '../shapes.ts';
import type { Failures } from '../telling/failures.ts';
import { factsOf, isAway, wordsOf } from '../telling/failures.ts';
import type { SignedRequest } from './signedRequest.ts';
import { signedRequestOf } from './signedRequest.ts';

/** What is known of an agent by its signature: nothing, who it is, or that it is not who it says. */
export type Signed = Pick<ObservedAgent, 'verified' | 'verifiedAgent' | 'sigInvalid'>;

/** Tells agents by their signatures. */
export interface Agents {
  /** Never rejects. */
  identify(request: SiteRequest, origin: string): Promise<Signed>;
}

/** Loaded for the first request that is signed: most sites get none for long. */
const signatures = () => import('http-message-sig');
const REMEMBERED = 1_000;
const AT_ONCE = 16;
const A_SECOND = 20;
/** As the service judges: its word about a key says nothing about how long a signature may be good. */
const TAG = 'web-bot-auth';
const SKEW_SECONDS = 60;
const MOST_LIFE_SECONDS = 86_400;
const MOST_PAUSE_SECONDS = 60;
const NOBODY: Signed = {};
const FALSE: Signed = { sigInvalid: true };

/** An agent by the way it signs: what it says of itself, its key, and what it covers. */
type Known =
  | { readonly verifier: ReturnType<typeof webcrypto.verifier>; readonly signed: Signed; readonly untilMs: number }
  | { readonly verifier: null; readonly untilMs: number };

/** What a look at a request alone gives: an answer, or by which way it is signed. */
type Look = { readonly signed: Signed } | { readonly signed: null; readonly way: string | null };

/** Opens it. */
export function openAgents(deps: {
  readonly client: Client;
  readonly now: () => number;
  readonly breaker: Breaker;
  readonly failures: Failures;
}): Agents {
  const { client, now, breaker, failures } = deps;
  const verified = new Lru<Known>(REMEMBERED);
  /** Apart, so that made-up signatures push nobody out who was verified. */
  const paused = new Lru<Known>(REMEMBERED);
  const flights = new Map<string, Promise<Signed>>();
  let asking = 0;
  const second = { at: 0, asked: 0 };
  const isTooMuch = (): boolean => {
    const at = Math.floor(now() / 1_000);
    if (at !== second.at) Object.assign(second, { at, asked: 0 });
    second.asked += 1;
    return second.asked > A_SECOND || asking >= AT_ONCE;
  };
  const known = (way: string): Known | undefined => {
    const isFresh = (one: Known | undefined): boolean => one !== undefined && now() < one.untilMs;
    return [verified.get(way), paused.get(way)].find(isFresh);
  };

  async function ask(request: SignedRequest, way: string | null): Promise<Signed> {
    if (isTooMuch() || !breaker.mayCall()) return NOBODY;
    asking += 1;
    try {
      const answer = await client.verifyAgent(request);
      const isGood = answer.ok && isAgentVerdict(answer.body);
      breaker.note(answer.ok ? !isGood : isAway(answer) || answer.status === 404); // a service of before knows no such call
      if (isGood) return await remember(answer.body, way);
      const failure = answer.ok ? ({ ok: false, why: 'status', status: 502 } as const) : answer;
      failures.note({ what: 'agent', message: `${wordsOf(failure)}; an agent stays unverified`, ...factsOf(failure) });
      return NOBODY;
    } finally {
      asking -= 1;
    }
  }
  async function remember(verdict: AgentVerdict, way: string | null): Promise<Signed> {
    if (verdict.outcome === 'verified' && way !== null) {
      const verifier = await imported(verdict.agent.key);
      if (verifier) verified.set(way, { verifier, signed: verdict.observed, untilMs: now() + verdict.cacheSeconds * 1_000 });
    }
    if (verdict.outcome === 'unverified' && verdict.retryAfter !== undefined && way !== null) {
      const pause = Math.min(verdict.retryAfter, MOST_PAUSE_SECONDS) * 1_000;
      paused.set(way, { verifier: null, untilMs: now() + pause });
    }
    return verdict.observed;
  }
  async function identify(request: SignedRequest): Promise<Signed> {
    const first = await lookAt(request, { now: now() / 1_000, known });
    if (first.signed !== null) return first.signed;
    const { way } = first;
    if (way === null) return ask(request, null);
    const flight = flights.get(way);
    if (flight === undefined) {
      const own = ask(request, way).finally(() => flights.delete(way));
      flights.set(way, own);
      return own;
    }
    await flight;
    // The one before may have been a forgery, which says nothing of who else signs this way: then this one is asked about by itself.
    return (await lookAt(request, { now: now() / 1_000, known })).signed ?? ask(request, way);
  }
  return {
    identify: async (request, origin) => {
      const signed = signedRequestOf(request, origin);
      if (signed === null) return NOBODY;
      try {
        return await identify(signed);
      } catch (error) {
        failures.note({
          what: 'agent',
          message: `a signature could not be checked: ${String(error)}; an agent stays unverified`,
        });
        return NOBODY;
      }
    },
  };
}

/** Checks a signature by the keys that are known; what else is wrong with it is for the service to say. */
async function lookAt(
  { method, url, headers }: SignedRequest,
  { now, known }: { readonly now: number; readonly known: (way: string) => Known | undefined },
): Promise<Look> {
  const { isSignatureError, verifySignature } = await signatures();
  const fields = Object.entries(headers).map(([name, value]) => ({ name, value }));
  let way: string | null = null;
  let found: Known | undefined;
  try {
    await verifySignature(
      { kind: 'request', method, targetUri: url, fields },
      {
        policy: {
          algorithms: ['ed25519', 'rsa-pss-sha512'],
          requiredComponents: [],
          requiredParameters: ['created', 'expires', 'keyid', 'tag'],
          clockSkew: SKEW_SECONDS,
          now: Math.floor(now),
          validate: ({ parameters: { tag, created = 0, expires = 0 } }) =>
            tag === TAG && expires >= created && expires - created <= MOST_LIFE_SECONDS,
        },
        resolveVerifier: ({ label, parameters, components }) => {
          const covered = components.map(({ name, parameters: { key } }) => [name, key ?? null]);
          way = JSON.stringify([headers['signature-agent'], label, parameters.keyid, covered]);
          found = known(way);
          if (!found?.verifier) throw new Error('not known here');
          return found.verifier;
        },
      },
    );
    return { signed: found?.verifier ? found.signed : NOBODY };
  } catch (error) {
    if (found?.verifier === null) return { signed: NOBODY };
    const isFalse = found !== undefined && isSignatureError(error) && error.code === 'VerificationFailed';
    return isFalse ? { signed: FALSE } : { signed: null, way };
  }
}

async function imported(jwk: AgentKey): Promise<ReturnType<typeof webcrypto.verifier> | null> {
  const algorithm = jwk.kty === 'OKP' ? { name: 'Ed25519' } : { name: 'RSA-PSS', hash: 'SHA-512' };
  try {
    const { webcrypto } = await signatures();
    return webcrypto.verifier(await crypto.subtle.importKey('jwk', { ...jwk }, algorithm, true, ['verify']));
  } catch {
    return null; // a platform without the algorithm: the service is asked each time
  }
}
