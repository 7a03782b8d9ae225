import type { Keyring } from '../../../platform/tokens/jws.ts';

/** What links are signed and read with. */
export interface LinkDeps {
  readonly keyring: Pick<Keyring, 'current' | 'sign'>;
  readonly baseUrl: string;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** What reads them. */
export type LinkReader = { readonly keyring: Pick<Keyring, 'verifyNamed'> } & Pick<LinkDeps, 'baseUrl' | 'clock'>;

/** What every link says of itself; `exp` in seconds since 1970. */
interface Claims {
  readonly iss: string;
  readonly iat: number;
  readonly exp: number;
}

/**
 * Signs what a link leads to, under a name of its own, so that it passes for no licence, offer, record or other link, and none of those for it. Nothing is
 * stored: it lasts through restarts and at every process. Throws signing_key_unavailable.
 */
export async function signLink(
  { keyring, baseUrl, clock }: LinkDeps,
  name: string,
  says: object,
  seconds: number,
): Promise<{ readonly token: string; readonly expiresAtMs: number }> {
  const iat = Math.floor(clock() / 1000);
  const claims: Claims = { ...says, iss: baseUrl, iat, exp: iat + seconds };
  const { kid } = keyring.current();
  return { token: await keyring.sign(kid, claims, { kid: `${name}#${kid}` }), expiresAtMs: claims.exp * 1000 };
}

/** What a link says that was signed under a name; null for one that is not ours, or has ended. Looks at nothing but the token. */
export async function readLink<Says extends object>(
  { keyring, baseUrl, clock }: LinkReader,
  name: string,
  token: string,
): Promise<Says | null> {
  const signed = await keyring.verifyNamed(token);
  const claims = signed?.did === name ? (signed.claims as Claims & Says) : null;
  return claims === null || claims.iss !== baseUrl || claims.exp * 1000 <= clock() ? null : claims;
}
