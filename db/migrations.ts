import { readdirSync, readFileSync } from 'node:fs';
import type { Constructor } from '@mikro-orm/core';
import { Migration } from '@mikro-orm/migrations';

const FOLDER = new URL('./migrations/', import.meta.url);
/** A migration by its file name. */
export interface MigrationFile {
  readonly name: string;
  readonly class: Constructor<Migration>;
  /** True: its statements run outside of a database transaction. */
  readonly isOutside: boolean;
}

/** First line of a file whose statements run one by one, each on its own: `create index concurrently` refuses a transaction. */
const OUTSIDE = '-- outside a transaction\n';

/** Reviewed SQL as a migration; forward only. */
export function migrationOf(name: string, sql: string): MigrationFile {
  const isOutside = sql.startsWith(OUTSIDE);
  const SqlFile = class extends Migration {
    override isTransactional(): boolean {
      return !isOutside;
    }
    override up(): void {
      for (const statement of isOutside ? sql.split(/;\s*(?:\n|$)/).filter((one) => one.trim() !== '') : [sql])
        this.addSql(statement);
    }
  };
  return { name, class: SqlFile, isOutside };
}

/** The migrations in order, by file name. */
export function listMigrations(): MigrationFile[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => migrationOf(file, readFileSync(new URL(file, FOLDER), 'utf8')));
}
