import type { Database } from '../../../db/database.ts';
import type { Reader, Replicas } from '../../../db/replicas.ts';

/** The pool the GraphQL endpoint reads through: few connections, a limit on each statement. */
export type ReadingDatabase = Database;

/** Standbys that questions about sites are read from while they may answer. */
export type ReadingReplicas = Replicas;

/** What one question reads through then. */
export type ReplicaReader = Reader;

/** What reading services run with. */
export interface ReadingDeps {
  readonly reading: ReadingDatabase;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}
