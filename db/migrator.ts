import { MigrationStorage, Migrator, Migration as MikroMigration } from '@mikro-orm/migrations';
import { MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import type { Migration } from './migrations.ts';

/** Where MikroORM's Migrator records what has run. */
export const MIGRATIONS_TABLE = 'schema_migration';

/**
 * Runs the migrations that the table of migrations does not name yet, in order, by MikroORM's Migrator on `pool`; each with its record in one
 * database transaction, but for those whose statements run outside of one. Returns the names of those that ran; rejects with Postgres' error at
 * the first that fails, and what ran before it stays. `lockTimeoutMs` bounds how long a statement inside of a transaction waits for a lock.
 */
export async function runPending(pool: Pool, migrations: readonly Migration[], lockTimeoutMs: number): Promise<string[]> {
  const digests = new Map(migrations.map(({ name, digest }) => [name, digest]));

  /** Keeps the digest of each file beside its name. */
  class Records extends MigrationStorage {
    override async ensureTable(): Promise<void> {
      // db/migrate.ts has made it
    }
    override async logMigration({ name }: { name: string }, transaction?: never): Promise<void> {
      const values = [name, digests.get(name)];
      await this.driver.execute(`insert into ${MIGRATIONS_TABLE} (name, digest) values (?, ?)`, values, 'run', transaction);
    }
    override getMigrationName(name: string): string {
      return name;
    }
  }
  class FileMigrator extends Migrator {
    protected override createStorage(): MigrationStorage {
      return new Records(this.driver, this.options);
    }
  }

  const { rows } = await pool.query<{ name: string }>('select current_database() as name');
  const orm = new MikroORM({
    driver: PostgreSqlDriver,
    dbName: rows[0]?.name ?? '', // one that is there: the Migrator would make another
    entities: [],
    discovery: { warnWhenNoEntities: false },
    driverOptions: new PostgresDialect({ pool }),
    logger: () => undefined,
    migrations: {
      snapshot: false,
      silent: true,
      disableForeignKeys: false,
      allOrNothing: false,
      transactional: true,
      tableName: MIGRATIONS_TABLE,
      migrationsList: migrations.map((file) => ({ name: file.name, class: classOf(file, lockTimeoutMs) })),
    },
  });
  const ran = await new FileMigrator(orm.em).up();
  return ran.map(({ name }) => name);
}

/** An index built concurrently waits for whatever transaction is older, for hours if need be, and no write waits behind it. */
function classOf(
  { statements, isOutside }: Migration,
  lockTimeoutMs: number,
): new (
  ...given: ConstructorParameters<typeof MikroMigration>
) => MikroMigration {
  return class extends MikroMigration {
    override up(): void {
      this.addSql(`set lock_timeout = ${isOutside ? 0 : lockTimeoutMs}`);
      for (const statement of statements) this.addSql(statement);
    }
    override isTransactional(): boolean {
      return !isOutside;
    }
  };
}
