import type { SecretBox } from '../../adapters/tokens/secretBox.ts';
import type { Database } from '../../db/database.ts';
import { listCreditsTokensNotUnder, resealCreditsToken } from '../../db/tenants/creditsTokens.ts';
import { listSecretsNotUnder, resealRow } from '../../db/webhooks/sealing.ts';
import { creditsTokenContext } from '../credits/token.ts';
import { secretContext } from '../webhooks/secret.ts';

const BATCH = 200;

/** What came of a rotation; `unreadable` names what neither key opens: a secret of an endpoint, or (null) the token of a site's credits API. */
export interface Resealed {
  readonly resealed: number;
  readonly unreadable: readonly Unreadable[];
}

type Unreadable = { readonly tenantId: string; readonly endpointId: string | null };

interface SealedParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
}

/**
 * Seals every webhook secret that still signs and every token of a credits API, where it is not known to be under the present SECRETS_KEY, anew
 * with that key; the secrets stay the same. Row by row beside live traffic: a secret that is rotated or ends meanwhile is left as it is. Again: does what is left.
 */
export async function resealSecrets(parts: SealedParts): Promise<Resealed> {
  const [ofEndpoints, ofCredits] = [await resealEndpoints(parts), await resealCredits(parts)];
  return {
    resealed: ofEndpoints.resealed + ofCredits.resealed,
    unreadable: [...ofEndpoints.unreadable, ...ofCredits.unreadable],
  };
}

async function resealCredits({ database, secretBox }: SealedParts): Promise<Resealed> {
  const { keyId } = secretBox;
  let resealed = 0;
  const unreadable: Unreadable[] = [];
  let after: string | null = null;
  for (;;) {
    const rows = await listCreditsTokensNotUnder(database, keyId, { after, limit: BATCH });
    for (const { tenantId, origin, sealed } of rows) {
      const context = creditsTokenContext(tenantId, origin);
      const token = openOrNull(secretBox, sealed, context);
      if (token === null) unreadable.push({ tenantId, endpointId: null });
      else {
        const next = { sealed: secretBox.seal(token, context), keyId };
        if (await resealCreditsToken(database, { tenantId, sealed }, next)) resealed += 1;
      }
    }
    after = rows.at(-1)?.tenantId ?? null;
    if (rows.length < BATCH) return { resealed, unreadable };
  }
}

async function resealEndpoints({ database, secretBox }: SealedParts): Promise<Resealed> {
  let resealed = 0;
  const unreadable: Unreadable[] = [];
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
