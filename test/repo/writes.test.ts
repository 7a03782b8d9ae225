import { expect, test } from 'vitest';
import { tables } from '../../db/statement.ts';
import { strayColumns } from '../../tools/check/writes.ts';

const named = { position: 1, hostname: 'a.example' };
const listed = ['a', 'b'].map((tenantId) => ({ tenantId, host: 'a.example', position: 0, place: 1 }));
const either = (isSaid: boolean) => ({ ...(isSaid ? { title: 'A', words: 1 } : {}), position: 2 });
const right = { position: 1, verifiedAt: null };

/** What the compiler lets pass; nothing runs them. */
const writes = () => [
  tables.updateTable('tenant_host').set(named),
  tables.updateTable('tenant_host').set({ ...named, position: 2 }),
  tables.insertInto('tenant_host').values(listed),
  tables.updateTable('tenant_host').set(either(true)),
  tables
    .insertInto('tenant_host')
    .values({ tenantId: 'a', host: 'b', position: 1 })
    .onConflict((on) => on.column('host').doUpdateSet(named)),
  tables.updateTable('tenant_host').set(right),
];

test('a row with a name, in a list, spread or of two kinds that holds what its table has not is told with its place; one of columns alone is not', () => {
  expect(writes).toBeTypeOf('function');
  const told = strayColumns(/^test\/repo\/writes\.test\.ts$/);
  expect(told.map((line) => line.replace(/^test\/repo\/writes\.test\.ts:\d+: /, ''))).toEqual([
    'no column hostname',
    'no column hostname',
    'no column place',
    'no column title, words',
    'no column hostname',
  ]);
});
