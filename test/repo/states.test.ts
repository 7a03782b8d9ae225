import { expect, test } from 'vitest';
import { PAYMENT_STATES } from '../../modules/kernel/payment/state.ts';
import { readSources } from '../../tools/check/sources.ts';

/** Lists of texts in brackets, in code and in SQL: `['settled', 'final']`, `in ('accepted', 'broadcast')`. */
const LISTS = /[([]\s*('[a-z_]+'(?:\s*,\s*'[a-z_]+')+)\s*,?\s*[)\]]/g;
/** Where lists are made: the meanings of states, and what Postgres was told of them when a table or an index was. */
const HOME = /^modules\/kernel\/payment\/state\.ts$|\/migrations\//;

test('a list of payment states is one of modules/kernel/payment/state.ts: written by hand it would not know a state added later', () => {
  const states = new Set<string>(PAYMENT_STATES);
  const sources = readSources(/^(activities|api|bin|db|graphql|modules|platform|process|workflows)\/.*\.(ts|sql)$/);
  expect(sources.length).toBeGreaterThan(500);
  const found = sources
    .filter(({ path }) => !HOME.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(LISTS)]
        .map(([, list]) => list ?? '')
        .filter((list) => list.split(',').every((one) => states.has(one.trim().slice(1, -1))))
        .map((list) => `${path}: ${list}`),
    );
  expect(found).toEqual([]);
});
