import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/** Keeps secrets that we must be able to read again; `context` binds a sealed value to its row. */
export interface SecretBox {
  /** Check value of the key that seals: tells keys apart and gives none away. */
  readonly keyId: string;
  /** Sealed bytes: version, nonce, tag, cipher text. Two calls give two values. */
  seal(secret: string, context: string): Buffer;
  /** The secret again, sealed under this key or the one before. Throws for any other key, another context, or changed bytes. */
  open(sealed: Uint8Array, context: string): string;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/**
 * AES-256-GCM (NIST SP 800-38D) with a random nonce; `key` is SECRETS_KEY and seals, `previous` is SECRETS_KEY_PREVIOUS and opens only.
 * 32 bytes each, else RangeError.
 */
export function createSecretBox(key: Uint8Array | undefined, previous?: Uint8Array): SecretBox {
  if (key?.length !== 32 || (previous !== undefined && previous.length !== 32)) throw new RangeError('SECRETS_KEY has 32 bytes');
  const own = Buffer.from(key);
  const before = previous === undefined ? null : Buffer.from(previous);
  return {
    keyId: createHmac('sha256', own).update('secrets key id').digest('hex').slice(0, 8),
    seal: (secret, context) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', own, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(context, 'utf8'));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), text]);
    },
    open: (sealed, context) => {
      try {
        return openWith(own, sealed, context);
      } catch (error) {
        if (before === null) throw error;
        return openWith(before, sealed, context);
      }
    },
  };
}

function openWith(key: Buffer, sealed: Uint8Array, context: string): string {
  const bytes = Buffer.from(sealed);
  if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) throw new Error('the sealed secret cannot be read');
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(bytes.subarray(1 + NONCE_BYTES, HEAD_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
}
