import { expect, test } from 'vitest';
import { listMigrations } from '../../db/migrations.ts';

/** The last file of the schema that 0.1.0 begins with, one for each area (ADR 0056); what comes after is a step of its own. */
const BASELINE = 18;

test('each migration has a number of its own, one above the last: the order they run in is the order they were made in', () => {
  const names = listMigrations().map(({ name }) => name);
  for (const name of names) expect(name).toMatch(/^\d{4}_[a-z_]+\.sql$/);
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1));
  expect(names.length).toBeGreaterThanOrEqual(BASELINE);
});
