import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { listPaths } from '../../tools/check/sources.ts';
import { ROOT } from '../../tools/check/tool.ts';
import type { Files } from '../support/layers.ts';
import { brokenRules, layOut } from '../support/layers.ts';

const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
const recipe = text.slice(text.indexOf('### To add something'), text.indexOf('## Life of a payment'));

/** The places that the recipe names in the row of what is added, in its order. */
function placesOf(toAdd: string): string[] {
  const row = recipe.split('\n').find((line) => line.startsWith(`| ${toAdd} |`)) ?? '';
  return [...row.matchAll(/`([a-zA-Z]+\/[^`]*)`/g)].map(([, place = '']) => place);
}

/** A place of the recipe for one concept, whose files have its name; a folder gets a file. */
function placeOf(toAdd: string, index: number, concept = 'season'): string {
  const place = placesOf(toAdd)[index];
  if (place === undefined) throw new Error(`the recipe names no place ${index} for “${toAdd}”`);
  const filled = place
    .replace('<concept>', concept)
    .replace(/<(rule|name|area)>/, concept)
    .replace('…', concept);
  return filled.endsWith('/') ? `${filled}${concept}.ts` : filled;
}

/** A concept as the recipe adds it: what agents pay by the season, from its rule to its workflow. */
function addSeason(places: { readonly table: string; readonly service: string }): Files {
  const { table, service } = places;
  const rule = placeOf('A rule', 0);
  const [schema, route, app, example] = [0, 1, 2, 3].map((index) => placeOf('A REST endpoint', index)) as [
    string,
    string,
    string,
    string,
  ];
  const seen = placeOf('Something owners see', 0);
  const [change, mutation, screen] = [0, 1, 2].map((index) => placeOf('Something owners change', index)) as [
    string,
    string,
    string,
  ];
  const [workflow, activity] = [0, 1].map((index) => placeOf('What lasts longer than a request', index)) as [string, string];
  const files: Record<string, string> = {};
  const add = (path: string, imports: Readonly<Record<string, string>>, code: string): void => {
    const from = (target: string): string => relative(dirname(path), target).replace(/^(?!\.)/, './');
    const lines = Object.entries(imports).map(([names, target]) => `import ${names} from '${from(target)}';`);
    files[path] = [...lines, code, ''].join('\n');
  };
  const season = { 'type { Season }': rule };
  add(
    rule,
    {},
    'export interface Season { readonly endsMs: number }\nexport const isOver = (one: Season, nowMs: number): boolean => nowMs >= one.endsMs;',
  );
  add(table, season, 'export const readSeason = async (): Promise<Season> => ({ endsMs: 1 });');
  add(
    service,
    { '{ isOver }': rule, '{ readSeason }': table },
    'export const closeSeason = async (nowMs: number) => isOver(await readSeason(), nowMs);',
  );
  add(schema, season, 'export const parseSeason = (endsMs: number): Season => ({ endsMs });');
  add(example, { '{ parseSeason }': schema }, 'export const SEASON = parseSeason(2);');
  add(
    route,
    { '{ closeSeason }': service, '{ SEASON }': example },
    'export const seasonRoute = { handle: closeSeason, example: SEASON };',
  );
  add(app, { '{ seasonRoute }': route }, 'export const ROUTES = [seasonRoute];');
  add(seen, { '{ closeSeason }': service }, 'export const SeasonType = { isOver: closeSeason };');
  add(change, { '{ readSeason }': table }, 'export const changeSeason = () => readSeason();');
  add(mutation, { '{ changeSeason }': change, '{ SeasonType }': seen }, 'export const mutation = { changeSeason, SeasonType };');
  add(activity, { '{ closeSeason }': service }, 'export interface SeasonActivities { readonly close: typeof closeSeason }');
  add(
    workflow,
    { 'type { SeasonActivities }': activity },
    'export const endSeason = (steps: SeasonActivities) => steps.close(1);',
  );
  add(screen, {}, "export const title = 'Season';");
  add('console/app.ts', { '{ title }': screen }, 'export const screens = [title];');
  add(
    'bin/api.ts',
    { '{ ROUTES }': app, '{ mutation }': mutation, '{ endSeason }': workflow },
    'export const all = [ROUTES, mutation, endSeason];',
  );
  return files;
}

const AS_WRITTEN = { table: placeOf('A table or a column', 2), service: 'services/season/season.ts' };

test('a concept that is added as the recipe says breaks no rule of the layers', async () => {
  expect(recipe).toContain('`services/<concept>/`');
  expect(await brokenRules(addSeason(AS_WRITTEN))).toEqual([]);
});

test('a concept that is added as the recipe says has types that the compiler takes', () => {
  const files = addSeason(AS_WRITTEN);
  const strict = {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
    allowImportingTsExtensions: true,
    types: [],
  };
  const folder = layOut({ ...files, 'tsconfig.json': JSON.stringify({ compilerOptions: strict, files: Object.keys(files) }) });
  try {
    execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['its rows in a service', { ...AS_WRITTEN, table: 'services/season/rows.ts', service: 'db/season/season.ts' }, 'layer-db'],
  ['its service in an API', { ...AS_WRITTEN, service: 'api/season/service.ts' }, 'layer-graphql'],
])('a concept that keeps %s breaks one', async (_what, places, rule) => {
  expect(await brokenRules(addSeason(places))).toContain(rule);
});

test('budgets stand where the recipe puts a concept: rule, tables, service, endpoint, workflow', () => {
  const paths = listPaths();
  const starts = [
    dirname(placeOf('A rule', 0, 'budget')),
    dirname(placeOf('A table or a column', 2, 'budget')),
    'services/budget',
    placeOf('A REST endpoint', 0, 'budget'),
  ];
  expect(starts.filter((start) => !paths.some((path) => path.startsWith(start)))).toEqual([]);
  const folders = /^(db\/migrations\/\d{4}_|api\/routes\/.*|activities\/|workflows\/\w*)budget/i;
  expect(paths.filter((path) => folders.test(path))).toHaveLength(4);
});
