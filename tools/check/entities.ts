import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntityProperty } from '@mikro-orm/postgresql';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { ENTITIES } from '../../db/entities.ts';
import { migrate } from '../../db/migrate.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { createDatabase } from '../../sandbox/parts/postgres/roles.ts';

/** What a column is: in the catalogue of Postgres, or by its entity. Null where views have none and entities of views are not asked. */
interface Column {
  readonly type: string;
  readonly isNullable: boolean | null;
  readonly default: string | null;
  /** Its place in the primary key, from 1 on; 0 for none. */
  readonly key: number | null;
}

/** Columns by name, of tables and views by name with their schema. */
type Tables = ReadonlyMap<string, ReadonlyMap<string, Column>>;

/** Tables that no entity describes: the migrations' own record. */
const NOT_OURS = ['public.schema_migration'];

const COLUMNS = `
select n.nspname || '.' || c.relname as table, c.relkind = 'v' as "isView", a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
  not a.attnotnull as "isNullable", case a.attidentity when 'a' then 'always as identity' else pg_get_expr(d.adbin, d.adrelid) end as default,
  coalesce(array_position(i.indkey::smallint[], a.attnum) + 1, 0) as key
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
left join pg_index i on i.indrelid = c.oid and i.indisprimary
where n.nspname in ('public', 'archive', 'ledger') and c.relkind in ('r', 'p', 'v') and not c.relispartition
order by 1, a.attnum`;

interface CatalogueRow extends Column {
  readonly table: string;
  readonly isView: boolean;
  readonly name: string;
}

/** The tables and views that have an entity. */
export const DESCRIBED = ENTITIES.length;

/** Says what entities and the migrated schema do not agree about; null when they do. */
export async function checkEntities(): Promise<string | null> {
  const found = await withMigrated(compareEntities);
  return found.length === 0 ? null : found.join('\n');
}

/** Does `work` with the URL, its owner's, of a database of its own that has all migrations and no rows; it is gone afterwards. */
export async function withMigrated<T>(work: (ownerUrl: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'migrated-'));
  const postgres = await startPostgres({ folder, settings: ['fsync=off', 'full_page_writes=off'] });
  try {
    await createDatabase(postgres.superUrl, 'migrated');
    const { ownerUrl } = postgres.urlsOf('migrated');
    await migrate(ownerUrl);
    return await work(ownerUrl);
  } finally {
    await postgres.stop();
    removeCluster(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One sentence for each difference between the entities and the database at `url`, the column named first; none when they agree. */
export async function compareEntities(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<CatalogueRow>(COLUMNS);
    return differences(await entityColumns(client, rows), catalogueColumns(rows));
  } finally {
    await client.end();
  }
}

function catalogueColumns(rows: readonly CatalogueRow[]): Tables {
  const tables = new Map<string, Map<string, Column>>();
  for (const { table, name, isView, ...column } of rows) {
    if (NOT_OURS.includes(table)) continue;
    const columns = tables.get(table) ?? new Map<string, Column>();
    tables.set(table, columns.set(name, isView ? { ...column, isNullable: null, default: null, key: null } : column));
  }
  return tables;
}

/** The types are spelt by Postgres itself, so that `int` and `integer` are one. */
async function entityColumns(client: pg.Client, catalogue: readonly CatalogueRow[]): Promise<Tables> {
  const views = new Set(catalogue.filter(({ isView }) => isView).map(({ table }) => table));
  const orm = new MikroORM({ dbName: 'entities', entities: [...ENTITIES] });
  const all = [...orm.getMetadata().getAll().values()].flatMap((meta) =>
    meta.props.map((prop) => ({
      table: `${meta.schema ?? 'public'}.${meta.tableName}`,
      keys: meta.primaryKeys as string[],
      prop,
    })),
  );
  await orm.close();
  const { rows } = await client.query<{ type: string }>(
    'select format_type(to_regtype(one), to_regtypemod(one)) as type from unnest($1::text[]) with ordinality as t(one, at) order by at',
    [all.map(({ prop }) => prop.columnTypes[0])],
  );
  const tables = new Map<string, Map<string, Column>>();
  for (const [at, { table, keys, prop }] of all.entries()) {
    const columns = tables.get(table) ?? new Map<string, Column>();
    const type = rows[at]?.type ?? String(prop.columnTypes[0]);
    const column = views.has(table)
      ? { type, isNullable: null, default: null, key: null }
      : { type, isNullable: prop.nullable === true, default: defaultOf(prop), key: keys.indexOf(prop.name) + 1 };
    tables.set(table, columns.set(String(prop.fieldNames[0]), column));
  }
  return tables;
}

/** As Postgres prints it: a default, the expression of a generated column, or the kind of an identity. */
function defaultOf({ generated, defaultRaw }: EntityProperty): string | null {
  if (typeof generated === 'string') return generated.replace(/^\(([\s\S]*)\) stored$/, '$1');
  return defaultRaw ?? null;
}

function differences(entities: Tables, database: Tables): string[] {
  const found: string[] = [];
  for (const [table, columns] of database) {
    const described = entities.get(table);
    if (described === undefined) found.push(`${table} has no entity`);
    else found.push(...columnDifferences(table, described, columns));
  }
  for (const table of entities.keys()) if (!database.has(table)) found.push(`${table} is an entity and no table`);
  return found;
}

function columnDifferences(
  table: string,
  described: ReadonlyMap<string, Column>,
  columns: ReadonlyMap<string, Column>,
): string[] {
  const found: string[] = [];
  for (const [name, column] of columns) {
    const entity = described.get(name);
    if (entity === undefined) found.push(`${table}.${name} is in no entity`);
    else
      for (const key of ['type', 'isNullable', 'default', 'key'] as const)
        if (entity[key] !== column[key] && !isArchivedDefault(table, key))
          found.push(
            `${table}.${name}: ${key} is ${String(column[key])} in the database and ${String(entity[key])} in its entity`,
          );
  }
  for (const name of described.keys())
    if (!columns.has(name)) found.push(`${table}.${name} is in its entity and not in the database`);
  return found;
}

/** Closed months are copied whole: their columns are those of the tables they come from, without the defaults. */
function isArchivedDefault(table: string, key: keyof Column): boolean {
  return key === 'default' && table.startsWith('archive.') && table !== 'archive.month';
}
