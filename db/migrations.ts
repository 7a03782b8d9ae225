import { readdirSync, readFileSync } from 'node:fs';
import type { Constructor } from '@mikro-orm/core';
import { Migration } from '@mikro-orm/migrations';

const FOLDER = new URL('./migrations/', import.meta.url);
/** A migration by its file name. */
export interface MigrationFile {
  readonly name: string;
  readonly class: Constructor<Migration>;
}

/** One reviewed SQL file as a migration; forward only (DESIGN §5). */
function migrationFromFile(file: string): MigrationFile {
  const sql = readFileSync(new URL(file, FOLDER), 'utf8');
  const SqlFile = class extends Migration {
    override up(): void {
      this.addSql(sql);
    }
  };
  return { name: file, class: SqlFile };
}

/** The migrations in order, by file name. */
export function listMigrations(): MigrationFile[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map(migrationFromFile);
}
