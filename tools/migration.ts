/**
 * `npm run migration -- NAME`: writes what the entities have and the migrated schema has not, or has otherwise, as the next file of
 * db/migrations, to be reviewed: checks, keys to other tables, indexes, grants and what old rows get are added by hand. Writes nothing where
 * both agree. A second call, after the file was written, finds nothing left.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MikroORM } from '@mikro-orm/postgresql';
import { ENTITIES } from '../db/entities.ts';
import { listMigrations } from '../db/migrations.ts';
import { withMigrated } from './check/entities.ts';

const FOLDER = new URL('../db/migrations/', import.meta.url);
/** What reviewed SQL alone states: the comparison would drop it, since no entity names it. It takes an identity for a default. */
const REVIEWED =
  /"position" drop default|drop constraint|add constraint|drop index|create index|drop trigger|drop function|comment on/;

const name = process.argv[2];
if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name)) {
  process.stderr.write('usage: npm run migration -- NAME, in small letters, digits and _\n');
  process.exit(2);
}
const statements = await withMigrated(differenceOf);
if (statements.length === 0) {
  process.stdout.write('entities and the migrated schema agree: there is nothing to migrate\n');
} else {
  const last = Number.parseInt(listMigrations().at(-1)?.name ?? '0', 10);
  const file = new URL(`${String(last + 1).padStart(4, '0')}_${name}.sql`, FOLDER);
  writeFileSync(file, `${statements.join('\n')}\n`);
  process.stdout.write(
    `${fileURLToPath(file)}\n${statements.join('\n')}\nReview it: checks, keys, indexes and grants are not in it.\n`,
  );
}

/** Statements of public tables alone: what is closed and shown together with it follows by hand. */
async function differenceOf(url: string): Promise<string[]> {
  const tables = ENTITIES.filter(({ meta }) => !meta.tableName.includes('.') && meta.view !== true);
  const orm = new MikroORM({
    clientUrl: url,
    entities: [...tables],
    schemaGenerator: {
      ignoreSchema: ['archive', 'ledger'],
      ignoreTriggers: true,
      ignoreRoutines: true,
      skipTables: ['schema_migration', /^observation_(default|p?\d)/, /^searched_page_\d/],
      skipViews: ['payment', 'crossing_part'],
    },
  });
  try {
    const text = await orm.schema.getUpdateSchemaSQL({ wrap: false, safe: false });
    return text.split('\n').filter((line) => line.trim() !== '' && !REVIEWED.test(line));
  } finally {
    await orm.close();
  }
}
