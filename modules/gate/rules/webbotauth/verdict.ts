/** What is known of an agent that signed its request (Web Bot Auth), and why no more is. */

/** It signs, and something about the signature is wrong: what claims to be the agent is not shown to be. Only these count as a masquerade. */
export type InvalidReason =
  | 'malformed' // the fields do not parse, or do not belong together
  | 'parameter_missing' // created, expires or keyid
  | 'not_covered' // neither authority nor target, or the named agent is not signed
  | 'expired'
  | 'from_the_future'
  | 'lives_too_long'
  | 'algorithm'
  | 'test_key' // its private half is printed in the standard
  | 'bad_signature';

/** Nothing can be said: no claim was made, or what it takes to judge it is not available. Never held against anybody. */
export type UnverifiedReason =
  | 'not_signed'
  | 'too_many_signatures'
  | 'no_agent' // nobody is named whose key it could be
  | 'agent_unsupported' // a kind of name that this version does not read
  | 'agent_refused' // no address that may be asked
  | 'field_missing' // a signed field that the caller did not hand over
  | 'component_unsupported'
  | 'directory_pending'
  | 'directory_unreachable'
  | 'directory_invalid'
  | 'key_unknown' // the directory answers, without this key
  | 'busy';

/** No claim that could be checked, and why. */
export type Refusal =
  | { readonly outcome: 'invalid'; readonly reason: InvalidReason }
  | { readonly outcome: 'unverified'; readonly reason: UnverifiedReason };

/** Says that a signature is wrong. */
export function invalid(reason: InvalidReason): Refusal {
  return { outcome: 'invalid', reason };
}

/** Says that nothing can be said. */
export function unverified(reason: UnverifiedReason): Refusal {
  return { outcome: 'unverified', reason };
}
