/**
 * Nonces of sign-in challenges, which nothing stores until they are used: until when they are good, random octets, and a tag that only
 * we can make, over both and the address they were given to. All in hexadecimal digits, as EIP-4361 asks.
 */

const TIME_DIGITS = 12;
const RANDOM_DIGITS = 32;
/** 128 bits of an HMAC. */
const TAG_DIGITS = 32;
const FORM = new RegExp(`^[0-9a-f]{${TIME_DIGITS + RANDOM_DIGITS + TAG_DIGITS}}$`);

/** What a nonce says; whether it is ours is for the tag to show. */
export interface SignInNonce {
  readonly expiresAtMs: number;
  /** What the tag is made over: time and random octets. */
  readonly facts: string;
  readonly tag: string;
}

/** The facts of a new nonce: good until `expiresAtMs`, with 16 random octets in hexadecimal. */
export function nonceFacts(expiresAtMs: number, random: string): string {
  return `${expiresAtMs.toString(16).padStart(TIME_DIGITS, '0')}${random}`;
}

/** The text that a tag is made over, for one address. */
export function tagText(address: string, facts: string): string {
  return `sign-in ${address.toLowerCase()} ${facts}`;
}

/** The text that a tag is made over, for the server that answers at a host: nobody said yet who it will be. */
export function hostTagText(host: string, facts: string): string {
  return `sign-in at ${host} ${facts}`;
}

/** A nonce of facts and the HMAC over their `tagText`, in hexadecimal. */
export function buildNonce(facts: string, mac: string): string {
  return `${facts}${mac.slice(0, TAG_DIGITS)}`;
}

/**
 * Takes a nonce of a host apart: one of ours, and after it up to 20 digits of a gate that hands out the same offer many times. They are signed like the
 * rest, so a nonce is good once however many were made of one of ours.
 */
export function parseHostNonce(nonce: string): SignInNonce | null {
  const ours = TIME_DIGITS + RANDOM_DIGITS + TAG_DIGITS;
  return /^[0-9a-f]{0,20}$/.test(nonce.slice(ours)) ? parseNonce(nonce.slice(0, ours)) : null;
}

/** Takes a nonce apart; null for one of another form. */
export function parseNonce(nonce: string): SignInNonce | null {
  if (!FORM.test(nonce)) return null;
  const facts = nonce.slice(0, TIME_DIGITS + RANDOM_DIGITS);
  return { expiresAtMs: Number.parseInt(nonce.slice(0, TIME_DIGITS), 16), facts, tag: nonce.slice(facts.length) };
}
