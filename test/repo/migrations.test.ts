import { expect, test } from 'vitest';
import { listMigrations } from '../../db/migrations.ts';

/** Two files that share a number, and numbers nobody used: history. Add nothing here; a new migration takes the next number. */
const PAIRS = ['0025_operator.sql', '0025_payments_found.sql'];
const GAPS = [22, 23, 28, 29];

test('each migration has a number of its own, one above the last: the order they run in is the order they were made in', () => {
  const names = listMigrations().map(({ name }) => name);
  for (const name of names) expect(name).toMatch(/^\d{4}_[a-z_]+\.sql$/);
  const numbers = names.filter((name) => name !== PAIRS[1]).map((name) => Number(name.slice(0, 4)));
  const last = numbers.at(-1) ?? 0;
  expect(names).toEqual(expect.arrayContaining(PAIRS));
  expect(numbers).toEqual(Array.from({ length: last }, (_, index) => index + 1).filter((number) => !GAPS.includes(number)));
});
