import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../kernel/errors.ts';
import { countValidSecrets, replaceSecret } from '../store/secrets.ts';
import type { EndpointDeps } from './endpoints.ts';
import { getLockedEndpoint } from './endpoints.ts';
import { createWebhookSecret, secretContext } from './secret.ts';

/** How long the secrets before it sign beside a new one. */
const OVERLAP_MS = 24 * 3_600_000;
/** Most secrets that sign at once: a header of bounded length, however often an owner rotates. */
const MAX_SECRETS = 4;

/**
 * Gives an endpoint a new secret, shown in this answer and never again. For `overlapMs` (24 h unless told; 0 for a secret that
 * leaked) the one before signs as well, in the same headers. Throws `not_found`, `invalid_parameter`, and `conflict` when four
 * secrets sign already. Each call makes a further secret.
 */
export async function rotateSecret(
  deps: Pick<EndpointDeps, 'database' | 'secretBox'>,
  tenantId: string,
  endpointId: string,
  overlapMs: number = OVERLAP_MS,
): Promise<{ readonly secret: string }> {
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > OVERLAP_MS) {
    throw new ServiceError('invalid_parameter', 'overlapMs must be 0 to 24 hours', { parameter: 'overlapMs' });
  }
  const secret = createWebhookSecret();
  const sealed = deps.secretBox.seal(secret, secretContext(tenantId, endpointId));
  await deps.database.transaction(async (sql) => {
    await getLockedEndpoint(sql, tenantId, endpointId);
    if (overlapMs > 0 && (await countValidSecrets(sql, tenantId, endpointId)) >= MAX_SECRETS) {
      throw new ServiceError('conflict', `${MAX_SECRETS} secrets are already signing; wait, or retire them with an overlap of 0`);
    }
    await replaceSecret(sql, { tenantId, endpointId, secretId: randomUUID(), sealed, keyId: deps.secretBox.keyId }, overlapMs);
  });
  return { secret };
}
