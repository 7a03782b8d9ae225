import type { Database } from '../../../db/database.ts';
import type { Keyring, PrivateJwk } from '../../../platform/tokens/jws.ts';
import { createKeyring, publicHalf } from '../../../platform/tokens/jws.ts';
import { listSigningKeys, publishSigningKeys } from '../../identity/store/signingKeys.ts';

/** How long a new key is published before it signs: everyone who caches the key set knows it by then. */
const NEXT_AFTER_MS = 24 * 3_600_000;

/**
 * Opens the keyring of this process: publishes the public halves of its private keys and reads when each signs. The first key
 * ever signs at once, a later one a day after it is first seen. Without private keys it verifies, and signing is unavailable.
 */
export async function openKeyring(
  database: Database,
  options: { readonly privateKeys: readonly PrivateJwk[]; readonly clock: () => number; readonly nextAfterMs?: number },
): Promise<Keyring> {
  const keyring = await createKeyring(options);
  const halves = await Promise.all(options.privateKeys.map(publicHalf));
  const at = new Date(options.clock());
  await keyring.schedule(await publishSigningKeys(database, halves, at, options.nextAfterMs ?? NEXT_AFTER_MS));
  return keyring;
}

/** Takes over what other processes published or retired meanwhile. */
export async function refreshKeyring(database: Database, keyring: Keyring): Promise<void> {
  await keyring.schedule(await listSigningKeys(database));
}
