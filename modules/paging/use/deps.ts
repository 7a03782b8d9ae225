import type { Database } from '../../../db/database.ts';

/** The pool the GraphQL endpoint reads through: few connections, a limit on each statement. */
export type ReadingDatabase = Database;

/** What reading services run with. */
export interface ReadingDeps {
  readonly reading: ReadingDatabase;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}
