/**
 * Workflow histories as JSON files: protobuf's own object form (enums and 64-bit numbers as text, bytes as base64). The SDK's
 * historyToJSON wants one copy of protobufjs for all of its packages, which an installation need not have.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';

/** A history as the client fetches it and the replayer takes it. */
export type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

interface Codec {
  toObject(history: History, options: Readonly<Record<string, unknown>>): object;
  fromObject(object: unknown): History;
}

/** The message class, from the copy the SDK itself uses. */
function codec(): Codec {
  const fromCommon = createRequire(createRequire(import.meta.url).resolve('@temporalio/common'));
  const root = fromCommon('@temporalio/proto') as { temporal: { api: { history: { v1: { History: Codec } } } } };
  return root.temporal.api.history.v1.History;
}

function historyText(history: History): string {
  const { fromObject, toObject } = codec();
  return `${JSON.stringify(toObject(fromObject(history), { enums: String, longs: String, bytes: String }), null, 2)}\n`;
}

/** The history of a file's text. */
export function parseHistory(text: string): History {
  return codec().fromObject(JSON.parse(text));
}

const FOLDER = fileURLToPath(new URL('../histories/', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Keeps the history of a workflow as `test/histories/<name>.json`, where replay tests find it; only in a run that was asked to
 * record (`RECORD_HISTORIES=1`). `name` is the workflow id unless told.
 */
export async function saveHistory(client: Client, workflowId: string, name = workflowId, runId?: string): Promise<void> {
  if (process.env['RECORD_HISTORIES'] !== '1') return;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  mkdirSync(FOLDER, { recursive: true });
  // A failure's stack names files, and where this clone lies concerns nobody.
  writeFileSync(`${FOLDER}${name}.json`, historyText(history).replaceAll(ROOT, ''));
}
