import type { Sql, Transactional } from '../../../db/database.ts';
import { joinTransaction } from '../../../db/database.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { differenceOf } from '../../kernel/access/auditEntry.ts';
import type { TenantStatus } from '../../kernel/access/key.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { NewAuditEntry } from '../store/auditLog.ts';
import { insertAuditEntry } from '../store/auditLog.ts';
import { lockTenant } from '../store/tenants.ts';

/** Who changes something of which site. */
export interface SiteCall {
  readonly actor: Actor;
  readonly tenantId: string;
  /** The version of the site that the caller decided by: at another one nothing is changed. Left out: whatever it is. */
  readonly ifVersion?: number;
}

/** The person who runs the operator's command line under this name; the operator may change suspended sites, too. */
export function operatorNamed(userId: string): Actor {
  return { userId, via: 'operator' };
}

/** A change and how an audit log is to see it. */
export interface AuditedChange<T> {
  /** `<what>.<did>`. */
  readonly action: string;
  /** What is changed; a function where only the result knows; null: the site itself. */
  readonly target: string | null | ((result: T) => string);
  /**
   * The state as the log shows it, without any secret: before the change (result undefined), and after it. Null: there is nothing.
   */
  readonly look: (sql: Sql, result: T | undefined) => Promise<unknown>;
  /** The change itself; `database` is the open database transaction. */
  readonly make: (database: Transactional) => Promise<T>;
}

/** A change of a site. */
export interface SiteChange<T> extends AuditedChange<T> {
  /** True where a closed site may be changed: to open it again. */
  readonly mayBeClosed?: true;
}

/**
 * Makes a change of a site and its one entry in the audit log, in one database transaction: both or neither. Changes of one site
 * come one after the other. Throws not_found for a site that is not there or closed, site_suspended (an operator may change a
 * suspended site, its owner only reads it), conflict at another version than `ifVersion`, database_unavailable, and whatever the change
 * itself throws; nothing is written then.
 */
export async function changeSite<T>(
  deps: { readonly database: Transactional },
  { actor, tenantId, ifVersion }: SiteCall,
  change: SiteChange<T>,
): Promise<T> {
  return await deps.database.transaction(async (sql) => {
    const site = await lockTenant(sql, tenantId);
    requireOpen(change.mayBeClosed && site?.status === 'closed' ? 'active' : (site?.status ?? null), actor);
    requireVersion(site?.version, ifVersion);
    return await audited(sql, change, (entry) => insertAuditEntry(sql, { tenantId, actor, ...entry }));
  });
}

/**
 * Makes a change in the open database transaction `sql` and has `write` add its one entry to a log: what differs between a look before it and one
 * after. Returns the change's result; throws what the change throws, and then writes nothing.
 */
export async function audited<T>(
  sql: Sql,
  { action, target, look, make }: AuditedChange<T>,
  write: (entry: Omit<NewAuditEntry, 'tenantId' | 'actor'>) => Promise<void>,
): Promise<T> {
  const before = await look(sql, undefined);
  const result = await make(joinTransaction(sql));
  const difference = differenceOf(plainState(before), plainState(await look(sql, result)));
  await write({ action, target: typeof target === 'function' ? target(result) : target, ...difference });
  return result;
}

/** Refuses a site that is not open to this actor's changes; for work that has to be done before or outside a change. */
export async function requireOpenSite(deps: { readonly database: Transactional }, { actor, tenantId }: SiteCall): Promise<void> {
  const site = await deps.database.transaction((sql) => lockTenant(sql, tenantId));
  requireOpen(site?.status ?? null, actor);
}

function requireOpen(status: TenantStatus | null, actor: Actor): void {
  if (status === null || status === 'closed') throw new ServiceError('not_found', 'there is no such site');
  if (status === 'suspended' && actor.via !== 'operator') {
    throw new ServiceError('site_suspended', 'this site is suspended: its owner can read but not change anything');
  }
}

/** Refuses a change that was decided by what is not there any more: read under the lock, so that of two such changes one is refused. */
function requireVersion(version: number | undefined, expected: number | undefined): void {
  if (expected === undefined || version === expected) return;
  throw new ServiceError('conflict', 'somebody changed this site in the meantime: look again, then decide');
}

/** What JSON keeps of a state: times as text, nothing undefined. */
export function plainState(state: unknown): unknown {
  return state === null || state === undefined ? null : JSON.parse(JSON.stringify(state));
}
