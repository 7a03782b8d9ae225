/** Access tokens: the short JWS under which a held licence is used. */

import type { SettlementRefKind } from '../licence/licence.ts';
import { audienceOf } from '../licence/licence.ts';
import type { Address } from '../money/legs.ts';
import { microToJson } from '../money/money.ts';
import type { CrossingKind } from '../terms.ts';

/** More granted pages than this stand in a token as a hash, and storage decides. */
export const MAX_LISTED_PAGES = 64;
/** Longest token, in characters; the same limit that a check puts on what it reads. */
export const MAX_TOKEN_CHARS = 4_096;
const HEADER_AND_SIGNATURE_CHARS = 220;

/** Everything an access token is made of; the same facts give the same token, byte for byte. Times in seconds. */
export interface AccessFacts {
  readonly issuer: string;
  /** The site that sold the licence. */
  readonly tenantId: string;
  readonly host: string;
  readonly accountId: string;
  readonly licenceJti: string;
  readonly jti: string;
  readonly kid: string;
  readonly issuedAtSeconds: number;
  readonly notBeforeSeconds: number;
  readonly expiresAtSeconds: number;
  readonly kind: CrossingKind;
  readonly terms: readonly string[];
  /** Exact patterns of the pages it covers, ascending. */
  readonly patterns: readonly string[];
  readonly period: { readonly fromMs: number; readonly untilMs: number };
  readonly holder: Address | null;
  readonly priceMicro: bigint;
  readonly network: string;
  readonly settlementRef: string | null;
  readonly settlementRefKind: SettlementRefKind;
  readonly legs: readonly { readonly toAddress: Address; readonly amountMicro: bigint }[];
}

/** Claims, and whether the pages are in them or only their hash. */
export interface AccessClaims {
  readonly claims: object;
  readonly isByHash: boolean;
}

/** The claims of an access token; `hash` gives the digest of a text. At most 64 pages stand in it, fewer when it would pass 4 KB. */
export function accessClaims(facts: AccessFacts, hash: (text: string) => string): AccessClaims {
  if (facts.patterns.length <= MAX_LISTED_PAGES) {
    const claims = claimsWith(facts, { patterns: facts.patterns }, hash);
    const chars = Math.ceil((new TextEncoder().encode(JSON.stringify(claims)).length * 4) / 3) + HEADER_AND_SIGNATURE_CHARS;
    if (chars <= MAX_TOKEN_CHARS) return { claims, isByHash: false };
  }
  const pagesHash = hash(JSON.stringify(facts.patterns));
  return { claims: claimsWith(facts, { pagesHash }, hash), isByHash: true };
}

/** The second at which a token minted at `nowMs` ends: after `lifeSeconds`, and never after the period. */
export function accessEndSeconds(
  period: { readonly fromMs: number; readonly untilMs: number },
  nowMs: number,
  lifeSeconds: number,
) {
  const beginsMs = Math.max(nowMs, period.fromMs);
  return Math.min(Math.floor(beginsMs / 1000) + lifeSeconds, Math.floor(period.untilMs / 1000));
}

function claimsWith(facts: AccessFacts, scope: object, hash: (text: string) => string): object {
  const payees = facts.legs.map(({ toAddress, amountMicro }) => [toAddress, String(amountMicro)]);
  return {
    iss: facts.issuer,
    aud: audienceOf(facts.host),
    sub: facts.accountId,
    jti: facts.jti,
    iat: facts.issuedAtSeconds,
    nbf: facts.notBeforeSeconds,
    exp: facts.expiresAtSeconds,
    ...(facts.holder === null ? {} : { cnf: { address: facts.holder } }),
    svc: {
      v: 1,
      grant: 'read',
      site: facts.tenantId,
      kind: facts.kind,
      licence: facts.licenceJti,
      scope,
      terms: facts.terms,
      period: { from: Math.floor(facts.period.fromMs / 1000), until: Math.floor(facts.period.untilMs / 1000) },
      amountMicro: microToJson(facts.priceMicro),
      currency: 'USDC',
      network: facts.network,
      settlementRef: facts.settlementRef,
      settlementRefKind: facts.settlementRefKind,
      payeesHash: hash(JSON.stringify(payees)),
    },
  };
}
