/** Licences as claims: what a re-read licence says, and what a presented one entitles to. */
import type { Address } from '../money/legs.ts';
import { microToJson } from '../money/money.ts';
import { matchesPattern } from '../pages/pattern.ts';
import { canonicalPath } from '../pages/scope.ts';
import type { CrossingKind } from '../terms.ts';

/** Where a settlement reference points: a transaction, a facilitator's id, test output, or nowhere. */
export type SettlementRefKind = 'txHash' | 'transferId' | 'mock' | 'none';

/** Everything a re-read licence is made of; the same facts give the same licence, byte for byte. */
export interface ReReadFacts {
  /** The tenant's `license_issuer`, or our base address. */
  readonly issuer: string;
  /** The site that sells it. */
  readonly tenantId: string;
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

/** More payees than this stand as a hash: a licence travels in a header beside a receipt, whose public record names them all. */
const MAX_LISTED_PAYEES = 1;
/** Life of a re-read licence, unless its site grants more, and of an access token. */
export const LICENCE_LIFE_SECONDS = 600;
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
      site: facts.tenantId,
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
  /** The site that asks. */
  readonly tenantId: string;
  readonly host: string;
  /** Path of the resource, decoded. */
  readonly path: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly nowSeconds: number;
  /** A live site refuses licences of test mode: nothing was paid for them. */
  readonly mode: 'live' | 'mock';
}

/** What a licence grants, as far as its claims decide; what is left to ask stands in the members. */
export interface Entitlement {
  readonly jti: string;
  /** The licence that an access token was minted under; null for a re-read licence. */
  readonly licenceJti: string | null;
  /** Who must prove to hold it (`cnf`, RFC 7800); null: its bearer. */
  readonly holder: Address | null;
  /** True when the pages it covers are too many to stand in it: storage must be asked. */
  readonly isByHash: boolean;
  /** False for a token made before tokens named the site that sold them: storage must be asked who did. */
  readonly namesTenant: boolean;
  readonly issuedAtSeconds: number;
  readonly expiresAtSeconds: number;
}

/** What a token says, wherever on its site it is shown. */
export interface LiveToken {
  readonly entitlement: Entitlement;
  readonly kind: CrossingKind;
  readonly slug: unknown;
  /** Undefined: it is of the page of its slug. */
  readonly scope: unknown;
}

/**
 * What claims whose signature was proven are on a site: exact issuer and audience, sold by the site that asks (a host may
 * have had another owner, whose sales are not the next one's), not expired (the second of `exp` is expired), begun (60 s of skew).
 * Null for whatever is missing or malformed.
 */
export function findLive(claims: object, question: Omit<EntitlementQuestion, 'path' | 'slug' | 'kind'>): LiveToken | null {
  const { iss, aud, exp, nbf, iat, jti, svc, cnf } = claims as Record<string, unknown>;
  if (iss !== question.issuer || aud !== audienceOf(question.host)) return null;
  if (typeof jti !== 'string' || jti === '') return null;
  if (!isSeconds(exp) || !isSeconds(nbf) || !isSeconds(iat)) return null;
  if (question.nowSeconds >= exp) return null;
  if (nbf > question.nowSeconds + SKEW_SECONDS || iat > question.nowSeconds + SKEW_SECONDS) return null;
  if (typeof svc !== 'object' || svc === null) return null;
  const { v, grant, site: tenantId, kind, slug, scope, settlementRefKind, licence } = svc as Record<string, unknown>;
  if (v !== 1 || grant !== 'read') return null;
  if (tenantId !== undefined && tenantId !== question.tenantId) return null;
  if (question.mode === 'live' && settlementRefKind === 'mock') return null;
  if (kind !== 'citation' && kind !== 'read') return null;
  if (licence !== undefined && !isUuid(licence)) return null;
  const holder = cnf === undefined ? null : holderOf(cnf);
  if (holder === undefined) return null;
  const { patterns, pagesHash } = (scope ?? {}) as Record<string, unknown>;
  const isByHash = scope !== undefined && patterns === undefined && typeof pagesHash === 'string' && licence !== undefined;
  const entitlement = {
    jti,
    licenceJti: licence ?? null,
    holder,
    isByHash,
    namesTenant: tenantId !== undefined,
    issuedAtSeconds: iat,
    expiresAtSeconds: exp,
  };
  return { entitlement, kind, slug, scope };
}

/**
 * What a token that is live on this site (`findLive`) grants of what is asked: a kind that covers the one asked (a citation includes
 * reading), and either a scope that covers the path or the very slug; a token with a scope never falls back to its slug. Null for nothing.
 */
export function findEntitlement(claims: object, question: EntitlementQuestion): Entitlement | null {
  const live = findLive(claims, question);
  if (!live) return null;
  const { entitlement, kind, slug, scope } = live;
  if (kind !== 'citation' && question.kind !== 'read') return null;
  if (scope === undefined) return slug === question.slug ? entitlement : null;
  if (entitlement.isByHash) return entitlement;
  const { patterns } = (scope ?? {}) as Record<string, unknown>;
  return coversPath(patterns, question.path) ? entitlement : null;
}

function coversPath(patterns: unknown, path: string): boolean {
  if (!Array.isArray(patterns)) return false;
  const canonical = canonicalPath(path);
  return patterns.some((pattern) => typeof pattern === 'string' && matchesPattern(pattern, canonical));
}

/** The address of a `cnf`; undefined for one that is not ours. */
function holderOf(cnf: unknown): Address | undefined {
  const address = (cnf as { address?: unknown } | null)?.address;
  return typeof address === 'string' && /^0x[0-9a-f]{40}$/.test(address) ? (address as Address) : undefined;
}

function isUuid(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
