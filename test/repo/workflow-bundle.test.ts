import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorkflowBundle } from '../../process/workflowBundle.ts';

/** Inside the checkout, so that its packages are found from there. */
const TEST_FOLDER = fileURLToPath(new URL('../../.test/', import.meta.url));
let root = '';

beforeAll(() => {
  mkdirSync(TEST_FOLDER, { recursive: true });
  root = mkdtempSync(join(TEST_FOLDER, 'bundle-'));
  for (const name of ['workflows', 'modules/kernel']) mkdirSync(join(root, name), { recursive: true });
  writeWorkflow('first');
  writeFileSync(join(root, 'modules/kernel', 'answer.ts'), "export const answer = 'answer-1';\n");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function writeWorkflow(text: string): void {
  const code = `import { answer } from '../modules/kernel/answer.ts';\nexport async function one() { return answer + '${text}'; }\n`;
  writeFileSync(join(root, 'workflows', 'index.ts'), code);
}

async function open(traced = false, folder = join(root, 'kept')): Promise<{ path: string | null; code: string }> {
  const bundle = await openWorkflowBundle(traced, { root, folder });
  if ('code' in bundle) return { path: null, code: bundle.code };
  return { path: bundle.codePath, code: readFileSync(bundle.codePath, 'utf8') };
}

test('workflows are bundled once: the second time the kept bundle is taken as it lies', async () => {
  const first = await open();
  expect(first.code).toContain('first');
  appendFileSync(first.path as string, '\n// as it lies');
  const second = await open();
  expect(second.path).toBe(first.path);
  expect(second.code).toMatch(/as it lies$/);
});

test('a changed workflow, or a changed rule that it imports, makes a new bundle; the former text brings back the former', async () => {
  const first = await open();
  writeWorkflow('second');
  const second = await open();
  expect(second.code).toContain('second');
  writeFileSync(join(root, 'modules/kernel', 'answer.ts'), "export const answer = 'answer-2';\n");
  const third = await open();
  expect(third.code).toContain('answer-2');
  expect(new Set([first.path, second.path, third.path]).size).toBe(3);
  writeWorkflow('first');
  writeFileSync(join(root, 'modules/kernel', 'answer.ts'), "export const answer = 'answer-1';\n");
  expect((await open()).path).toBe(first.path);
});

test('with traces it is another bundle, which holds the interceptors', async () => {
  const plain = await open();
  const traced = await open(true);
  expect(traced.path).not.toBe(plain.path);
  expect([plain, traced].map(({ code }) => code.includes('OpenTelemetryInboundInterceptor'))).toEqual([false, true]);
});

test('where nothing can be kept, the workflows are bundled for the process', async () => {
  const file = join(root, 'a-file');
  writeFileSync(file, '');
  const { path, code } = await open(false, join(file, 'below'));
  expect(path).toBeNull();
  expect(code).toContain('first');
});
