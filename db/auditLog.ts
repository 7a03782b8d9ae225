/** The append-only log of what owners changed (decisions §4, Owners); rights to change or remove a row do not exist. */
import { randomUUID } from 'node:crypto';
import type { Actor } from '../domain/auditEntry.ts';
import type { Sql } from './database.ts';

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

/** One change as it stands in the log. */
export interface AuditEntry extends NewAuditEntry {
  readonly entryId: string;
  readonly at: Date;
}

/** Writes a change down, in the database transaction of the change. Every call adds a row. */
export async function insertAuditEntry(sql: Sql, entry: NewAuditEntry): Promise<void> {
  const json = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value));
  await sql.query(
    `insert into audit_log (tenant_id, entry_id, actor_id, actor_via, action, target, before, after)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[entry.tenantId, randomUUID(), entry.actor.userId, entry.actor.via, entry.action, entry.target],
      ...[json(entry.before), json(entry.after)],
    ],
  );
}

/** Which entries of a site to list. */
export interface AuditFilter {
  readonly action?: string;
  readonly actorId?: string;
  readonly target?: string;
  /** In [from, to). */
  readonly from?: Date;
  readonly to?: Date;
}

const WHERE = `tenant_id = $1 and ($2::text is null or action = $2) and ($3::text is null or actor_id = $3)
  and ($4::text is null or target = $4) and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at < $6)`;

function valuesOf(tenantId: string, { action, actorId, target, from, to }: AuditFilter): unknown[] {
  return [tenantId, action ?? null, actorId ?? null, target ?? null, from ?? null, to ?? null];
}

/** Entries of a site, the newest first, those older than `before` when it is given. */
export async function listAuditEntries(
  sql: Sql,
  tenantId: string,
  filter: AuditFilter,
  page: { readonly limit: number; readonly before?: { readonly at: Date; readonly entryId: string } },
): Promise<AuditEntry[]> {
  const rows = await sql.query<AuditRow>(
    `select tenant_id, entry_id, at, actor_id, actor_via, action, target, before, after from audit_log
      where ${WHERE} and ($7::timestamptz is null or (at, entry_id) < ($7, $8))
      order by at desc, entry_id desc limit $9`,
    [...valuesOf(tenantId, filter), page.before?.at ?? null, page.before?.entryId ?? null, page.limit],
  );
  return rows.map(entryOf);
}

/** How many entries of a site there are. */
export async function countAuditEntries(sql: Sql, tenantId: string, filter: AuditFilter): Promise<number> {
  const [row] = await sql.query<{ count: string }>(`select count(*) from audit_log where ${WHERE}`, valuesOf(tenantId, filter));
  return Number(row?.count ?? 0);
}

interface AuditRow {
  readonly tenant_id: string;
  readonly entry_id: string;
  readonly at: Date;
  readonly actor_id: string;
  readonly actor_via: Actor['via'];
  readonly action: string;
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

function entryOf(row: AuditRow): AuditEntry {
  return {
    tenantId: row.tenant_id,
    entryId: row.entry_id,
    at: row.at,
    actor: { userId: row.actor_id, via: row.actor_via },
    action: row.action,
    target: row.target,
    before: row.before,
    after: row.after,
  };
}
