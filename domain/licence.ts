/** Licences as claims: what a re-read licence says, and what a presented one entitles to (decisions §2, RFC 7519, RFC 8725). */
import type { Address } from './legs.ts';
import { microToJson } from './money.ts';
import { matchesPattern } from './pattern.ts';
import type { CrossingKind } from './terms.ts';

/** Where a settlement reference points: a transaction, a facilitator's id, test output, or nowhere. */
export type SettlementRefKind = 'txHash' | 'transferId' | 'mock' | 'none';

/** Everything a re-read licence is made of; the same facts give the same licence, byte for byte. */
export interface ReReadFacts {
  /** The tenant's `license_issuer`, or our base address. */
  readonly issuer: string;
  readonly host: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly payer: Address;
  /** CAIP-2 id. */
  readonly network: string;
  readonly amountMicro: bigint;
  readonly settlementRef: string | null;
  readonly settlementRefKind: SettlementRefKind;
  /** The legs that were paid. */
  readonly payees: readonly { readonly toAddress: Address; readonly amountMicro: bigint }[];
  readonly jti: string;
  readonly issuedAtSeconds: number;
  readonly expiresAtSeconds: number;
  readonly kid: string;
}

/** Claims of a re-read licence. */
export interface ReReadClaims {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
  readonly jti: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly svc: Readonly<Record<string, unknown>>;
}

/** More payees than this stand as a hash, so that a licence stays under 4 KB. */
const MAX_LISTED_PAYEES = 8;
/** How far clocks may differ for `nbf` and `iat`, in seconds; none is granted for `exp`. */
const SKEW_SECONDS = 60;

/** The claims of a re-read licence; `hash` gives the digest of a text, used when there are too many payees to list. */
export function reReadClaims(facts: ReReadFacts, hash: (text: string) => string): ReReadClaims {
  const payees = facts.payees.map(({ toAddress, amountMicro }) => ({ toAddress, amountMicro: microToJson(amountMicro) }));
  return {
    iss: facts.issuer,
    aud: audienceOf(facts.host),
    sub: `${facts.network}:${facts.payer}`,
    jti: facts.jti,
    iat: facts.issuedAtSeconds,
    nbf: facts.issuedAtSeconds,
    exp: facts.expiresAtSeconds,
    svc: {
      v: 1,
      grant: 'read',
      kind: facts.kind,
      slug: facts.slug,
      amountMicro: microToJson(facts.amountMicro),
      currency: 'USDC',
      network: facts.network,
      settlementRef: facts.settlementRef,
      settlementRefKind: facts.settlementRefKind,
      ...(payees.length <= MAX_LISTED_PAYEES ? { payees } : { payeesHash: hash(JSON.stringify(payees)) }),
    },
  };
}

/** The audience of licences for a host. */
export function audienceOf(host: string): string {
  return `https://${host}`;
}

/** What a check asks of a licence. */
export interface EntitlementQuestion {
  readonly issuer: string;
  readonly host: string;
  /** Path of the resource, decoded. */
  readonly path: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly nowSeconds: number;
  /** A live site refuses licences of test mode: nothing was paid for them. */
  readonly mode: 'live' | 'mock';
}

/**
 * True when claims whose signature was proven entitle to what is asked: exact issuer and audience, not expired (the second of
 * `exp` is expired), begun (60 s of skew), a kind that covers the one asked (a citation includes reading), and either a scope
 * that covers the path or the very slug. Whatever is missing, malformed, or bound to a holder who gave no proof: false.
 */
export function isEntitled(claims: object, question: EntitlementQuestion): boolean {
  const { iss, aud, exp, nbf, iat, jti, svc, cnf } = claims as Record<string, unknown>;
  if (iss !== question.issuer || aud !== audienceOf(question.host)) return false;
  if (typeof jti !== 'string' || jti === '' || cnf !== undefined) return false;
  if (!isSeconds(exp) || !isSeconds(nbf) || !isSeconds(iat)) return false;
  if (question.nowSeconds >= exp) return false;
  if (nbf > question.nowSeconds + SKEW_SECONDS || iat > question.nowSeconds + SKEW_SECONDS) return false;
  if (typeof svc !== 'object' || svc === null) return false;
  const { v, grant, kind, slug, scope, settlementRefKind } = svc as Record<string, unknown>;
  if (v !== 1 || grant !== 'read') return false;
  if (question.mode === 'live' && settlementRefKind === 'mock') return false;
  if (kind !== 'citation' && !(kind === 'read' && question.kind === 'read')) return false;
  return scope === undefined ? slug === question.slug : coversPath(scope, question.path);
}

function coversPath(scope: unknown, path: string): boolean {
  const patterns = (scope as { patterns?: unknown } | null)?.patterns;
  return Array.isArray(patterns) && patterns.some((pattern) => typeof pattern === 'string' && matchesPattern(pattern, path));
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
