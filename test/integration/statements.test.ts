import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareStatements, reasonOf, reasonOfPlace } from '../../tools/check/statements.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** What the check has against one statement that is read as rows of these columns. */
async function against(text: string, row: Readonly<Record<string, string>>): Promise<string[]> {
  const said = Object.entries(row).map(([name, kind]) => ({ name, kinds: kind === '' ? [] : [kind] }));
  return compareStatements(database.ownerUrl, [{ place: 'here:1', text, row: said }]);
}

test('a statement whose columns are what its row says passes, JSON and what the row leaves open among them', async () => {
  const text = `select host, created_at, position, verified_at is null as open, to_jsonb(host) as whole, 1::bigint as long
    from tenant_host where tenant_id = $1`;
  const row = { host: 'string', created_at: 'object', position: 'number', open: 'boolean', whole: 'object', long: '' };
  expect(await against(text, row)).toEqual([]);
  expect(await against('update tenant_host set position = $2 where tenant_id = $1', {})).toEqual([]);
});

test('a column that is not in the database is told with the place of the statement, even where nothing runs it', async () => {
  expect(await against('select hostname from tenant_host where tenant_id = $1', { hostname: 'string' })).toEqual([
    'here:1: column "hostname" does not exist',
  ]);
});

test('a row that names a column which the answer has not, or gives it another kind of value, is told', async () => {
  expect(await against('select host, count(*) from tenant_host group by host', { host: 'string', count: 'number' })).toEqual([
    'here:1: count is number in the row and string in the answer',
  ]);
  expect(await against('select host from tenant_host', { host: 'string', position: 'number' })).toEqual([
    'here:1: the answer has no position',
  ]);
});

test('a column that may be null, which a row says has a value always, is told; one that is asked for with a value is not', async () => {
  const said = { name: 'verified_at', kinds: ['object'], isRequired: true };
  const ask = (text: string) => compareStatements(database.ownerUrl, [{ place: 'here:1', text, row: [said] }]);
  expect(await ask('select verified_at from tenant_host where tenant_id = $1')).toEqual([
    'here:1: verified_at may be null in the database and never is in the row',
  ]);
  expect(await ask('select verified_at from tenant_host where tenant_id = $1 and verified_at is not null')).toEqual([]);
});

test('a plain statement has no reason to be SQL text', () => {
  expect(reasonOf('select host from tenant_host where tenant_id = $1')).toBe('none');
  expect(reasonOf('insert into tenant_host select * from unnest($1::uuid[], $2::text[])')).toBe('rows of lists');
  expect(reasonOf('with gone as (delete from tenant_host returning host) select host from gone')).toBe('writes in its own terms');
});

test('a text that a call puts together has a reason where texts are put together, and none elsewhere', () => {
  expect(reasonOfPlace('modules/paging/store/source.ts:79')).toBe('filters and order as asked');
  expect(reasonOfPlace('modules/quotes/store/prices.ts:10')).toBe('none');
});
