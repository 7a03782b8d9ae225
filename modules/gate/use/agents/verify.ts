import { requireOwned, requireResource } from '../../../kernel/pages/resource.ts';
import type { ObservedAgent } from '../../../kernel/terms.ts';
import type { AgentCard } from '../../rules/webbotauth/card.ts';
import type { Claim, ClaimPolicy, Covered } from '../../rules/webbotauth/claim.ts';
import { AGENT_TAG, claimOf, MOST_LIFE_SECONDS, MOST_SIGNATURES, TEST_KEYS } from '../../rules/webbotauth/claim.ts';
import type { SourceType } from '../../rules/webbotauth/source.ts';
import type { InvalidReason, Refusal, UnverifiedReason } from '../../rules/webbotauth/verdict.ts';
import { invalid, unverified } from '../../rules/webbotauth/verdict.ts';
import type { Directories, FoundKey } from './directories.ts';
import type { PublicJwk } from './keys.ts';
import type { SignedRequest } from './signatures.ts';
import { checkSignature, readSignatures } from './signatures.ts';

/** Who signed a request. Times are epoch seconds. */
export interface VerifiedAgent extends AgentCard {
  /** Where its keys stand, without a query. */
  readonly url: string;
  readonly type: SourceType;
  readonly host: string;
  readonly keyid: string;
  readonly label: string;
  readonly covered: readonly string[];
  readonly created: number;
  readonly expires: number;
  /** To go on checking without asking, for `cacheSeconds`. */
  readonly key: PublicJwk;
}

/** What is known of the agent that sent a request; `observed` belongs into `agent` of observe and verify as it is. */
export type AgentVerdict =
  | {
      readonly outcome: 'verified';
      readonly agent: VerifiedAgent;
      readonly observed: ObservedAgent;
      readonly cacheSeconds: number;
    }
  | { readonly outcome: 'invalid'; readonly reason: InvalidReason; readonly observed: { readonly sigInvalid: true } }
  | {
      readonly outcome: 'unverified';
      readonly reason: UnverifiedReason;
      /** Seconds after which the answer may be another one; not there where it cannot. */
      readonly retryAfter?: number;
      readonly observed: Readonly<Record<string, never>>;
    };

/** Who asks, about which request. */
export interface AgentQuestion {
  readonly tenantId: string;
  /** The hosts of the site of the key. */
  readonly hosts: readonly string[];
  readonly request: SignedRequest;
}

/** What agents are verified with. */
export interface AgentDeps {
  readonly directories: Directories;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Whether the keys printed in the standard count: never in production. */
  readonly acceptTestKeys: boolean;
  /** For how long a signature may be good, in seconds; a day unless told. */
  readonly mostLifeSeconds?: number;
  /** How long an answer waits for a directory, in ms; 1.2 s unless told: gates wait two seconds for an answer. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 1_200;
/** For how long an answer may be relied upon, in seconds. A key that is taken away is good for so much longer at a gate. */
const CACHE_SECONDS = { least: 60, most: 300 };
const NO_KEYS: ReadonlySet<string> = new Set();

/**
 * Says which agent signed a request of a page of the site. Throws invalid_resource (400) for an address that is none, and
 * resource_not_owned (403) for one of somebody else's site, about whose readers nobody may ask. Whatever the signature is like is an
 * outcome. What bounds the cost: three signatures a request, and how often a site brings directories that nobody asked before.
 */
export async function verifyAgent(deps: AgentDeps, { tenantId, hosts, request }: AgentQuestion): Promise<AgentVerdict> {
  const resource = requireResource(request.url);
  requireOwned(hosts, resource.host);
  const asked = { ...request, url: publicUrl(request.url, resource.url) };
  const read =
    'signature' in asked.headers && 'signature-input' in asked.headers
      ? readSignatures(asked.headers)
      : { inputs: [], agent: null };
  if (read === null) return answerOf(invalid('malformed'));
  const tagged = read.inputs.filter(({ tag }) => tag === AGENT_TAG);
  if (tagged.length === 0) return answerOf(unverified('not_signed'));
  if (tagged.length > MOST_SIGNATURES) return answerOf(unverified('too_many_signatures'));
  const { agent } = read;
  if (agent === 'broken') return answerOf(unverified('agent_refused'));
  const policy = policyOf(deps);
  const verdicts: AgentVerdict[] = [];
  for (const input of tagged) {
    const claim = claimOf(input, agent, policy);
    const verdict = 'outcome' in claim ? answerOf(claim) : await judge(deps, { tenantId, request: asked, claim, policy });
    if (verdict.outcome === 'verified') return verdict;
    verdicts.push(verdict);
  }
  return (verdicts.find(({ outcome }) => outcome === 'invalid') ?? verdicts[0]) as AgentVerdict;
}

function policyOf({ clock, acceptTestKeys, mostLifeSeconds }: AgentDeps): ClaimPolicy {
  return {
    now: Math.floor(clock() / 1_000),
    mostLife: mostLifeSeconds ?? MOST_LIFE_SECONDS,
    refusedKeys: acceptTestKeys ? NO_KEYS : TEST_KEYS,
  };
}

interface Case {
  readonly tenantId: string;
  readonly request: SignedRequest;
  readonly claim: Claim;
  readonly policy: ClaimPolicy;
}

async function judge(deps: AgentDeps, { tenantId, request, claim, policy }: Case): Promise<AgentVerdict> {
  const { source, keyid } = claim;
  const found = deps.directories.peek(source, keyid) ?? (await inTime(deps, deps.directories.find(source, keyid, tenantId)));
  if (!found.ok) return answerOf(unverified(found.reason), found.retryAfterSeconds);
  const refusal = await checkSignature(request, claim, found.key, policy.now);
  return refusal ? answerOf(refusal) : verified(claim, found, deps.clock());
}

/** What a directory says, or that it takes longer than a gate waits; the look goes on, and the next question finds its answer. */
async function inTime({ patienceMs = PATIENCE_MS }: AgentDeps, look: Promise<FoundKey>): Promise<FoundKey> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<FoundKey>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: 'directory_pending', retryAfterSeconds: 2 }), patienceMs);
  });
  try {
    return await Promise.race([look, late]);
  } finally {
    clearTimeout(timer);
  }
}

function verified(claim: Claim, { key, card, freshUntilMs }: FoundKey & { readonly ok: true }, nowMs: number): AgentVerdict {
  const { source, keyid, label, covered, created, expires } = claim;
  const { identifier: url, type, host } = source;
  const leftSeconds = Math.floor((freshUntilMs - nowMs) / 1_000);
  return {
    outcome: 'verified',
    agent: { url, type, host, keyid, label, covered: covered.map(nameOf), created, expires, ...card, key: key.jwk },
    // Only a directory speaks for its host: elsewhere on it, anybody who may put a file there could.
    observed: { verified: true, ...(type === 'directory' ? { verifiedAgent: host } : {}) },
    cacheSeconds: Math.min(Math.max(leftSeconds, CACHE_SECONDS.least), CACHE_SECONDS.most),
  };
}

function answerOf(refusal: Refusal, retryAfter?: number): AgentVerdict {
  if (refusal.outcome === 'invalid') return { ...refusal, observed: { sigInvalid: true } };
  return { ...refusal, ...(retryAfter === undefined ? {} : { retryAfter }), observed: {} };
}

function nameOf({ name, key }: Covered): string {
  return key === null ? name : `${name};key="${key}"`;
}

/**
 * The address as its reader asked for it, which is what a signature covers: as the gate wrote it, but https where a proxy in front of the
 * gate ends TLS, and without the fragment.
 */
function publicUrl(given: string, parsed: string): string {
  const text = (given.split('#', 1)[0] ?? '').replace(/^https?:/i, new URL(parsed).protocol);
  return /^[\x21-\x7e]+$/.test(text) ? text : parsed;
}
