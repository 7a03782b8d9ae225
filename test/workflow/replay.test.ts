import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { parseHistory } from '../support/histories.ts';

const FOLDER = new URL('../histories/', import.meta.url);
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
let workflowBundle: { code: string };

beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
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
