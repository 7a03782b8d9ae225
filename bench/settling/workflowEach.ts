/** Payments through the reference that runs one workflow each. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { Parts } from '../harness/cpu.ts';
import type { BenchService } from '../harness/service.ts';
import type { SignedTransfer } from './buyers.ts';
import { encodeTransfer } from './buyers.ts';
import type { WorkerInput } from './workflowWorker.ts';

/** A running reference; `settle` resolves when the payment's workflow has ended. */
export interface WorkflowEach {
  /** Its worker, and the parts of the service that it shares. */
  readonly parts: Parts;
  settle(transfer: SignedTransfer): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the worker of the reference beside a service: same Temporal server and namespace, same Postgres, same chain, a key of its own. */
export async function startWorkflowEach(service: BenchService, relayerKey: `0x${string}`): Promise<WorkflowEach> {
  const taskQueue = `each-${randomUUID()}`;
  const { address, namespace } = service.temporal;
  const { rpcUrl, router } = service.chain;
  const input: WorkerInput = { address, namespace, taskQueue, databaseUrl: service.urls.ownerUrl, rpcUrl, router, relayerKey };
  const program = fileURLToPath(new URL('workflowWorker.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(input)], { stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(() => Promise.reject(new Error('the worker of the reference did not start'))),
  ]);
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const parts: Parts = { ...service.parts(), api: [], worker: [], reference: [child.pid as number] };
  return {
    parts,
    settle: async (transfer) => {
      const options = { taskQueue, workflowId: `each:${randomUUID()}`, args: [{ transfer: encodeTransfer(transfer) }] };
      await client.workflow.execute('settleOne', options);
    },
    stop: async () => {
      await connection.close();
      child.stdin.end();
      await exited;
    },
  };
}
