import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findForbiddenModules } from '../../tools/check/bundle.ts';
import { findBridgeProblems } from '../../tools/check/layers.ts';
import { ROOT } from '../../tools/check/tool.ts';
import type { Breach } from '../support/layers.ts';
import { breachesOf, brokenRules } from '../support/layers.ts';

const LEAF = 'export interface Leaf { readonly a: string }\nexport const leaf = 1;\n';

/** A rule, a file that breaks it, and what that file imports. */
const FILES = [
  ['rules-are-pure', 'modules/gate/rules/a.ts', 'db/leaf.ts'],
  ['rules-are-pure', 'modules/kernel/a.ts', 'platform/leaf.ts'],
  ['module-hosts', 'modules/hosts/use/a.ts', 'modules/settlement/use/leaf.ts'],
  ['module-gate', 'modules/gate/rules/a.ts', 'modules/licences/rules/leaf.ts'],
  ['layer-db', 'db/a.ts', 'platform/leaf.ts'],
  ['layer-platform', 'platform/a.ts', 'db/leaf.ts'],
  ['layer-store', 'modules/gate/store/a.ts', 'modules/gate/use/leaf.ts'],
  ['layer-use', 'modules/gate/use/a.ts', 'api/leaf.ts'],
  ['layer-api', 'api/a.ts', 'db/leaf.ts'],
  ['layer-api', 'api/a.ts', 'modules/gate/store/leaf.ts'],
  ['layer-api', 'api/a.ts', 'graphql/leaf.ts'],
  ['layer-graphql', 'graphql/a.ts', 'activities/leaf.ts'],
  ['layer-activities', 'activities/a.ts', 'api/leaf.ts'],
  ['layer-workflows', 'workflows/a.ts', 'modules/gate/use/leaf.ts'],
  ['layer-examples', 'examples/a.ts', 'modules/kernel/leaf.ts'],
  ['entity-manager', 'modules/settlement/store/a.ts', 'db/orm.ts'],
  ['entry-points-are-not-imported', 'modules/gate/use/a.ts', 'bin/leaf.ts'],
] as const;
const PACKAGES = [
  ['rules-are-pure', 'modules/gate/rules/a.ts', 'node:crypto'],
  ['rules-are-pure', 'modules/kernel/a.ts', 'zod'],
  ['workflows-builtins', 'workflows/a.ts', 'node:fs'],
  ['workflows-packages', 'workflows/a.ts', 'zod'],
  ['package-storage', 'api/a.ts', 'pg'],
  ['package-entities', 'modules/settlement/store/a.ts', '@mikro-orm/postgresql'],
  ['package-rest', 'modules/gate/use/a.ts', 'express'],
] as const;

/** The way from a file up to the root. */
function up(from: string): string {
  return '../'.repeat(from.split('/').length - 1);
}

/** `from`, under a name of its own for what it imports and how. */
function named(from: string, how: string, to: string): string {
  return from.replace(/a\.ts$/, `${how}-${to.replace(/\W+/g, '-')}.ts`);
}

/** All of them in one tree, looked at once: which rules which file breaks. */
let breaches: Promise<readonly Breach[]> | null = null;
async function brokenBy(file: string): Promise<string[]> {
  breaches ??= breachesOf({
    ...Object.fromEntries(
      FILES.flatMap(([, from, to]) => [
        [to, LEAF],
        [named(from, 'value', to), `import { leaf } from '${up(from)}${to}';\nexport const a = leaf;`],
        [named(from, 'type', to), `import type { Leaf } from '${up(from)}${to}';\nexport type A = Leaf;`],
      ]),
    ),
    ...Object.fromEntries(
      PACKAGES.map(([, from, name]) => [named(from, 'package', name), `import * as it from '${name}';\nexport const a = it;`]),
    ),
  });
  return (await breaches).filter(({ from }) => from === file).map(({ rule }) => rule);
}

test.each(FILES)('%s: %s may not import %s, not even its types', async (rule, from, to) => {
  expect(await brokenBy(named(from, 'value', to))).toContain(rule);
  expect(await brokenBy(named(from, 'type', to))).toContain(rule);
});

test.each(PACKAGES)('%s: %s may not import %s', async (rule, from, name) => {
  expect(await brokenBy(named(from, 'package', name))).toContain(rule);
});

test('an orphan and an import that leads nowhere are errors', async () => {
  expect(await brokenRules({ 'modules/kernel/a.ts': 'export const a = 1;' })).toEqual(['no-orphans']);
  expect(await brokenRules({ 'bin/a.ts': "import '../modules/nowhere.ts';" })).toContain('resolvable');
});

test('the imports the layers are made for break no rule', async () => {
  const broken = await brokenRules({
    'modules/kernel/leaf.ts': LEAF,
    'db/database.ts': "import pg from 'pg';\nexport const database = pg;",
    'modules/quotes/store/rows.ts':
      "import { leaf } from '../../kernel/leaf.ts';\nimport { database } from '../../../db/database.ts';\nexport const rows = [leaf, database];",
    'modules/quotes/use/quotes.ts': "import { rows } from '../store/rows.ts';\nexport const quotes = rows;",
    'api/app.ts':
      "import express from 'express';\nimport { quotes } from '../modules/quotes/use/quotes.ts';\nexport const app = [express, quotes];",
    'activities/act.ts': "import { quotes } from '../modules/quotes/use/quotes.ts';\nexport const act = () => quotes;",
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

test('a workflow bundle may hold the SDK and rules, and neither another package nor a node: module', async () => {
  const bundle = (name: string): Promise<string[]> => findForbiddenModules(join(ROOT, 'test/repo/bundles', name));
  expect(await bundle('clean.ts')).toEqual([]);
  expect(await bundle('with-package.ts')).toEqual(['the package zod']);
  expect((await bundle('with-builtin.ts')).join('\n')).toContain('node:fs');
});
