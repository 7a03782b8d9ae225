import type { Transactional } from '../../../db/database.ts';
import { joinTransaction } from '../../../db/database.ts';
import { atDatabase } from '../../../db/outage.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { differenceOf } from '../../kernel/access/auditEntry.ts';
import { insertOperatorEntry } from '../../tenants/store/auditLog.ts';
import type { SiteChange } from '../../tenants/use/change.ts';
import { plainState } from '../../tenants/use/change.ts';

/** A change that belongs to no site, and how the log of operators is to see it. */
export type OperatorChange<T> = Omit<SiteChange<T>, 'mayBeClosed'>;

/**
 * Makes a change of an operator and its one entry in the operators' audit log, in one database transaction: both or neither. Throws
 * database_unavailable, and whatever the change itself throws; nothing is written then.
 */
export async function changeAsOperator<T>(
  deps: { readonly database: Transactional },
  actor: Actor,
  change: OperatorChange<T>,
): Promise<T> {
  return await atDatabase(() =>
    deps.database.transaction(async (sql) => {
      const before = await change.look(sql, undefined);
      const result = await change.make(joinTransaction(sql));
      const after = await change.look(sql, result);
      const target = typeof change.target === 'function' ? change.target(result) : change.target;
      const { action } = change;
      await insertOperatorEntry(sql, { actor, action, target, ...differenceOf(plainState(before), plainState(after)) });
      return result;
    }),
  );
}

/** Writes down what an operator is about to do outside the database, before it is done: a transaction of the chain is not undone. */
export async function noteIntent(
  deps: { readonly database: Transactional },
  actor: Actor,
  { action, target, asked }: { readonly action: string; readonly target: string; readonly asked: Record<string, string> },
): Promise<void> {
  await atDatabase(() => insertOperatorEntry(deps.database, { actor, action, target, before: null, after: asked }));
}
