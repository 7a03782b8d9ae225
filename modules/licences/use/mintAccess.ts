import { createHash } from 'node:crypto';
import type { Database } from '../../../db/database.ts';
import type { LicenceSigner } from '../../../platform/tokens/jws.ts';
import { accessClaims } from '../../kernel/access/accessToken.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { exactPattern } from '../../kernel/pages/scope.ts';
import type { LicenceRecord } from '../store/licences.ts';
import { keepAccessScope } from '../store/licences.ts';

/** What is fixed for one token; times in seconds. */
export interface TokenFacts {
  readonly issuer: string;
  readonly jti: string;
  readonly kid: string;
  readonly issuedAtSeconds: number;
  readonly expiresAtSeconds: number;
  /** The pages it is narrowed to, canonical and ascending; null: all of the licence. */
  readonly paths: readonly string[] | null;
  readonly holder: Address | null;
}

/**
 * Mints an access token under a licence, from rows and facts alone: the same give the same bytes (safety 16). A token whose pages
 * do not fit into it leaves its scope in storage. Throws signing_key_unavailable.
 */
export async function mintAccessToken(
  deps: { readonly database: Database; readonly signer: LicenceSigner },
  licence: LicenceRecord,
  facts: TokenFacts,
): Promise<{ readonly license: string; readonly patterns: readonly string[] }> {
  const patterns = (facts.paths ?? licence.paths).map(exactPattern);
  const period = { fromMs: licence.periodFrom.getTime(), untilMs: licence.periodUntil.getTime() };
  const { claims, isByHash } = accessClaims(
    {
      issuer: facts.issuer,
      tenantId: licence.tenantId,
      host: licence.host,
      accountId: licence.accountId,
      licenceJti: licence.jti,
      jti: facts.jti,
      kid: facts.kid,
      issuedAtSeconds: facts.issuedAtSeconds,
      notBeforeSeconds: Math.max(facts.issuedAtSeconds, Math.floor(period.fromMs / 1000)),
      expiresAtSeconds: facts.expiresAtSeconds,
      kind: licence.kind,
      terms: licence.terms,
      patterns,
      period,
      holder: facts.holder,
      priceMicro: licence.priceMicro,
      network: licence.network,
      settlementRef: licence.txHash,
      settlementRefKind: licence.txHash === null ? 'none' : 'txHash',
      legs: licence.legs,
    },
    sha256,
  );
  if (isByHash) {
    const { tenantId, jti: licenceJti } = licence;
    const expiresAt = new Date(facts.expiresAtSeconds * 1000);
    await keepAccessScope(deps.database, { tenantId, jti: facts.jti, licenceJti, paths: facts.paths, expiresAt });
  }
  return { license: await deps.signer.sign(facts.kid, claims), patterns };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
