import type { SettlementDeps } from '../../settlement/use/deps.ts';

/** What the reconciler runs with: the chain and the database, no key. */
export type ReconcileDeps = Pick<SettlementDeps, 'database' | 'networks' | 'rpcOf' | 'log' | 'now'>;
