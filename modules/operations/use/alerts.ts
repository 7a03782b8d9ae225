import type { Transactional } from '../../../db/database.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { resolveAlerts } from '../store/operations.ts';
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
