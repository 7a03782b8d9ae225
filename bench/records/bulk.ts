import type { Database } from '../../db/database.ts';

/** What was taken off a table for the time of a load. */
interface Taken {
  readonly drop: string;
  readonly add: string;
}

/**
 * Takes keys, indexes and checks off `tables` while `load` fills them, and puts them back afterwards: an index that is built
 * over rows costs a fraction of one that grows with them. Checks and foreign keys come back unvalidated, since the bench made
 * the rows itself.
 */
export async function withoutIndexes(
  database: Database,
  tables: readonly string[],
  load: () => Promise<void>,
  parallel: (statements: readonly string[]) => Promise<void>,
): Promise<void> {
  const constraints = await readConstraints(database, tables);
  const indexes = await readIndexes(database, tables);
  const isForeign = ({ add }: Taken): boolean => add.includes(' foreign key ') || add.includes(' FOREIGN KEY ');
  const foreign = constraints.filter(isForeign);
  const own = constraints.filter((one) => !isForeign(one));
  for (const { drop } of [...foreign, ...own, ...indexes]) await database.query(drop);
  await load();
  const isCheck = ({ add }: Taken): boolean => / CHECK /i.test(add);
  await parallel([...own.filter((one) => !isCheck(one)), ...indexes].map(({ add }) => add));
  for (const { add } of own.filter(isCheck)) await database.query(`${add} not valid`);
  for (const { add } of foreign) await database.query(`${add} not valid`);
}

async function readConstraints(database: Database, tables: readonly string[]): Promise<Taken[]> {
  const rows = await database.query<{ holder: string; name: string; definition: string }>(
    `select conrelid::regclass::text as holder, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype in ('p', 'u', 'f', 'c') and conparentid = 0
       and (conrelid = any ($1::text[]::regclass[]) or confrelid = any ($1::text[]::regclass[]))`,
    [tables],
  );
  return rows.map(({ holder, name, definition }) => ({
    drop: `alter table ${holder} drop constraint ${name}`,
    add: `alter table ${holder} add constraint ${name} ${definition}`,
  }));
}

async function readIndexes(database: Database, tables: readonly string[]): Promise<Taken[]> {
  const rows = await database.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = any ($1::text[]::regclass[])
       and not exists (select 1 from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))`,
    [tables],
  );
  return rows.map(({ name, definition }) => ({ drop: `drop index ${name}`, add: definition }));
}
