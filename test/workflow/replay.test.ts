import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { openWorkflowBundle } from '../../process/workflowBundle.ts';
import { parseHistory } from '../support/histories.ts';

const FOLDER = new URL('../histories/', import.meta.url);
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
const tracing = createRequire(import.meta.url).resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors');

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
});

/** What became of each history, by its file; null where it went as it is recorded. One worker replays them all. */
type Replays = ReadonlyMap<string, Error | null>;

async function replayAll(isTraced: boolean): Promise<Replays> {
  const workflowBundle = await openWorkflowBundle(isTraced);
  const interceptors = isTraced ? { workflowModules: [tracing] } : {};
  const histories = files.map((file) => ({
    workflowId: file,
    history: parseHistory(readFileSync(new URL(file, FOLDER), 'utf8')),
  }));
  const replays = new Map<string, Error | null>();
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle, interceptors }, histories))
    replays.set(workflowId, error ?? null);
  return replays;
}

const made = new Map<boolean, Promise<Replays>>();
function replays(isTraced: boolean): Promise<Replays> {
  const all = made.get(isTraced) ?? replayAll(isTraced);
  made.set(isTraced, all);
  return all;
}

test('there is a recorded history of every workflow', () => {
  const index = readFileSync(new URL('../../workflows/index.ts', import.meta.url), 'utf8');
  const names = [...index.matchAll(/export \{ (\w+) \}/g)].map((match) => match[1] as string);
  expect(names.length).toBeGreaterThan(4);
  expect(names.filter((name) => !files.some((file) => file.startsWith(name)))).toEqual([]);
});

test.each(files)('%s replays with the code of today', async (file) => {
  expect((await replays(false)).get(file)).toBeNull();
});

test.each(files)('%s, recorded without traces, replays on a worker that keeps them', async (file) => {
  expect((await replays(true)).get(file)).toBeNull();
});
