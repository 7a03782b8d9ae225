import type { Transactional } from '../../db/database.ts';
import { resolveAlerts } from '../../db/operator/operations.ts';
import type { Actor } from '../../domain/access/auditEntry.ts';
import { changeAsOperator } from './change.ts';

/** Marks the open alerts of a kind as dealt with; how many there were. */
export function settleAlerts(deps: { readonly database: Transactional }, actor: Actor, kind: string): Promise<number> {
  return changeAsOperator(deps, actor, {
    action: 'alert.resolve',
    target: kind,
    look: async (_sql, resolved) => (resolved === undefined ? null : { resolved }),
    make: (database) => resolveAlerts(database, kind),
  });
}
