/** Reads, from the plain members of a signature, who it claims to be from, and judges all that takes no key. */

import type { KeySource } from './source.ts';
import { isSourceType, sourceOf } from './source.ts';
import type { Refusal } from './verdict.ts';
import { invalid, unverified } from './verdict.ts';

/** One covered component: a field or a derived one (`@authority`), with the member of a dictionary where only that is covered. */
export interface Covered {
  readonly name: string;
  readonly key: string | null;
}

/** A member of `Signature-Input`. Times are epoch seconds; null: not there. */
export interface SignatureInput {
  readonly label: string;
  readonly covered: readonly Covered[];
  readonly created: number | null;
  readonly expires: number | null;
  readonly keyid: string | null;
  readonly tag: string | null;
}

/** `Signature-Agent`: a dictionary, or the one string of earlier drafts. A member that is no text is null. */
export type AgentField =
  | { readonly form: 'string'; readonly value: string }
  | { readonly form: 'dictionary'; readonly members: ReadonlyMap<string, AgentMember | null> };

/** A member of the dictionary. */
export interface AgentMember {
  readonly value: string;
  readonly type: string;
}

/** Who signed, as the signature says; a key has to show it. */
export interface Claim {
  readonly label: string;
  readonly keyid: string;
  readonly source: KeySource;
  readonly covered: readonly Covered[];
  /** Epoch seconds. */
  readonly created: number;
  readonly expires: number;
}

/** What a claim is judged by. */
export interface ClaimPolicy {
  /** Epoch seconds. */
  readonly now: number;
  /** For how long a signature may be good, in seconds. */
  readonly mostLife: number;
  /** Thumbprints that nobody is believed by. */
  readonly refusedKeys: ReadonlySet<string>;
}

/** The tag of signatures that say which agent asks. */
export const AGENT_TAG = 'web-bot-auth';
/** How far an agent's clock may be off, in seconds. */
export const CLOCK_SKEW_SECONDS = 60;
/** A signature covers little, so anyone who sees one can use it until it ends: a day, as the drafts recommend. */
export const MOST_LIFE_SECONDS = 86_400;
/** Signatures of one request that are looked at. */
export const MOST_SIGNATURES = 3;

/** Keys whose private halves are printed in RFC 9421 (B.1.2, B.1.4) and in the drafts' examples. */
export const TEST_KEYS: ReadonlySet<string> = new Set([
  'oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA',
  'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U',
]);

const AGENT_FIELD = 'signature-agent';

/** The claim that a signature makes, or why it makes none that could be checked. */
export function claimOf(input: SignatureInput, agent: AgentField | null, policy: ClaimPolicy): Claim | Refusal {
  const { label, covered, created, expires, keyid } = input;
  if (created === null || expires === null || keyid === null) return invalid('parameter_missing');
  if (!covered.some(({ name }) => name === '@authority' || name === '@target-uri')) return invalid('not_covered');
  const wrong = timeRefusal(created, expires, policy);
  if (wrong) return wrong;
  if (agent === null) return unverified('no_agent');
  const member = coveredMember(input, agent);
  if ('outcome' in member) return member;
  if (!isSourceType(member.type)) return unverified('agent_unsupported');
  const source = sourceOf(member.type, member.value);
  if (!source) return unverified('agent_refused');
  if (policy.refusedKeys.has(keyid)) return invalid('test_key');
  return { label, keyid, source, covered, created, expires };
}

function timeRefusal(created: number, expires: number, { now, mostLife }: ClaimPolicy): Refusal | null {
  if (created > now + CLOCK_SKEW_SECONDS) return invalid('from_the_future');
  if (expires < now - CLOCK_SKEW_SECONDS) return invalid('expired');
  if (expires < created) return invalid('malformed');
  if (expires - created > mostLife) return invalid('lives_too_long');
  return null;
}

/**
 * The member that the signature covers; only what is signed is believed. Where the whole field is covered it must be the one member there
 * is. Where several members are, the one of the signature's own label.
 */
function coveredMember({ label, covered }: SignatureInput, agent: AgentField): AgentMember | Refusal {
  const parts = covered.filter(({ name }) => name === AGENT_FIELD);
  if (parts.length === 0) return invalid('not_covered');
  const isWhole = parts.some(({ key }) => key === null);
  if (agent.form === 'string') return isWhole ? { value: agent.value, type: 'directory' } : invalid('not_covered');
  const keys = isWhole ? [...agent.members.keys()] : parts.map(({ key }) => key as string);
  const key = keys.length === 1 ? keys[0] : keys.find((one) => one === label && !isWhole);
  if (key === undefined) return unverified('agent_unsupported');
  if (!agent.members.has(key)) return invalid('not_covered');
  return agent.members.get(key) ?? unverified('agent_refused');
}
