/** What a publisher key may do: plan, scopes, the site's status, and the order they are asked in. */
import type { ErrorCode } from '../errors.ts';
import { ServiceError } from '../errors.ts';

/** Every scope a publisher key can carry. */
export const SCOPES = ['tenant.read', 'earnings.read.all', 'audit.read', 'member.read', 'domain.manage'] as const;
/** One right of a publisher key. */
export type Scope = (typeof SCOPES)[number];

/** The scopes an owner may give a key. `domain.manage` is not among them: only a connect key has it. */
export const MINTABLE_SCOPES = [
  'tenant.read',
  'earnings.read.all',
  'audit.read',
  'member.read',
] as const satisfies readonly Scope[];
/** A scope that an owner may give. */
export type MintableScope = (typeof MINTABLE_SCOPES)[number];

/** Plans, lowest first; no plan counts as `free`. */
export const PLANS = ['free', 'starter', 'studio', 'scale', 'enterprise'] as const;
/** A tenant's plan. */
export type Plan = (typeof PLANS)[number];

/** A tenant's status. */
export type TenantStatus = 'pending' | 'active' | 'suspended' | 'closed';

/** What a decision about a key rests on; times are epoch milliseconds. */
export interface KeyState {
  readonly tenantId: string;
  readonly keyId: string;
  /** `mock` for test keys, whose settlements never count as money. */
  readonly mode: 'live' | 'mock';
  readonly scopes: readonly Scope[];
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly plan: Plan | null;
  readonly status: TenantStatus;
  /** The tenant's version, so that a caller can tell whether its copy of the tenant is current. */
  readonly version: number;
}

/** True when the plan includes API access: Studio and above. */
export function hasApiAccess(plan: Plan | null): boolean {
  return PLANS.indexOf(plan ?? 'free') >= PLANS.indexOf('studio');
}

/**
 * Lets a call with this key through or throws, in this order: 401 unknown, revoked, expired, site closed → 403 plan gate →
 * 403 site suspended → 403 scope. The same sentence for every 401, so that a guess learns nothing.
 */
export function requireAccess(key: KeyState | null, scope: Scope, nowMs: number): KeyState {
  const refusal = findRefusal(key, scope, nowMs);
  if (!key || refusal) throw new ServiceError(...(refusal ?? UNKNOWN));
  return key;
}

const UNKNOWN = ['unknown_credential', 'the API key is not recognised'] as const;

/** Why `requireAccess` would throw: code and sentence; null when it would not. */
export function findRefusal(key: KeyState | null, scope: Scope, nowMs: number): readonly [ErrorCode, string] | null {
  const isDead = !key || key.revokedAtMs !== null || (key.expiresAtMs !== null && nowMs >= key.expiresAtMs);
  if (isDead || key.status === 'closed') return UNKNOWN;
  if (!hasApiAccess(key.plan)) return ['plan_gate', 'API access needs the Studio plan or above'];
  if (key.status === 'suspended') return ['site_suspended', 'this site is suspended'];
  return key.scopes.includes(scope) ? null : ['scope_missing', `this key lacks the scope ${scope}`];
}
