import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findForbiddenModules } from '../../tools/check/bundle.ts';
import { findBridgeProblems } from '../../tools/check/layers.ts';
import { ROOT } from '../../tools/check/tool.ts';
import { brokenRules } from '../support/layers.ts';

const LEAF = 'export interface Leaf { readonly a: string }\nexport const leaf = 1;\n';

/** A file at `from` that imports `to`, as a value and as a type. */
const pair = (from: string, to: string): [string, string] => [from, to];

test.each([
  ['domain-is-pure', ...pair('domain/a.ts', 'db/leaf.ts')],
  ['layer-db', ...pair('db/a.ts', 'chain/leaf.ts')],
  ['layer-chain', ...pair('chain/a.ts', 'db/leaf.ts')],
  ['layer-adapters', ...pair('adapters/a.ts', 'services/leaf.ts')],
  ['layer-services', ...pair('services/a.ts', 'api/leaf.ts')],
  ['layer-api', ...pair('api/a.ts', 'db/leaf.ts')],
  ['layer-api', ...pair('api/a.ts', 'graphql/leaf.ts')],
  ['layer-graphql', ...pair('graphql/a.ts', 'activities/leaf.ts')],
  ['layer-activities', ...pair('activities/a.ts', 'api/leaf.ts')],
  ['layer-workflows', ...pair('workflows/a.ts', 'services/leaf.ts')],
  ['layer-examples', ...pair('examples/a.ts', 'domain/leaf.ts')],
  ['entry-points-are-not-imported', ...pair('services/a.ts', 'bin/leaf.ts')],
])('%s: %s may not import %s, not even its types', async (rule, from, to) => {
  const start = { 'bin/start.ts': `import '../${from}';` };
  const asValue = await brokenRules({ ...start, [from]: `import { leaf } from '../${to}';\nexport const a = leaf;`, [to]: LEAF });
  const asType = await brokenRules({
    ...start,
    [from]: `import type { Leaf } from '../${to}';\nexport type A = Leaf;`,
    [to]: LEAF,
  });
  expect(asValue).toContain(rule);
  expect(asType).toContain(rule);
});

test.each([
  ['domain-is-pure', 'domain/a.ts', 'node:crypto'],
  ['domain-is-pure', 'domain/a.ts', 'zod'],
  ['workflows-builtins', 'workflows/a.ts', 'node:fs'],
  ['workflows-packages', 'workflows/a.ts', 'zod'],
  ['package-storage', 'api/a.ts', 'pg'],
  ['package-rest', 'services/a.ts', 'express'],
])('%s: %s may not import %s', async (rule, from, specifier) => {
  expect(await brokenRules({ [from]: `import * as it from '${specifier}';\nexport const a = it;` })).toContain(rule);
});

test('an orphan and an import that leads nowhere are errors', async () => {
  expect(await brokenRules({ 'domain/a.ts': 'export const a = 1;' })).toEqual(['no-orphans']);
  expect(await brokenRules({ 'bin/a.ts': "import '../domain/nowhere.ts';" })).toContain('resolvable');
});

test('the imports the layers are made for break no rule', async () => {
  const broken = await brokenRules({
    'domain/leaf.ts': LEAF,
    'db/rows.ts': "import { leaf } from '../domain/leaf.ts';\nimport pg from 'pg';\nexport const rows = [leaf, pg];",
    'services/quotes.ts': "import { rows } from '../db/rows.ts';\nexport const quotes = rows;",
    'api/app.ts':
      "import express from 'express';\nimport { quotes } from '../services/quotes.ts';\nexport const app = [express, quotes];",
    'activities/act.ts': "import { quotes } from '../services/quotes.ts';\nexport const act = () => quotes;",
    'workflows/index.ts': "import type { act } from '../activities/act.ts';\nexport type Act = typeof act;",
    'bin/api.ts':
      "import { app } from '../api/app.ts';\nimport type { Act } from '../workflows/index.ts';\nexport const all: [unknown, Act?] = [app];",
  });
  expect(broken).toEqual([]);
});

test('workflows may import activities as types only, and no type is imported inside another type', () => {
  const problems = (text: string): string[] => findBridgeProblems([{ path: 'workflows/settle.ts', text }]);
  expect(problems("import type { Acts } from '../activities/index.ts';")).toEqual([]);
  expect(problems("import type {\n  Acts,\n  More,\n} from '../activities/index.ts';")).toEqual([]);
  expect(problems("import { settle } from '../activities/index.ts';")).toHaveLength(1);
  expect(problems("import {\n  type Acts,\n} from '../activities/index.ts';")).toHaveLength(1);
  expect(problems("import '../activities/index.ts';")).toHaveLength(1);
  expect(problems("export * from '../activities/index.ts';")).toHaveLength(1);
  expect(problems("type X = import('../db/rows.ts').Row;")).toHaveLength(1);
});

test('a workflow bundle may hold the SDK and the domain, and neither another package nor a node: module', async () => {
  const bundle = (name: string): Promise<string[]> => findForbiddenModules(join(ROOT, 'test/repo/bundles', name));
  expect(await bundle('clean.ts')).toEqual([]);
  expect(await bundle('with-package.ts')).toEqual(['the package zod']);
  expect((await bundle('with-builtin.ts')).join('\n')).toContain('node:fs');
});
