import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsoleFiles } from '../../api/console/assets.ts';
import { readConsole } from '../../bin/api/console.ts';

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

test('each file is named by its bytes, holds no type and is found by the import map; the first screen’s modules are told ahead', () => {
  const { page, assets } = open();
  const html = page.bytes.toString();
  const { imports } = JSON.parse(/<script type="importmap">(.*?)<\/script>/.exec(html)?.[1] ?? '{}');
  for (const [path, { bytes }] of assets) {
    expect(path).toContain(`.${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.`);
    expect(bytes.toString()).not.toContain(': number');
  }
  const [app, b] = ['app.ts', 'b.ts'].map((name) => imports[`/_svc/console/assets/${name}`]);
  expect([assets.has(app), assets.has(b)]).toEqual([true, true]);
  for (const path of [app, b]) expect(html).toContain(`<link rel="modulepreload" href="${path}">`);
  expect(html).toContain(`src="${app}"`);
  expect(html.indexOf('importmap')).toBeLessThan(html.indexOf('modulepreload'));
});

test('a package that nothing imports is not served', () => {
  const file = new URL('b.ts', url);
  const named = (text: string): boolean => {
    write({ 'app.ts': text });
    const { assets } = openConsoleFiles({ folder: url, packages: { charts: { file } } });
    return [...assets.keys()].some((path) => path.includes('/charts.'));
  };
  expect([named("import { b } from './b.ts';\nb();\n"), named("import { b } from 'charts';\nb();\n")]).toEqual([false, true]);
  write({ 'app.ts': "import { b } from './b.ts';\nb();\n" });
});

test('a changed file has another name, and so has the page’s policy; the same files have the same', () => {
  const [before, again] = [open(), open()];
  expect([again.policy, ...again.assets.keys()]).toEqual([before.policy, ...before.assets.keys()]);
  write({ 'b.ts': 'export const b = (n: number = 2) => n;\n' });
  const after = open();
  expect([...after.assets.keys()].filter((path) => !before.assets.has(path))).toHaveLength(1);
  expect(after.policy).not.toBe(before.policy);
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
