import type { Database } from '../../../db/database.ts';

/** What the sweep over anomaly rules works with. */
export interface AnomalyDeps {
  readonly database: Database;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Says what an operator should know; never a secret. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}
