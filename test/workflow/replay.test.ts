import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { parseHistory } from '../support/histories.ts';

const FOLDER = new URL('../histories/', import.meta.url);
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
let workflowBundle: { code: string };
let tracedBundle: { code: string };
const tracing = createRequire(import.meta.url).resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors');

beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
  tracedBundle = await bundleWorkflowCode({ workflowsPath, logger, workflowInterceptorModules: [tracing] });
});

test('there is a recorded history of every workflow', () => {
  const index = readFileSync(new URL('../../workflows/index.ts', import.meta.url), 'utf8');
  const names = [...index.matchAll(/export \{ (\w+) \}/g)].map((match) => match[1] as string);
  expect(names.length).toBeGreaterThan(4);
  expect(names.filter((name) => !files.some((file) => file.startsWith(name)))).toEqual([]);
});

test.each(files)('%s replays with the code of today', async (file) => {
  const history = parseHistory(readFileSync(new URL(file, FOLDER), 'utf8'));
  await Worker.runReplayHistory({ workflowBundle }, history, file);
});

test.each(files)('%s, recorded without traces, replays on a worker that keeps them', async (file) => {
  const history = parseHistory(readFileSync(new URL(file, FOLDER), 'utf8'));
  const interceptors = { workflowModules: [tracing] };
  const options = { workflowBundle: tracedBundle, interceptors };
  await Worker.runReplayHistory(options, history, file);
});
