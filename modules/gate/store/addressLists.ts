import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';

/** When a list was last read, and when it last said something else. */
export interface AddressListState {
  readonly name: string;
  readonly checkedAt: Date;
  readonly changedAt: Date;
}

/** What a list holds (CIDR). */
export interface AddressList {
  readonly ranges: readonly string[];
  readonly checkedAt: Date;
}

/** Every list that was ever read, without what it holds. */
export async function listAddressLists(sql: Sql): Promise<AddressListState[]> {
  return run(sql, tables.selectFrom('address_list').select(['name', 'checkedAt', 'changedAt']).orderBy('name'));
}

/** What the lists hold, and when each was read, by their names. */
export async function findAddressLists(sql: Sql): Promise<ReadonlyMap<string, AddressList>> {
  const rows = await run(sql, tables.selectFrom('address_list').select(['name', 'ranges', 'checkedAt']).orderBy('name'));
  return new Map(rows.map(({ name, ...list }) => [name, list]));
}

/** Says of a list that its operator was last seen to publish it at a time; one that is older stays so. */
export async function ageAddressList(sql: Sql, name: string, at: Date): Promise<void> {
  await run(
    sql,
    tables
      .updateTable('address_list')
      .set({ checkedAt: at })
      .where('name', '=', name)
      .where('checkedAt', '>', at)
      .returning('name'),
  );
}

/** Keeps what a list held at a time, unless it was read later; true when it says something else than before. */
export async function storeAddressList(sql: Sql, name: string, ranges: readonly string[], at: Date): Promise<boolean> {
  const row = { name, ranges, checkedAt: at, changedAt: at };
  const stored = tables
    .insertInto('address_list')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((e) => ({
          checkedAt: e.ref('excluded.checkedAt'),
          ranges: e.ref('excluded.ranges'),
          changedAt: e
            .case()
            .when('address_list.ranges', '=', e.ref('excluded.ranges'))
            .then(e.ref('address_list.changedAt'))
            .else(e.ref('excluded.changedAt'))
            .end(),
        }))
        .whereRef('address_list.checkedAt', '<=', 'excluded.checkedAt'),
    )
    .returning('changedAt');
  const [kept] = await run(sql, stored);
  return kept?.changedAt.getTime() === at.getTime();
}
