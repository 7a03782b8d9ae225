import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsoleFiles } from '../../api/console/assets.ts';
import { packModules } from '../../api/console/pack.ts';
import { readConsole } from '../../process/api/console.ts';

/** All that a browser ever loads of the console, as it goes over the wire. */
const MOST_BYTES = 100 * 1_024;
const SERVED = readConsole();
const folder = mkdtempSync(join(tmpdir(), 'console-'));
const url = pathToFileURL(`${folder}/`);
const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
};
const PAGE =
  '<!doctype html><html><head><link rel="stylesheet" href="a.css"><script type="module" src="app.ts"></script></head></html>';
const open = () => openConsoleFiles({ folder: url, packages: {} });
beforeAll(() =>
  write({
    'index.html': PAGE,
    'a.css': 'p{}',
    'app.ts': "import { b } from './b.ts';\nb();\n",
    'b.ts': 'export const b = (n: number = 1) => n;\n',
  }),
);
afterAll(() => rmSync(folder, { recursive: true }));

test('everything of the console together is at most 100 KB on the wire', async () => {
  const bodies = [SERVED.page, ...SERVED.assets.values()];
  const sent = await Promise.all(bodies.map((body) => body.encoded('gzip, deflate, br')));
  expect(sent.every(({ coding }) => coding === 'br')).toBe(true);
  expect(sent.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(MOST_BYTES);
});

test('each file is named by its bytes, and what the page’s module imports is one file without types', async () => {
  const { page, assets } = open();
  const html = page.bytes.toString();
  for (const [path, { bytes }] of assets) {
    expect(path).toContain(`.${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.`);
    expect(bytes.toString()).not.toContain(': number');
  }
  const [module, ...others] = [...assets.keys()].filter((path) => path.endsWith('.js'));
  expect([others, html]).toEqual([[], expect.stringContaining(`src="${module}"`)]);
  expect(html).toContain(`<link rel="modulepreload" href="${module}">`);
  expect(html.indexOf('importmap')).toBeLessThan(html.indexOf('modulepreload'));
});

const FORMS = {
  'all.ts':
    "import * as one from './in/one.ts';\nimport { two as deux, Two } from './in/two.ts';\nimport { sep } from 'node:path';\nimport type { T } from './in/one.ts';\nexport const seen: T = [one.ONE, deux(), new Two().name, sep.length === 1, one.SNIPPET];\n",
  'in/one.ts':
    "export type T = unknown[];\nexport const ONE = 1, OTHER = 2;\nexport const SNIPPET = `\nimport { gate } from 'package';\nexport const config = {};\n`;\n",
  'in/two.ts':
    "import { ONE } from './one.ts';\nfunction two() { return ONE + 1; }\nexport { two };\nexport class Two { name = 'two'; }\nexport async function three() {}\n",
};
const javascript = (name: string): string | null => {
  const text = FORMS[name as keyof typeof FORMS];
  return text === undefined ? null : stripTypeScriptTypes(text, { mode: 'transform' });
};

test('modules in one file do what they do apart, and lines of code that are shown stay as they are', async () => {
  const { text } = packModules('all.ts', (name) =>
    name === 'all.ts' ? `${javascript(name)}globalThis.packed = seen;` : javascript(name),
  );
  await import(`data:text/javascript,${encodeURIComponent(text)}`);
  const snippet = "\nimport { gate } from 'package';\nexport const config = {};\n";
  expect((globalThis as { packed?: unknown }).packed).toEqual([1, 2, 'two', true, snippet]);
});

test.each([
  ["import { gone } from './b.ts';", 'console/a.ts imports gone, which ./b.ts does not export'],
  ["import { b } from './gone.ts';", 'console/a.ts imports gone.ts, which is not there'],
  ["import { a } from './circle.ts';", 'console/circle.ts imports a.ts, which is in a circle'],
  ["const b = () => import('./b.ts');", "console/a.ts imports when it runs, and no file is served for that: import('./b.ts');"],
  ['export default 1;', 'console/a.ts exports in a way that is not known: export default 1;'],
  ['export let n = 1;', 'console/a.ts exports in a way that is not known: export let n = 1;'],
])('%s is refused at the start', (text, message) => {
  const files: Readonly<Record<string, string>> = {
    'a.ts': text,
    'b.ts': 'export const b = 1;',
    'circle.ts': "import { x } from './a.ts';",
  };
  expect(() => packModules('a.ts', (name) => files[name] ?? null)).toThrow(message);
});

test('a package that nothing imports is not served', () => {
  const file = new URL('b.ts', url);
  const named = (text: string): boolean => {
    write({ 'app.ts': text });
    const { assets } = openConsoleFiles({ folder: url, packages: { charts: file } });
    return [...assets.keys()].some((path) => path.includes('/charts.'));
  };
  expect([named("import { b } from './b.ts';\nb();\n"), named("import { b } from 'charts';\nb();\n")]).toEqual([false, true]);
  write({ 'app.ts': "import { b } from './b.ts';\nb();\n" });
});

test('a changed file has another name, and the page another text; the same files have the same', () => {
  const [before, again] = [open(), open()];
  expect([again.policy, ...again.assets.keys()]).toEqual([before.policy, ...before.assets.keys()]);
  write({ 'b.ts': 'export const b = (n: number = 2) => n;\n' });
  const after = open();
  expect([...after.assets.keys()].filter((path) => !before.assets.has(path))).toHaveLength(1);
  expect(after.page.bytes.equals(before.page.bytes)).toBe(false);
});

test('a page that names a file that is not there is refused at the start, not when somebody opens it', () => {
  write({ 'index.html': PAGE.replace('a.css', 'gone.css') });
  expect(open).toThrow('console/index.html names gone.css, which is not there');
  write({ 'index.html': PAGE });
});

test('a file is sent in a coding that was asked for, and as it is to whoever takes none', async () => {
  const { page } = open();
  const of = async (accepted: string) => (await page.encoded(accepted)).coding;
  const codings = ['br', 'gzip, br;q=0.5', 'gzip', 'br;q=0, gzip', 'identity', '', 'br;q=0'];
  expect(await Promise.all(codings.map(of))).toEqual(['br', 'br', 'gzip', 'gzip', null, null, null]);
  expect(brotliDecompressSync((await page.encoded('br')).bytes)).toEqual(page.bytes);
  expect(gunzipSync((await page.encoded('gzip')).bytes)).toEqual(page.bytes);
});
