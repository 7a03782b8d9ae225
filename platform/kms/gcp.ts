/** A secp256k1 key version of Google Cloud KMS (EC_SIGN_SECP256K1_SHA256), by its resource name; credentials are Google's default ones. */
import { createPublicKey } from 'node:crypto';

const ENDPOINT = 'https://cloudkms.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/cloudkms';

/** Where to ask, and who may give the token, in place of Google's own. */
interface GcpOptions {
  readonly endpoint?: string;
  readonly token?: () => Promise<string>;
}

/** Opens the client; nothing is asked yet. */
export async function openGcpKey(name: string, options: GcpOptions = {}) {
  const token = options.token ?? (await defaultToken());
  const base = `${options.endpoint ?? ENDPOINT}/v1/${name}`;
  const ask = async (path: string, signal: AbortSignal, body?: unknown): Promise<Record<string, string>> => {
    const response = await fetch(`${base}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal,
    });
    if (!response.ok) throw new Error(`Cloud KMS answers ${response.status}`);
    return (await response.json()) as Record<string, string>;
  };
  return {
    publicKey: async (signal: AbortSignal): Promise<Uint8Array> => {
      const { pem = '' } = await ask('/publicKey', signal);
      return createPublicKey(pem).export({ format: 'der', type: 'spki' });
    },
    sign: async (digest: Uint8Array, signal: AbortSignal): Promise<Uint8Array> => {
      const asked = { digest: { sha256: Buffer.from(digest).toString('base64') } };
      return Buffer.from((await ask(':asymmetricSign', signal, asked))['signature'] ?? '', 'base64');
    },
  };
}

/** Tokens by Application Default Credentials; kept by the library until they end. */
async function defaultToken(): Promise<() => Promise<string>> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({ scopes: [SCOPE] });
  return async () => (await auth.getAccessToken()) ?? '';
}
