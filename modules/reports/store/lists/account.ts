import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isWithin, timeOf, timeOrNull } from '../../../paging/store/source.ts';

/** A publisher key as its owner sees it; never the secret, nor its hash. */
export interface KeyShown {
  readonly keyId: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
}

/** Keys of a site, revoked and expired ones included. */
export const KEYS: Source<KeyShown, { readonly id?: string; readonly activeAtMs?: number }> = {
  columns: 'k.key_id, k.name, k.prefix, k.last4, k.scopes, k.expires_at, k.revoked_at, k.last_used_at, k.created_at',
  from: 'api_key k',
  tenant: 'k.tenant_id',
  id: { column: 'k.key_id', type: 'uuid' },
  orderings: {
    NEWEST: { column: 'k.created_at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'k.created_at', type: 'timestamptz', direction: 'asc' },
  },
  keys: { id: { column: 'k.key_id', type: 'uuid' } },
  where: (binder, filter) => [
    ...equals(binder, 'k.key_id', filter.id),
    ...(filter.activeAtMs === undefined
      ? []
      : [
          `k.revoked_at is null and (k.expires_at is null or k.expires_at > ${binder.bind(new Date(filter.activeAtMs))}::timestamptz)`,
        ]),
  ],
  read: (row) => ({
    keyId: row['key_id'],
    name: row['name'],
    prefix: row['prefix'],
    last4: row['last4'],
    scopes: row['scopes'],
    expiresAtMs: timeOrNull(row['expires_at']),
    revokedAtMs: timeOrNull(row['revoked_at']),
    lastUsedAtMs: timeOrNull(row['last_used_at']),
    createdAtMs: timeOf(row['created_at']),
  }),
};

/** One change an owner made. */
export interface AuditLogRow {
  readonly entryId: string;
  readonly actorId: string;
  readonly actorVia: string;
  readonly action: string;
  readonly target: string | null;
  /** JSON text of what differs; null: there was, or is, nothing. */
  readonly before: string | null;
  readonly after: string | null;
  readonly atMs: number;
}

/** Which changes. */
export interface AuditLogFilter {
  readonly id?: string;
  readonly action?: string | null | undefined;
  readonly actorId?: string | null | undefined;
  readonly target?: string | null | undefined;
  readonly window?: Span;
}

/** The audit log of a site. */
export const AUDIT_LOG: Source<AuditLogRow, AuditLogFilter> = {
  columns: 'g.entry_id, g.actor_id, g.actor_via, g.action, g.target, g.before::text, g.after::text, g.at',
  from: 'audit_log g',
  tenant: 'g.tenant_id',
  id: { column: 'g.entry_id', type: 'uuid' },
  orderings: {
    NEWEST: { column: 'g.at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'g.at', type: 'timestamptz', direction: 'asc' },
  },
  keys: {},
  where: (binder, filter) => [
    ...equals(binder, 'g.entry_id', filter.id),
    ...equals(binder, 'g.action', filter.action),
    ...equals(binder, 'g.actor_id', filter.actorId),
    ...equals(binder, 'g.target', filter.target),
    ...isWithin(binder, 'g.at', filter.window),
  ],
  read: (row) => ({
    entryId: row['entry_id'],
    actorId: row['actor_id'],
    actorVia: row['actor_via'],
    action: row['action'],
    target: row['target'],
    before: row['before'],
    after: row['after'],
    atMs: timeOf(row['at']),
  }),
};

/** A host of a site: proven, or on its way there. */
export interface HostRow {
  readonly host: string;
  readonly position: number | null;
  readonly verifiedAtMs: number | null;
  readonly routingVerifiedAtMs: number | null;
  readonly checkedAtMs: number | null;
  readonly lastReason: string | null;
  readonly nextCheckAtMs: number | null;
  readonly failingSinceMs: number | null;
  readonly hasChallenge: boolean;
}

/** Hosts of a site and hosts it has opened a challenge for. */
export const HOSTS: Source<HostRow, { readonly host?: string | null | undefined; readonly verified?: boolean | null }> = {
  columns: `h.host, t.position, t.verified_at, t.routing_verified_at, q.checked_at, q.last_reason, q.next_check_at,
    q.failing_since, q.host is not null as has_challenge`,
  from: `(select tenant_id, host from tenant_host union select tenant_id, host from host_challenge) h
    left join tenant_host t on t.tenant_id = h.tenant_id and t.host = h.host
    left join host_challenge q on q.tenant_id = h.tenant_id and q.host = h.host`,
  tenant: 'h.tenant_id',
  id: { column: 'h.host', type: 'text' },
  orderings: { NAME: { column: 'h.host', type: 'text', direction: 'asc' } },
  keys: { host: { column: 'h.host', type: 'text' } },
  where: (binder, filter) => [
    ...equals(binder, 'h.host', filter.host),
    ...(filter.verified === undefined || filter.verified === null
      ? []
      : [`(t.verified_at is not null) = ${binder.bind(filter.verified)}`]),
  ],
  read: (row) => ({
    host: row['host'],
    position: row['position'],
    lastReason: row['last_reason'],
    hasChallenge: row['has_challenge'],
    verifiedAtMs: timeOrNull(row['verified_at']),
    routingVerifiedAtMs: timeOrNull(row['routing_verified_at']),
    checkedAtMs: timeOrNull(row['checked_at']),
    nextCheckAtMs: timeOrNull(row['next_check_at']),
    failingSinceMs: timeOrNull(row['failing_since']),
  }),
};
