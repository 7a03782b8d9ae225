import { randomBytes, randomUUID } from 'node:crypto';
import { isSignedBy } from '../../chain/message.ts';
import { checksumAddress } from '../../chain/offer.ts';
import { insertNonce, openAccountOfWallet, useNonce } from '../../db/accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Address } from '../../domain/legs.ts';
import type { SignInFields } from '../../domain/siwx.ts';
import { buildSignInMessage, parseSignInMessage, refuseSignIn, STATEMENT, signerOf } from '../../domain/siwx.ts';
import type { BuyerDeps } from '../licences/deps.ts';
import { atDatabase } from '../outage.ts';

/** How long a challenge may be answered. */
export const CHALLENGE_LIFE_MS = 300_000;

/** A challenge for a wallet: the text to sign, and its fields for the SIGN-IN-WITH-X header. */
export interface Challenge extends SignInFields {
  readonly message: string;
}

/** Makes a challenge with a nonce of 16 random bytes that is good once, for five minutes (decisions §2). */
export async function openChallenge(deps: BuyerDeps, address: Address): Promise<Challenge> {
  const nowMs = deps.clock();
  const nonce = randomBytes(16).toString('hex');
  const expiresAt = new Date(nowMs + CHALLENGE_LIFE_MS);
  await atDatabase(() => insertNonce(deps.database, nonce, expiresAt, new Date(nowMs)));
  const fields = {
    domain: new URL(deps.baseUrl).host,
    address: checksumAddress(address),
    statement: STATEMENT,
    uri: deps.baseUrl,
    chainId: deps.network.chainId,
    nonce,
    issuedAt: new Date(nowMs).toISOString(),
    expirationTime: expiresAt.toISOString(),
  };
  return { ...fields, message: buildSignInMessage(fields) };
}

/**
 * The account of the wallet that signed a challenge of ours, by key or by contract (ERC-1271); made at its first sign-in. The
 * nonce is used up once the signature is right. Throws unknown_credential (401) with one sentence for every cause of doubt, and
 * chain_unavailable when a wallet with code cannot be asked.
 */
export async function signIn(deps: BuyerDeps, message: string, signature: string): Promise<string> {
  const fields = parseSignInMessage(message);
  const nowMs = deps.clock();
  const expected = { domain: new URL(deps.baseUrl).host, uri: deps.baseUrl, chainIds: [deps.network.chainId], nowMs };
  const refusal = fields ? refuseSignIn(fields, expected) : 'the message is not one of our challenges';
  if (!fields || refusal !== null) throw new ServiceError('unknown_credential', refusal ?? 'the message cannot be read');
  if (!/^0x(?:[0-9a-fA-F]{2}){1,4000}$/.test(signature)) throw new ServiceError('unknown_credential', 'the signature is not one');
  const address = signerOf(fields);
  if (!(await isSignedBy(deps.rpc, { address, message, signature: signature as `0x${string}` }))) {
    throw new ServiceError('unknown_credential', 'the signature is not the wallet’s');
  }
  return atDatabase(async () => {
    if (!(await useNonce(deps.database, fields.nonce, new Date(nowMs)))) {
      throw new ServiceError('unknown_credential', 'the nonce was used or is not one of ours');
    }
    return openAccountOfWallet(deps.database, randomUUID(), address);
  });
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
