/** The rule of `tools/check/literal-spreads.grit`: a literal is not spread where its entries could stand by themselves. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT, runTool } from '../../tools/check/tool.ts';

const RULE = './tools/check/literal-spreads.grit';

/** What the rule says of a line of code; null: nothing. */
async function judge(code: string): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'literal-spreads-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const settings = { root: true, plugins: [join(ROOT, RULE)], linter: { rules: { preset: 'none' } } };
  writeFileSync(join(folder, 'biome.json'), JSON.stringify(settings));
  writeFileSync(join(folder, 'one.ts'), `${code}\n`);
  return await runTool('@biomejs/biome', 'biome', ['lint', `--config-path=${folder}`, join(folder, 'one.ts')]);
}

test('the check loads the rule', () => {
  expect(JSON.parse(readFileSync(`${ROOT}biome.json`, 'utf8')).plugins).toContain(RULE);
});

test.each([
  'export const row = { ...{ host: 1, slug: 2 }, kind: 3 };',
  "export const names = [...['host', 'slug'], 'kind'];",
  'export const most = Math.max(...[1, 2], 3);',
  'export const none = { ...{}, kind: 3 };',
])('refuses %s', async (code) => {
  expect(await judge(code)).toContain('A literal is spread where its entries could stand by themselves');
});

test.each([
  'export const row = (isLive: boolean) => ({ kind: 3, ...(isLive ? { host: 1 } : {}) });',
  'export const names = [...[1, 2].map(String), 3];',
  "export const kinds = [...(['read', 'citation'] as const)];",
  'export const both = (one: object, other: object) => ({ ...one, ...other });',
])('lets %s stand', async (code) => {
  expect(await judge(code)).toBeNull();
});
