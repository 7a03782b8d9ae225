import { randomUUID } from 'node:crypto';
import type { ReReadFacts } from '../../modules/kernel/licence/licence.ts';
import { WALLETS } from './api.ts';
import type { TestApi } from './buyers.ts';

/** What a licence to read `solo` of a site again for ten minutes says, as verify answers it; `changes` says otherwise. */
export function reReadFacts(
  { deps }: TestApi,
  { tenantId, host }: Pick<ReReadFacts, 'tenantId' | 'host'>,
  changes: Partial<ReReadFacts> = {},
): ReReadFacts {
  const nowSeconds = Math.floor(deps.clock() / 1000);
  return {
    issuer: deps.baseUrl,
    tenantId,
    host,
    slug: 'solo',
    kind: 'read',
    payer: WALLETS[1]!,
    network: 'eip155:84532',
    amountMicro: 1_000n,
    settlementRef: `0x${'1'.repeat(64)}`,
    settlementRefKind: 'txHash',
    payees: [],
    jti: randomUUID(),
    kid: deps.keyring.current().kid,
    issuedAtSeconds: nowSeconds,
    expiresAtSeconds: nowSeconds + 600,
    ...changes,
  };
}
