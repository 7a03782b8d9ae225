/** The append-only log of what owners changed; rights to change or remove a row do not exist. */
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
