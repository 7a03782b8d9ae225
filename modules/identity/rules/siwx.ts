/** Sign-in messages of a wallet (EIP-4361), as text and as the fields of x402's SIGN-IN-WITH-X header. */
import type { Address } from '../../kernel/money/legs.ts';

/** What a sign-in message says; times are ISO 8601 UTC. */
export interface SignInFields {
  readonly domain: string;
  /** With its checksum (EIP-55). */
  readonly address: string;
  readonly statement: string;
  readonly uri: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAt: string;
  readonly expirationTime: string;
}

/** What a message must say to be one of our challenges. */
export interface SignInExpectation {
  readonly domain: string;
  readonly uri: string;
  readonly chainIds: readonly number[];
  readonly nowMs: number;
}

/** The one sentence our challenges carry. */
export const STATEMENT = 'Sign in to buy and use licences. This signature moves no money.';
/** Longest message that is looked at, in characters: the longest address of a page, and what stands around it. */
export const MAX_MESSAGE_CHARS = 3_000;
const SKEW_MS = 60_000;

/** The text a wallet signs. */
export function buildSignInMessage(fields: SignInFields): string {
  return [
    `${fields.domain} wants you to sign in with your Ethereum account:`,
    fields.address,
    '',
    fields.statement,
    '',
    `URI: ${fields.uri}`,
    'Version: 1',
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
    `Expiration Time: ${fields.expirationTime}`,
  ].join('\n');
}

/** The fields of a message in exactly the form we issue; null for any other text. */
export function parseSignInMessage(text: string): SignInFields | null {
  if (text.length > MAX_MESSAGE_CHARS) return null;
  const lines = text.split('\n');
  const after = (index: number, prefix: string): string => {
    const line = lines[index] ?? '';
    return line.startsWith(prefix) ? line.slice(prefix.length) : '';
  };
  const [opening = ''] = lines;
  const tail = ' wants you to sign in with your Ethereum account:';
  const fields = {
    domain: opening.endsWith(tail) ? opening.slice(0, -tail.length) : '',
    address: lines[1] ?? '',
    statement: lines[3] ?? '',
    uri: after(5, 'URI: '),
    chainId: Number(after(7, 'Chain ID: ')),
    nonce: after(8, 'Nonce: '),
    issuedAt: after(9, 'Issued At: '),
    expirationTime: after(10, 'Expiration Time: '),
  };
  return buildSignInMessage(fields) === text ? fields : null;
}

/**
 * Why a message cannot sign anyone in, or null: another domain or address of ours, another chain, not yet or no longer valid, a
 * malformed address or nonce. The nonce's one use and the signature are checked by the caller.
 */
export function refuseSignIn(fields: SignInFields, expected: SignInExpectation): string | null {
  if (fields.domain !== expected.domain || fields.uri !== expected.uri) return 'the message is for another service';
  if (!expected.chainIds.includes(fields.chainId)) return 'the message names a chain that is not accepted here';
  if (!/^0x[0-9a-fA-F]{40}$/.test(fields.address)) return 'the message names no address';
  if (!/^[A-Za-z0-9]{8,96}$/.test(fields.nonce)) return 'the nonce is not one of ours';
  const issuedAtMs = Date.parse(fields.issuedAt);
  const expiresAtMs = Date.parse(fields.expirationTime);
  if (!(issuedAtMs <= expected.nowMs + SKEW_MS)) return 'the message is not valid yet';
  if (!(expected.nowMs < expiresAtMs)) return 'the message has expired';
  return null;
}

/** The address of a message as we keep addresses. */
export function signerOf(fields: SignInFields): Address {
  return fields.address.toLowerCase() as Address;
}
