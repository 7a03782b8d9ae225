import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BENCHES } from '../../bench/all.ts';
import { writePerCore } from '../../bench/harness/perCore.ts';
import { renderReadme } from '../../bench/harness/readme.ts';
import type { BenchResult } from '../../bench/harness/results.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const results = existsSync(new URL('../../bench/results.json', import.meta.url))
  ? (JSON.parse(read('bench/results.json')) as BenchResult[])
  : [];

test('the costs per core in docs/scaling.md are those that follow from the figures', () => {
  const page = read('docs/scaling.md');
  expect(page).toBe(writePerCore(page, results));
});

test('an operation costs what API, worker, Postgres and Temporal take for it; a figure that is missing has no cost', () => {
  const figure = {
    ours: 3_000,
    unit: 'req/s',
    id: 'quote.rate',
    cpu: { ours: { api: 0.06, postgres: 0.02, client: 3 }, reference: null },
  };
  const result = { figures: [figure, { id: 'webhooks.rate', missing: 'no network' }] };
  const page = writePerCore(read('docs/scaling.md'), [result as unknown as BenchResult]);
  expect(page).toContain('| Quote | `quote.rate` | 0.08 ms | api 75 %, postgres 25 % | 12,500 |');
  expect(page).toContain('| `webhooks.rate` | not measured yet | | |');
});

test('the page of figures is the one of the results, and fits a screen', () => {
  const page = read('bench/README.md');
  expect(page).toBe(
    renderReadme(
      results,
      BENCHES.filter(({ id }) => !results.some((result) => result.id === id)),
    ),
  );
  expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

test('a figure that is not reached is on the page even where it is a detail', () => {
  const detail = {
    id: 'scale.x',
    what: 'a detail',
    unit: 'ms',
    ours: 1,
    reference: 2,
    ratio: 0.5,
    isDetail: true,
    target: '≤ 1',
  };
  const page = (reached: boolean): string => renderReadme([{ figures: [{ ...detail, reached }] } as unknown as BenchResult], []);
  expect(page(true)).not.toContain('scale.x');
  expect(page(false)).toContain('| `scale.x` a detail |');
});
