import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { writePerCore } from '../../bench/harness/perCore.ts';
import type { BenchResult } from '../../bench/harness/results.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const results = existsSync(new URL('../../bench/results.json', import.meta.url))
  ? (JSON.parse(read('bench/results.json')) as BenchResult[])
  : [];

test('the costs per core in docs/scaling.md are those that follow from the figures', () => {
  const page = read('docs/scaling.md');
  expect(page).toBe(writePerCore(page, results));
});

test('a rate is shared by the cores, a time belongs to one, and a figure that is missing has no cost', () => {
  const figure = { ours: 3_000, unit: 'req/s', id: 'quote.rate' };
  const time = { ours: 4, unit: 'ms', id: 'graphql.earnings' };
  const result = { machine: { cores: 2 }, figures: [figure, time, { id: 'webhooks.rate', missing: 'no network' }] };
  const page = writePerCore(read('docs/scaling.md'), [result as unknown as BenchResult]);
  expect(page).toContain('| Quote | `quote.rate` | 3,000 req/s, 2 cores | 1,500 | 0.667 ms |');
  expect(page).toContain('| `graphql.earnings` | 4 ms, 2 cores | 250 | 4 ms |');
  expect(page).toContain('| `webhooks.rate` | not measured yet | | |');
});
