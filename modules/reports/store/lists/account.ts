import type { RowOf } from '../../../../db/shown.ts';
import { both, columnsOf, columnsOfAny, workedOut } from '../../../../db/shown.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isWithin } from '../../../paging/store/source.ts';

const KEY = columnsOf('api_key k', [
  'keyId',
  'name',
  'prefix',
  'last4',
  'scopes',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
  'createdAt',
]);
/** A publisher key as its owner sees it; never the secret, nor its hash. */
export type KeyShown = RowOf<typeof KEY>;

/** Keys of a site, revoked and expired ones included. */
export const KEYS: Source<KeyShown, { readonly id?: string; readonly activeAtMs?: number }> = {
  columns: KEY,
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
};

/** Which changes. */
export interface AuditLogFilter {
  readonly id?: string;
  readonly action?: string | null | undefined;
  readonly actorId?: string | null | undefined;
  readonly target?: string | null | undefined;
  readonly window?: Span;
}

const ENTRY = both(
  columnsOf('audit_log g', ['entryId', 'actorId', 'actorVia', 'action', 'target', 'at']),
  workedOut<{ readonly before: string | null; readonly after: string | null }>('g.before::text, g.after::text'),
);
/** One change an owner made; `before` and `after` are the JSON text of what differs, null where there was, or is, nothing. */
export type AuditLogRow = RowOf<typeof ENTRY>;

/** The audit log of a site. */
export const AUDIT_LOG: Source<AuditLogRow, AuditLogFilter> = {
  columns: ENTRY,
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
};

const HOST = both(
  both(
    columnsOfAny('tenant_host t', ['position', 'verifiedAt', 'routingVerifiedAt']),
    columnsOfAny('host_challenge q', ['checkedAt', 'lastReason', 'nextCheckAt', 'failingSince']),
  ),
  workedOut<{ readonly host: string; readonly hasChallenge: boolean }>('h.host, q.host is not null as "hasChallenge"'),
);
/** A host of a site: proven, or on its way there. */
export type HostRow = RowOf<typeof HOST>;

/** Hosts of a site and hosts it has opened a challenge for. */
export const HOSTS: Source<HostRow, { readonly host?: string | null | undefined; readonly verified?: boolean | null }> = {
  columns: HOST,
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
};
