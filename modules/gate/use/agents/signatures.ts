import type { ComponentDescriptor } from 'http-message-sig';
import { component, isSignatureError, verifySignature } from 'http-message-sig';
import type { Dictionary, InnerList, Item } from 'structured-headers';
import { isInnerList, parseDictionary, parseItem, Token } from 'structured-headers';
import type { AgentField, AgentMember, Claim, Covered, SignatureInput } from '../../rules/webbotauth/claim.ts';
import { CLOCK_SKEW_SECONDS } from '../../rules/webbotauth/claim.ts';
import type { InvalidReason, Refusal } from '../../rules/webbotauth/verdict.ts';
import { invalid, unverified } from '../../rules/webbotauth/verdict.ts';
import type { AgentKey } from './keys.ts';

/** A request as its signer saw it: the public address, and fields by their names in lower case. */
export interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The signatures of a request (RFC 9421), taken apart; `agent` is `broken` where it does not parse. */
export interface ReadSignatures {
  readonly inputs: readonly SignatureInput[];
  readonly agent: AgentField | 'broken' | null;
}

/** Reads `Signature-Input` and `Signature-Agent`; null when the first does not parse. Says nothing about who signed. */
export function readSignatures(headers: SignedRequest['headers']): ReadSignatures | null {
  try {
    const inputs = [...parseDictionary(headers['signature-input'] ?? '')].map(([label, member]) => inputOf(label, member));
    return inputs.every((one) => one !== null) ? { inputs, agent: readAgent(headers['signature-agent']) } : null;
  } catch {
    return null;
  }
}

function inputOf(label: string, member: Item | InnerList): SignatureInput | null {
  if (!isInnerList(member)) return null;
  const [items, parameters] = member;
  const text = (name: string): string | null => {
    const value = parameters.get(name);
    return typeof value === 'string' ? value : null;
  };
  const seconds = (name: string): number | null => {
    const value = parameters.get(name);
    return typeof value === 'number' && Number.isInteger(value) ? value : null;
  };
  return {
    label,
    covered: items.map(coveredOf),
    created: seconds('created'),
    expires: seconds('expires'),
    keyid: text('keyid'),
    tag: text('tag'),
  };
}

function coveredOf([name, parameters]: Item): Covered {
  const key = parameters.get('key');
  return { name: typeof name === 'string' ? name : '', key: typeof key === 'string' ? key : null };
}

/** A dictionary member never begins with a quote, and the string of earlier drafts always does. */
function readAgent(field: string | undefined): ReadSignatures['agent'] {
  if (field === undefined) return null;
  try {
    if (!field.trimStart().startsWith('"')) return { form: 'dictionary', members: membersOf(parseDictionary(field)) };
    const [value] = parseItem(field);
    return typeof value === 'string' ? { form: 'string', value } : 'broken';
  } catch {
    return 'broken';
  }
}

function membersOf(dictionary: Dictionary): ReadonlyMap<string, AgentMember | null> {
  return new Map([...dictionary].map(([key, member]) => [key, memberOf(member)]));
}

function memberOf(member: Item | InnerList): AgentMember | null {
  const [value, parameters] = member;
  if (typeof value !== 'string') return null;
  const type = parameters.get('type');
  return { value, type: type === undefined ? 'directory' : type instanceof Token ? type.toString() : '' };
}

/** What the library's words for a refusal mean to us; all others say that the fields are not in order. */
const REASONS: Readonly<Record<string, Refusal>> = {
  MissingField: unverified('field_missing'),
  UnsupportedFeature: unverified('component_unsupported'),
  VerificationFailed: invalid('bad_signature'),
  AlgorithmMismatch: invalid('algorithm'),
  PolicyViolation: invalid('algorithm'),
};
const MALFORMED: InvalidReason = 'malformed';

/**
 * Whether this key signed this request as the claim says: null when it did. What the claim was judged by is asked of the library once
 * more, so that a field which it reads otherwise than we do is refused. `now` in epoch seconds.
 */
export async function checkSignature(request: SignedRequest, claim: Claim, key: AgentKey, now: number): Promise<Refusal | null> {
  const fields = Object.entries(request.headers).map(([name, value]) => ({ name, value }));
  try {
    await verifySignature(
      { kind: 'request', method: request.method, targetUri: request.url, fields },
      {
        label: claim.label,
        policy: {
          algorithms: [key.verifier.algorithm],
          requiredComponents: claim.covered.filter(isTelling).map(componentOf),
          requiredParameters: ['created', 'expires', 'keyid', 'tag'],
          clockSkew: CLOCK_SKEW_SECONDS,
          now,
          validate: ({ parameters }) => parameters.keyid === claim.keyid && parameters.expires === claim.expires,
        },
        resolveVerifier: () => key.verifier,
      },
    );
    return null;
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    return REASONS[error.code] ?? invalid(MALFORMED);
  }
}

function isTelling({ name }: Covered): boolean {
  return name === '@authority' || name === '@target-uri' || name === 'signature-agent';
}

function componentOf({ name, key }: Covered): ComponentDescriptor {
  return component(name, key === null ? {} : { key });
}
