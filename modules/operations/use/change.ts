import type { Transactional } from '../../../db/database.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { insertOperatorEntry } from '../../tenants/store/auditLog.ts';
import type { AuditedChange } from '../../tenants/use/change.ts';
import { audited } from '../../tenants/use/change.ts';

/**
 * Makes a change of an operator that belongs to no site, and its one entry in the operators' audit log, in one database transaction: both or
 * neither. Throws database_unavailable, and whatever the change itself throws; nothing is written then.
 */
export async function changeAsOperator<T>(
  deps: { readonly database: Transactional },
  actor: Actor,
  change: AuditedChange<T>,
): Promise<T> {
  return await deps.database.transaction((sql) => audited(sql, change, (entry) => insertOperatorEntry(sql, { actor, ...entry })));
}

/** Writes down what an operator is about to do outside the database, before it is done: a transaction of the chain is not undone. */
export async function noteIntent(
  deps: { readonly database: Transactional },
  actor: Actor,
  { action, target, asked }: { readonly action: string; readonly target: string; readonly asked: Record<string, string> },
): Promise<void> {
  await insertOperatorEntry(deps.database, { actor, action, target, before: null, after: asked });
}
