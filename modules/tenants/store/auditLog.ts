/** The append-only logs of what owners and operators changed; rights to change or remove a row do not exist. */
import { randomUUID } from 'node:crypto';
import type { QueryResultRow } from 'pg';
import type { Sql } from '../../../db/database.ts';
import { json, run, tables } from '../../../db/statement.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import type { Page, Place } from '../../paging/store/page.ts';

/** One change to write down; `before` and `after` hold only what differs, and never a secret. */
export interface NewAuditEntry {
  readonly tenantId: string;
  readonly actor: Actor;
  /** `<what>.<did>`, for example `key.mint`. */
  readonly action: string;
  /** What of the site was changed; null: the site itself. */
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

/** Writes a change down, in the database transaction of the change. Every call adds a row. */
export async function insertAuditEntry(sql: Sql, entry: NewAuditEntry): Promise<void> {
  await run(
    sql,
    tables.insertInto('audit_log').values({ tenantId: entry.tenantId, actorVia: entry.actor.via, ...written(entry) }),
  );
}

/** The same for a change of an operator that belongs to no site. */
export async function insertOperatorEntry(sql: Sql, entry: Omit<NewAuditEntry, 'tenantId'>): Promise<void> {
  await run(sql, tables.insertInto('operator_audit_log').values(written(entry)));
}

function written({ actor, action, target, before, after }: Omit<NewAuditEntry, 'tenantId'>) {
  const [was, is] = [before ?? null, after ?? null];
  return {
    entryId: randomUUID(),
    actorId: actor.userId,
    action,
    target,
    before: was === null ? null : json(was),
    after: is === null ? null : json(is),
  };
}

/** An entry as the operator reads it; `tenantId` null: it belongs to no site. */
export interface OperatorEntry extends Place {
  readonly entryId: string;
  readonly tenantId: string | null;
  readonly actor: string;
  readonly via: string;
  readonly action: string;
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Entries, the newest first: all of one site, or whatever operators changed anywhere. Each log is read by its own index and gives at
 * most a page.
 */
export async function listOperatorEntries(sql: Sql, { limit, after }: Page, tenantId: string | null): Promise<OperatorEntry[]> {
  const page = `and ($2::timestamptz is null or (at, entry_id) < ($2, $3::uuid)) order by at desc, entry_id desc limit $1`;
  const columns = (tenant: string, via: string): string =>
    `select at, entry_id, ${tenant} as tenant_id, actor_id, ${via} as via, action, target, before, after`;
  const ofTenants = `${columns('tenant_id', 'actor_via')} from audit_log
    where ${tenantId === null ? "actor_via = 'operator'" : 'tenant_id = $4'} ${page}`;
  const ofNoTenant = `${columns('null::uuid', "'operator'")} from operator_audit_log where true ${page}`;
  return sql.query<OperatorEntry & QueryResultRow>(
    `select at, entry_id as id, entry_id as "entryId", tenant_id as "tenantId", actor_id as actor, via, action, target, before, after
       from ((${ofTenants})${tenantId === null ? ` union all (${ofNoTenant})` : ''}) as entry order by at desc, entry_id desc limit $1`,
    [limit, after?.at ?? null, after?.id ?? null, ...(tenantId === null ? [] : [tenantId])],
  );
}
