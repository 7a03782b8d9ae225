import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readCredits } from '../../modules/quotes/rules/creditsContract.ts';
import { payeeRule } from '../../modules/tenants/use/payees.ts';

const file = JSON.parse(readFileSync('docs/credits-api.schema.json', 'utf8')) as Parameters<typeof z.fromJSONSchema>[0];
const schema = z.fromJSONSchema(file);
const wallet = `0x${'1'.repeat(40)}`;
const ann = { authorId: 'ann', wallet };
const nested = (depth: number): object => (depth === 1 ? ann : { authorId: `d${depth}`, members: [nested(depth - 1)] });

function isRead(answer: unknown): boolean {
  try {
    readCredits(answer, payeeRule());
    return true;
  } catch {
    return false;
  }
}

test.each<[string, unknown, boolean]>([
  ['an author', { contributors: [ann] }, true],
  ['a title and weights', { title: 'Three', contributors: [{ ...ann, weight: 2.5 }, nested(2)] }, true],
  ['groups of groups', { contributors: [nested(8)] }, true],
  ['a free page', { free: true }, true],
  ['members of your own', { contributors: [{ ...ann, name: 'Ann' }], section: 'news' }, true],
  ['neither free nor credits', { free: false }, false],
  ['nobody', { contributors: [] }, false],
  ['no wallet', { contributors: [{ authorId: 'ann' }] }, false],
  ['a short wallet', { contributors: [{ authorId: 'ann', wallet: '0x1' }] }, false],
  ['no name', { contributors: [{ wallet }] }, false],
  ['an empty group', { contributors: [{ authorId: 'desk', members: [] }] }, false],
  ['a weight of 0', { contributors: [{ ...ann, weight: 0 }] }, false],
  ['a list', [ann], false],
  ['nothing', null, false],
])('%s is the same to the published schema and to the service', (_, answer, isGood) => {
  expect([schema.safeParse(answer).success, isRead(answer)]).toEqual([isGood, isGood]);
});
