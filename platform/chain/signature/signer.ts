/** Who signs the relayer's transactions: a key of this process, or one that stays in a key management service. */
import type secp256k1Type from 'secp256k1';
import { privateKeyToAccount, sign } from 'viem/accounts';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { Hex } from '../../../modules/kernel/x402/payload.ts';
import { keccak256 } from '../calls/keccak.ts';
import { requireNative } from '../calls/native.ts';

const secp256k1 = requireNative<typeof secp256k1Type>('secp256k1');

/** A signature over a digest: r and s with s in the lower half, as Ethereum wants it. */
export interface DigestSignature {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: 0 | 1;
}

/** A key that signs. */
export interface Signer {
  /** Lower case. */
  readonly address: Address;
  /** True where signing is a request, which no database transaction may wait for. */
  readonly isRemote: boolean;
  /** Signs 32 bytes, within `limitMs` where that is less than a key's own limit. Throws SignerError. */
  readonly sign: (digest: Hex, limitMs?: number) => Promise<DigestSignature>;
}

/** A key that could not sign; `refused` when what it answered is no signature of it. Nothing was signed, nothing is decided. */
export class SignerError extends Error {
  readonly kind: 'away' | 'refused';
  constructor(kind: 'away' | 'refused', message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** A key of this process. Deterministic (RFC 6979): the same digest gives the same signature. */
export function localSigner(privateKey: Hex): Signer {
  const address = privateKeyToAccount(privateKey).address.toLowerCase() as Address;
  return {
    address,
    isRemote: false,
    sign: async (hash) => {
      const { r, s, yParity } = await sign({ hash, privateKey });
      return { r, s, yParity: yParity === 1 ? 1 : 0 };
    },
  };
}

/** What a key management service does for a key; both answers in DER. */
export interface RemoteKey {
  /** The public key as SubjectPublicKeyInfo. */
  readonly publicKey: (signal: AbortSignal) => Promise<Uint8Array>;
  /** An ECDSA signature over 32 bytes. */
  readonly sign: (digest: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;
}

/** How long the signatures of one piece of work may take, all together: the activity that claims a batch has three seconds. */
const SIGN_LIMIT_MS = 1_500;
const OPEN_LIMIT_MS = 10_000;
/** After a failure the key rests: a service that hangs must not cost every proposal its limit. */
const REST_MS = 3_000;

/**
 * Opens a key of a key management service: its address comes from its public key, and it signs once, so that a process which could not
 * send does not start. Every answer is checked against the address: what somebody else signed is refused. Throws SignerError.
 */
export async function openRemoteSigner(
  key: RemoteKey,
  onSigned: (ms: number, isSigned: boolean) => void = () => undefined,
): Promise<Signer> {
  const spki = await bounded(OPEN_LIMIT_MS, key.publicKey);
  const address = addressOfPublicKey(Buffer.from(spki));
  let restsUntil = 0;
  const signer: Signer = {
    address,
    isRemote: true,
    sign: async (digest, limitMs = SIGN_LIMIT_MS) => {
      if (performance.now() < restsUntil) throw new SignerError('away', `the key of ${address} did not answer a moment ago`);
      const bytes = Buffer.from(digest.slice(2), 'hex');
      const began = performance.now();
      try {
        const signature = signatureOf(
          await bounded(Math.min(limitMs, SIGN_LIMIT_MS), (signal) => key.sign(bytes, signal)),
          bytes,
          address,
        );
        onSigned(performance.now() - began, true);
        return signature;
      } catch (error) {
        restsUntil = performance.now() + REST_MS;
        onSigned(performance.now() - began, false);
        throw error;
      }
    },
  };
  await signer.sign(`0x${keccak256(Buffer.from('content-settlement: this key signs')).toString('hex')}`);
  return signer;
}

/**
 * Runs work that signs inside a database transaction, so that no transaction is open while a key is asked: work that wants a signature
 * of a remote key is rolled back, the signature is made, and the work runs again with it. It fits only if nothing changed meanwhile, nonce
 * included: then it wants another one, three times at most, within the limit of one. What was signed in vain was never stored and never left the process.
 */
export async function signedOutside<T>(signer: Signer, work: (signer: Signer) => Promise<T>): Promise<T> {
  if (!signer.isRemote) return work(signer);
  const made = new Map<Hex, DigestSignature>();
  const ready: Signer = {
    ...signer,
    sign: async (digest) => {
      const signature = made.get(digest);
      if (signature) return signature;
      throw new SignatureWanted(digest);
    },
  };
  let until: number | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work(ready);
    } catch (error) {
      if (!(error instanceof SignatureWanted)) throw error;
      until ??= performance.now() + SIGN_LIMIT_MS;
      const limitMs = Math.ceil(until - performance.now());
      if (tries > MOST_TRIES || limitMs <= 0) throw new SignerError('away', 'others used this key faster than it signs');
      made.set(error.digest, await signer.sign(error.digest, limitMs));
    }
  }
}

const MOST_TRIES = 3;

class SignatureWanted extends Error {
  readonly digest: Hex;
  constructor(digest: Hex) {
    super('a signature is made outside of the database transaction');
    this.digest = digest;
  }
}

/** Header of a SubjectPublicKeyInfo of secp256k1, uncompressed; 64 bytes follow. */
const SPKI = Buffer.from('3056301006072a8648ce3d020106052b8104000a03420004', 'hex');

function addressOfPublicKey(spki: Buffer): Address {
  if (spki.length !== SPKI.length + 64 || !spki.subarray(0, SPKI.length).equals(SPKI)) {
    throw new SignerError('refused', 'the key is not one of secp256k1 (AWS: ECC_SECG_P256K1, GCP: EC_SIGN_SECP256K1_SHA256)');
  }
  return `0x${keccak256(spki.subarray(SPKI.length)).toString('hex', 12)}`;
}

/** r, s and parity of a DER signature by this address; s is brought to the lower half. */
function signatureOf(der: Uint8Array, digest: Uint8Array, address: Address): DigestSignature {
  try {
    const compact = secp256k1.signatureNormalize(secp256k1.signatureImport(der));
    for (const yParity of [0, 1] as const) {
      const publicKey = secp256k1.ecdsaRecover(compact, yParity, digest, false);
      if (`0x${keccak256(publicKey.subarray(1)).toString('hex', 12)}` !== address) continue;
      const text = Buffer.from(compact).toString('hex');
      return { r: `0x${text.slice(0, 64)}`, s: `0x${text.slice(64)}`, yParity };
    }
  } catch (cause) {
    throw new SignerError('refused', `what was given for ${address} is no signature`, { cause });
  }
  throw new SignerError('refused', `the signature is not by the key of ${address}`);
}

async function bounded<T>(limitMs: number, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(limitMs);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no answer within ${limitMs} ms`)), { once: true });
  });
  try {
    return await Promise.race([ask(signal), late]);
  } catch (cause) {
    throw new SignerError('away', `the key service gives no answer: ${(cause as Error).message}`, { cause });
  }
}
