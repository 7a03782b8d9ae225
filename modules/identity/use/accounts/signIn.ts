import { randomBytes, randomUUID } from 'node:crypto';
import type { Sql } from '../../../../db/database.ts';
import { checksumAddress } from '../../../../platform/chain/offer.ts';
import { isSignedByKey } from '../../../../platform/chain/signature/message.ts';
import { macOf } from '../../../../platform/tokens/mac.ts';
import type { Pepper } from '../../../../platform/tokens/pepper.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import { buildNonce, nonceFacts, parseNonce, tagText } from '../../rules/nonce.ts';
import type { SignInFields } from '../../rules/siwx.ts';
import { buildSignInMessage, parseSignInMessage, refuseSignIn, STATEMENT, signerOf } from '../../rules/siwx.ts';
import { openAccountOfWallet } from '../../store/accounts.ts';
import { isUsed, useOnce } from '../../store/usedOnce.ts';
import { endOfHostNonce, isTagged } from './declare.ts';
import type { AccountDeps } from './deps.ts';

/** How long a challenge may be answered. */
export const CHALLENGE_LIFE_MS = 300_000;

/** A challenge for a wallet: the text to sign, and its fields for the SIGN-IN-WITH-X header. */
export interface Challenge extends SignInFields {
  readonly message: string;
}

/**
 * Makes a challenge for a wallet, whose nonce is good once, for five minutes and for this address. Nothing is stored or
 * asked: anyone can have challenges.
 */
export function openChallenge(deps: Pick<AccountDeps, 'baseUrl' | 'clock' | 'networks' | 'pepper'>, address: Address): Challenge {
  const nowMs = deps.clock();
  const expiresAtMs = nowMs + CHALLENGE_LIFE_MS;
  const facts = nonceFacts(expiresAtMs, randomBytes(16).toString('hex'));
  const fields = {
    domain: new URL(deps.baseUrl).host,
    address: checksumAddress(address),
    statement: STATEMENT,
    uri: deps.baseUrl,
    chainId: deps.networks.first.chainId,
    nonce: buildNonce(facts, macOf(deps.pepper.current, tagText(address, facts)).digest('hex')),
    issuedAt: new Date(nowMs).toISOString(),
    expirationTime: new Date(expiresAtMs).toISOString(),
  };
  return { ...fields, message: buildSignInMessage(fields) };
}

/** A signed challenge, and the address its request came from. */
export interface SignedChallenge {
  readonly message: string;
  readonly signature: string;
  readonly from: string;
}

/**
 * The account of the wallet that signed a challenge of ours, by key or by contract (ERC-1271) on the first network, whichever the message
 * names: on another one, somebody else may have put a contract at the same address. It is made at its first sign-in. A nonce that is not
 * ours costs nothing but its HMAC, and the chain is asked last, in turns of its own. The nonce is used up once the signature is right.
 * Throws unknown_credential (401) with one sentence for every cause of doubt; for a wallet with code also overloaded when there is no room,
 * and chain_unavailable when it cannot be asked.
 */
export async function signIn(deps: Omit<AccountDeps, 'rpc'>, { message, signature, from }: SignedChallenge): Promise<string> {
  const fields = parseSignInMessage(message);
  const nowMs = deps.clock();
  const chainIds = deps.networks.list.map(({ chainId }) => chainId);
  const expected = { domain: new URL(deps.baseUrl).host, uri: deps.baseUrl, chainIds, nowMs };
  const refusal = fields ? refuseSignIn(fields, expected) : 'the message is not one of our challenges';
  if (!fields || refusal !== null) throw new ServiceError('unknown_credential', refusal ?? 'the message cannot be read');
  if (!isSignature(signature)) throw new ServiceError('unknown_credential', 'the signature is malformed');
  const address = signerOf(fields);
  const nonce = nonceOf(deps.pepper, fields, address, nowMs);
  if (!nonce) throw spent();
  const signed = { address, message, signature };
  if (!isSignedByKey(signed)) {
    if (!(await nonce.isGood(deps.database))) throw spent();
    if (!(await deps.codeWallets.confirms(from, signed))) {
      throw new ServiceError('unknown_credential', 'the signature was not made by this wallet');
    }
  }
  if (!(await nonce.use(deps.database))) throw spent();
  return openAccountOfWallet(deps.database, randomUUID(), address);
}

/** A nonce that may be good, and how it is used up. */
interface Usable {
  readonly isGood: (sql: Sql) => Promise<boolean>;
  /** True the first time, false ever after. */
  readonly use: (sql: Sql) => Promise<boolean>;
}

/** A nonce that we gave to this address, or declared at our host for any, and whose time has not passed; null for any other. */
function nonceOf(pepper: Pepper, { nonce, domain }: SignInFields, address: Address, nowMs: number): Usable | null {
  const declared = endOfHostNonce(pepper, { nonce, host: domain }, nowMs);
  if (declared) return usedOnce(nonce, declared);
  const parsed = parseNonce(nonce);
  if (!parsed) return null;
  const { expiresAtMs, facts, tag } = parsed;
  if (!isTagged(pepper, tagText(address, facts), tag) || nowMs >= expiresAtMs) return null;
  return usedOnce(nonce, new Date(expiresAtMs));
}

function usedOnce(nonce: string, expiresAt: Date): Usable {
  const one = { kind: 'sign_in', nonce } as const;
  return { isGood: async (sql) => !(await isUsed(sql, one)), use: (sql) => useOnce(sql, one, expiresAt) };
}

/** True for octets that may be a signature, of a key or of a wallet with code. */
export function isSignature(text: string): text is `0x${string}` {
  return /^0x(?:[0-9a-fA-F]{2}){1,4000}$/.test(text);
}

function spent(): ServiceError {
  return new ServiceError('unknown_credential', 'the nonce was used or is not one of ours');
}

/** The message and signature of a SIGN-IN-WITH-X header (x402: base64 JSON of the fields and the signature); null for any other text. */
export function readSignInHeader(value: string): { readonly message: string; readonly signature: string } | null {
  if (value.length > 16_384) return null;
  let sent: unknown;
  try {
    sent = JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
  } catch {
    return null;
  }
  if (typeof sent !== 'object' || sent === null) return null;
  const { chainId, signature, ...fields } = sent as Record<string, unknown>;
  const chain = typeof chainId === 'string' && chainId.startsWith('eip155:') ? Number(chainId.slice(7)) : chainId;
  const texts = ['domain', 'address', 'statement', 'uri', 'nonce', 'issuedAt', 'expirationTime'] as const;
  if (typeof chain !== 'number' || typeof signature !== 'string') return null;
  if (!texts.every((name) => typeof fields[name] === 'string')) return null;
  return { message: buildSignInMessage({ ...(fields as unknown as SignInFields), chainId: chain }), signature };
}
