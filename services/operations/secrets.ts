import type { SecretBox } from '../../adapters/secretBox.ts';
import type { Database } from '../../db/database.ts';
import { listSecretsNotUnder, resealRow } from '../../db/webhooks/sealing.ts';
import { secretContext } from '../webhooks/secret.ts';

const BATCH = 200;

/** What came of a rotation; `unreadable` names endpoints with a secret that neither key opens. */
export interface Resealed {
  readonly resealed: number;
  readonly unreadable: readonly { readonly tenantId: string; readonly endpointId: string }[];
}

/**
 * Seals every webhook secret that still signs, and is not known to be under the present SECRETS_KEY, anew with that key; the secrets stay
 * the same. Row by row beside live traffic: a secret that is rotated or ends meanwhile is left as it is. Again: does what is left.
 */
export async function resealSecrets({
  database,
  secretBox,
}: {
  readonly database: Database;
  readonly secretBox: SecretBox;
}): Promise<Resealed> {
  let resealed = 0;
  const unreadable: { tenantId: string; endpointId: string }[] = [];
  let after: string | null = null;
  for (;;) {
    const rows = await listSecretsNotUnder(database, secretBox.keyId, { after, limit: BATCH });
    for (const { tenantId, endpointId, secretId, sealed } of rows) {
      const context = secretContext(tenantId, endpointId);
      const secret = openOrNull(secretBox, sealed, context);
      if (secret === null) unreadable.push({ tenantId, endpointId });
      else {
        const next = secretBox.seal(secret, context);
        if (await resealRow(database, { tenantId, endpointId, secretId, sealed }, { sealed: next, keyId: secretBox.keyId }))
          resealed += 1;
      }
    }
    after = rows.at(-1)?.secretId ?? null;
    if (rows.length < BATCH) return { resealed, unreadable };
  }
}

function openOrNull(box: SecretBox, sealed: Uint8Array, context: string): string | null {
  try {
    return box.open(sealed, context);
  } catch {
    return null;
  }
}
