/** Statements that a test runs thousands of times. */
import { createHash } from 'node:crypto';
import type { Database, Sql } from '../../db/database.ts';

/**
 * The same database, each of whose statements Postgres parses once a connection and plans a few times: of what a test of thousands of small
 * statements costs there, planning is five sixths. Tables must not change meanwhile.
 */
export function plannedOnce(database: Database): Database {
  return {
    ...named(database),
    pool: database.pool,
    transaction: (work, isolation) => database.transaction((sql) => work(named(sql)), isolation),
    shortTransaction: (work) => database.shortTransaction((sql) => work(named(sql))),
    close: () => database.close(),
  };
}

function named(sql: Sql): Sql {
  return { query: (statement, values, name) => sql.query(statement, values, name ?? nameOf(statement)) };
}

const names = new Map<string, string>();

function nameOf(statement: string): string {
  let name = names.get(statement);
  if (name === undefined) {
    name = createHash('sha256').update(statement).digest('base64url');
    names.set(statement, name);
  }
  return name;
}
