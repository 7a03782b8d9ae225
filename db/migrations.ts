import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('./migrations/', import.meta.url);

/** The first file of the schema that 0.1.0 begins with: what was made by files of before has no way to it (ADR 0056). */
export const FIRST = '0001_tenants.sql';

/** A migration: reviewed SQL, forward only. */
export interface Migration {
  /** Its file name; migrations run in the order of their names. */
  readonly name: string;
  /** SHA-256 of its file: a schema that another text of it made is not this one. */
  readonly digest: string;
  /** Its statements: all of them at once, or one by one where they run outside of a database transaction. */
  readonly statements: readonly string[];
  /** True: its statements run outside of a database transaction. */
  readonly isOutside: boolean;
}

/** First line of a file whose statements run one by one, each on its own: `create index concurrently` refuses a transaction. */
const OUTSIDE = '-- outside a transaction\n';

/** The migration that a file holds. */
export function migrationOf(name: string, sql: string): Migration {
  const isOutside = sql.startsWith(OUTSIDE);
  const statements = isOutside ? sql.split(/;\s*(?:\n|$)/).filter((one) => one.trim() !== '') : [sql];
  return { name, digest: createHash('sha256').update(sql).digest('hex'), statements, isOutside };
}

/** The migrations in order, by file name. */
export function listMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => migrationOf(file, readFileSync(new URL(file, FOLDER), 'utf8')));
}
